//! Kubeconfig files.

use std::path::Path;

use serde_json::{Value, json};

use crate::authority::write;
use crate::client::Credentials;
use crate::cluster::Cluster;

/// Writes a kubeconfig file with a context for each triple of context name, cluster and
/// credentials. The first context is the current one. Certificates are written beside the file.
///
/// # Panics
/// If there is no context, or a file cannot be written.
pub fn write_kubeconfig(file: &Path, contexts: &[(&str, &Cluster, &Credentials)]) {
    let folder = file.parent().expect("a folder");
    let (mut clusters, mut users, mut entries) = (Vec::new(), Vec::new(), Vec::new());
    for (name, cluster, credentials) in contexts {
        let authority = format!("{name}.ca.crt");
        write(folder, &authority, cluster.authority().certificate());
        clusters.push(json!({
            "name": name,
            "cluster": {"server": cluster.url(), "certificate-authority": authority},
        }));
        users.push(json!({"name": name, "user": user(folder, name, credentials)}));
        entries.push(json!({"name": name, "context": {"cluster": name, "user": name}}));
    }
    let (first, ..) = contexts.first().expect("a context");
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": clusters,
        "users": users,
        "contexts": entries,
        "current-context": first,
    });
    // JSON is valid YAML.
    let name = file.file_name().expect("a file name").to_string_lossy();
    write(folder, &name, &format!("{config:#}\n"));
}

fn user(folder: &Path, name: &str, credentials: &Credentials) -> Value {
    match credentials {
        Credentials::Nobody => json!({}),
        Credentials::Token(token) => json!({"token": token}),
        Credentials::Certificate(identity) => {
            identity.write(folder, name);
            json!({
                "client-certificate": format!("{name}.crt"),
                "client-key": format!("{name}.key"),
            })
        }
    }
}
