//! The files and arguments of an API server.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::authority::{Authority, new_key, write};
use crate::build::hex;
use crate::etcd::Etcd;
use crate::options::Options;

/// Writes keys, certificates and tokens. Returns the administrator's token.
pub(crate) fn write_secrets(folder: &Path, authority: &Authority, options: &Options) -> String {
    write(folder, "ca.crt", authority.certificate());
    authority.server(None).write(folder, "server");
    let key = new_key();
    write(folder, "service-accounts.crt", &key.public_key_pem());
    write(folder, "service-accounts.key", &key.serialize_pem());
    // The token is derived from the key, so that no other user can know it.
    let token = hex(&Sha256::digest(key.serialized_der()));
    let mut tokens = format!("{token},admin,1,\"system:masters\"\n");
    for (number, user) in options.users.iter().enumerate() {
        let groups = user.groups.join(",");
        let line = format!("{},{},{},\"{groups}\"\n", user.token, user.name, number + 2);
        tokens.push_str(&line);
    }
    write(folder, "tokens.csv", &tokens);
    token
}

/// Returns the arguments of an API server that uses the files of [`write_secrets`].
pub(crate) fn arguments(etcd: &Etcd, options: &Options, folder: &Path, port: u16) -> Vec<String> {
    let file = |name: &str| folder.join(name).display().to_string();
    let pairs = [
        ("etcd-prefix", format!("/{}", options.name)),
        ("bind-address", "127.0.0.1".to_owned()),
        ("advertise-address", "127.0.0.1".to_owned()),
        ("secure-port", port.to_string()),
        // The Service `kubernetes` gets no endpoints, because a loopback address is not valid for
        // them.
        ("endpoint-reconciler-type", "none".to_owned()),
        ("service-cluster-ip-range", "10.0.0.0/24".to_owned()),
        ("cert-dir", folder.display().to_string()),
        ("tls-cert-file", file("server.crt")),
        ("tls-private-key-file", file("server.key")),
        ("client-ca-file", file("ca.crt")),
        ("token-auth-file", file("tokens.csv")),
        (
            "service-account-issuer",
            "https://kubernetes.default.svc".to_owned(),
        ),
        ("service-account-key-file", file("service-accounts.crt")),
        (
            "service-account-signing-key-file",
            file("service-accounts.key"),
        ),
        ("authorization-mode", "RBAC".to_owned()),
        ("disable-admission-plugins", "ServiceAccount".to_owned()),
    ];
    let pairs = pairs
        .into_iter()
        .map(|(name, value)| format!("--{name}={value}"));
    let pairs = pairs.chain(etcd.client_arguments());
    pairs.chain(options.arguments.iter().cloned()).collect()
}
