//! Controllers that fail: the instance fails with their name, and nothing is sent.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use serde_json::{Value, json};

use super::stage::{address, etcd, status_of, wait};
use crate::process::{Server, run, text};

const GROUP: &str = "shop/web/v1/prod";

/// A configuration with a controller at this address.
fn configuration(folder: &Path, controller: &str) -> String {
    let file = folder.join("kindsight.toml");
    let table = format!(
        "[[controller]]\nname = \"near\"\ntype = \"placement\"\naddress = \"{controller}\"\ntimeout = \"1s\"\n"
    );
    fs::write(&file, table).unwrap();
    file.display().to_string()
}

#[test]
fn a_controller_that_hangs_or_is_away_fails_the_instance_before_anything_is_sent() {
    let Some(etcd) = etcd() else { return };
    let folder = tempfile::tempdir().unwrap();
    let cluster = folder.path().join("edge01");
    fs::create_dir(&cluster).unwrap();
    // It accepts connections, and never answers.
    let hanging = TcpListener::bind("127.0.0.1:0").unwrap();
    let away = TcpListener::bind("127.0.0.1:0").unwrap();
    let addresses =
        [&hanging, &away].map(|listener| format!("http://{}", listener.local_addr().unwrap()));
    drop(away);
    for (name, controller) in ["hanging", "away"].iter().zip(&addresses) {
        let config = configuration(folder.path(), controller);
        let store = address(&etcd);
        let clusters = [format!("lab+edge01={}", cluster.display())];
        let arguments = ["--config", &config, "--store", &store, "--lifecycle"];
        let server = Server::start_with(&folder.path().join("data"), &clusters, &arguments);
        let group = status_of(&GROUP.replace("prod", name)).replace("/status", "");
        let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
        let intent = json!({"apps": [{"name": "front", "clusters": ["lab+edge01"], "manifests": [manifest]}]});
        let (status, body) = server.put_json(&group, &intent.to_string());
        assert_eq!(status, 201, "{body:#}");
        for action in ["approve", "instantiate"] {
            let (status, body) = server.post(&format!("{group}/{action}"), "");
            assert_eq!(status, 202, "{body:#}");
        }
        let failed = |body: &Value| body["lifecycle"]["instance-status"] == "InstantiateFailed";
        let body = wait(&server, &group, failed);
        let reason = body["problems"].to_string();
        assert!(
            reason.contains("the placement controller `near` failed"),
            "{body:#}"
        );
        assert!(!cluster.join("manifests").exists(), "a resource was sent");
        assert!(server.stop());
    }
}

#[test]
fn controllers_need_the_etcd_that_they_change() {
    let folder = tempfile::tempdir().unwrap();
    let config = configuration(folder.path(), "http://127.0.0.1:1");
    let data = folder.path().join("data").display().to_string();
    let arguments = [
        "serve",
        "--config",
        &config,
        "--data-dir",
        &data,
        "--lifecycle",
    ];
    let output = run(&arguments, "");
    assert!(!output.status.success());
    let error = text(&output.stderr);
    assert!(error.contains("etcd://"), "{error}");
}
