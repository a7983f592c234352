//! The check of the kubeconfig of a registered cluster.

use kube::config::{AuthInfo, Cluster, Kubeconfig};

use crate::kubernetes::kubeconfig::unreadable;

/// Parses a kubeconfig, and refuses a member that names a program or a file, in any of its users and clusters.
///
/// # Errors
/// The reason, without a part of the kubeconfig other than the names of its members.
pub(super) fn parse(text: &str) -> Result<Kubeconfig, String> {
    let kubeconfig = Kubeconfig::from_yaml(text).map_err(|error| unreadable(&error))?;
    let users = kubeconfig.auth_infos.iter();
    let of_users = users.filter_map(|user| of_user(user.auth_info.as_ref()?));
    let clusters = kubeconfig.clusters.iter();
    let of_clusters = clusters.filter_map(|cluster| of_cluster(cluster.cluster.as_ref()?));
    if let Some((member, instead)) = of_users.chain(of_clusters).next() {
        return Err(format!(
            "`{member}` is not allowed in the kubeconfig of a registered cluster; use {instead}"
        ));
    }
    Ok(kubeconfig)
}

/// The first member of a user that is refused, with the members to use instead.
fn of_user(user: &AuthInfo) -> Option<(&'static str, &'static str)> {
    // Every member is named, so that a new one is noticed here.
    let AuthInfo {
        username: _,
        password: _,
        token: _,
        token_file,
        client_certificate,
        client_certificate_data: _,
        client_key,
        client_key_data: _,
        impersonate: _,
        impersonate_uid: _,
        impersonate_groups: _,
        impersonate_user_extra: _,
        extensions: _,
        auth_provider,
        exec,
        ..
    } = user;
    let token = "`token` or `client-certificate-data`";
    let refused = [
        (exec.is_some(), "exec", token),
        (auth_provider.is_some(), "auth-provider", token),
        (token_file.is_some(), "tokenFile", "`token`"),
        (
            client_certificate.is_some(),
            "client-certificate",
            "`client-certificate-data`",
        ),
        (client_key.is_some(), "client-key", "`client-key-data`"),
    ];
    first(&refused)
}

/// As [`of_user`], for a cluster.
fn of_cluster(cluster: &Cluster) -> Option<(&'static str, &'static str)> {
    first(&[(
        cluster.certificate_authority.is_some(),
        "certificate-authority",
        "`certificate-authority-data`",
    )])
}

fn first(refused: &[(bool, &'static str, &'static str)]) -> Option<(&'static str, &'static str)> {
    let found = refused.iter().find(|(is_there, ..)| *is_there);
    found.map(|(_, member, instead)| (*member, *instead))
}
