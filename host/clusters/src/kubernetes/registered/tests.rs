//! Tests of registered kubeconfigs.

use std::fs;

use serde_json::{Value, json};

use super::*;

fn kubeconfig(user: &Value, cluster: &Value) -> String {
    let mut server = json!({"server": "https://127.0.0.1:1"});
    let members = cluster.as_object().unwrap().clone();
    server.as_object_mut().unwrap().extend(members);
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "a",
        "contexts": [{"name": "a", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": server}],
        "users": [{"name": "u", "user": {"token": "s3cret"}}, {"name": "unused", "user": user}],
    })
    .to_string()
}

async fn check(folder: &Path, file: &str) -> Result<(), String> {
    let place = RegisteredKubeconfig::File {
        folder: folder.to_owned(),
        name: file.parse().unwrap(),
    };
    let name = "p+edge".parse().unwrap();
    let cluster = KubernetesCluster::registered(name, place, None, WatchOptions::default());
    cluster.check().await
}

#[test]
fn a_bare_name_has_no_path() {
    let long = "x".repeat(NAME_BYTES_MAX + 1);
    for hostile in [
        "",
        ".",
        "..",
        "../a",
        "a/b",
        "/etc/passwd",
        "a\\b",
        ".hidden",
        "-a",
        "a\0",
        "a b",
        "ä",
        "a%2fb",
        &long,
    ] {
        assert!(hostile.parse::<BareName>().is_err(), "{hostile:?}");
    }
    for name in ["edge01", "edge01.yaml", "Edge_1-a"] {
        assert_eq!(name.parse::<BareName>().unwrap().as_str(), name);
    }
}

#[tokio::test]
async fn a_kubeconfig_that_names_a_program_or_a_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edge");
    fs::write(&path, kubeconfig(&json!({}), &json!({}))).unwrap();
    check(folder.path(), "edge").await.unwrap();
    let exec = json!({"apiVersion": "client.authentication.k8s.io/v1", "command": "touch", "args": ["/tmp/x"]});
    for (user, cluster, member) in [
        (json!({"exec": exec}), json!({}), "exec"),
        (
            json!({"auth-provider": {"name": "gcp", "config": {"cmd-path": "/bin/sh"}}}),
            json!({}),
            "auth-provider",
        ),
        (json!({"tokenFile": "/etc/shadow"}), json!({}), "tokenFile"),
        (
            json!({"client-certificate": "/etc/shadow"}),
            json!({}),
            "client-certificate",
        ),
        (
            json!({"client-key": "/etc/shadow"}),
            json!({}),
            "client-key",
        ),
        (
            json!({}),
            json!({"certificate-authority": "/etc/shadow"}),
            "certificate-authority",
        ),
    ] {
        fs::write(&path, kubeconfig(&user, &cluster)).unwrap();
        let error = check(folder.path(), "edge").await.unwrap_err();
        assert!(
            error.contains(&format!("`{member}` is not allowed")),
            "{error}"
        );
        assert!(
            !error.contains("shadow") && !error.contains("s3cret"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_file_that_is_no_kubeconfig_is_refused_without_its_content() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("text", "s3cret: [token");
    write("large", &"#".repeat(KUBECONFIG_BYTES_MAX + 1));
    write(
        "aliases",
        "a: &a [s3cret,s3cret]\nb: &b [*a,*a]\nc: [*b,*b]\n",
    );
    fs::create_dir(folder.path().join("folder")).unwrap();
    for name in ["text", "large", "aliases", "folder", "absent"] {
        let error = check(folder.path(), name).await.unwrap_err();
        assert!(!error.contains("s3cret"), "{name}: {error}");
        let path = folder.path().display().to_string();
        assert!(!error.contains(&path), "{name}: {error}");
    }
}

#[test]
fn a_changed_file_is_another_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edge");
    let cluster = || {
        let place = RegisteredKubeconfig::File {
            folder: folder.path().to_owned(),
            name: "edge".parse().unwrap(),
        };
        let name = "p+edge".parse().unwrap();
        KubernetesCluster::registered(name, place, None, WatchOptions::default())
    };
    let absent = cluster();
    fs::write(&path, kubeconfig(&json!({}), &json!({}))).unwrap();
    let first = cluster();
    assert_ne!(absent, first);
    assert_eq!(first, cluster());
    fs::write(
        &path,
        kubeconfig(&json!({}), &json!({"tls-server-name": "a"})),
    )
    .unwrap();
    assert_ne!(first, cluster());
}
