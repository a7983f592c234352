//! Network intents of a cluster.

use std::fs;

use base64::Engine as _;
use serde_json::{Value, json};

use super::{Stage, is_empty, wait_until};
use crate::process::Server;

const CLUSTER: &str = "lab+edge01";
const INTENTS: &str = "/v2/cluster-providers/lab/clusters/edge01/network-intents";
const STATUS: &str = "/v2/cluster-providers/lab/clusters/edge01/status?type=cluster";

/// A stage whose configuration gives no project a right in these clusters.
fn stage() -> (Stage, Server) {
    let stage = Stage::new();
    let config = "[[project]]\nname = \"shop\"\nclusters = [\"other+*\"]\n";
    fs::write(stage.path("kindsight.toml"), config).unwrap();
    let cluster = format!("{CLUSTER}={}", stage.path("edge01").display());
    let config = format!("--config={}", stage.path("kindsight.toml").display());
    let server = Server::start_with(&stage.path("data"), &[cluster], &["--lifecycle", &config]);
    (stage, server)
}

fn write_networks(stage: &Stage, names: &[&str]) {
    let network = |name: &&str| {
        format!(
            "---\napiVersion: k8s.plugin.opnfv.org/v1alpha1\nkind: Network\nmetadata: {{name: {name}}}\nspec: {{cniType: ovn4nfv}}\n"
        )
    };
    let networks: String = names.iter().map(network).collect();
    fs::write(stage.path("networks.yaml"), networks).unwrap();
}

/// Reports the sent networks as existing objects, as the monitor of the cluster would.
fn report(stage: &Stage) {
    let manifests = stage.manifests("edge01");
    let label = &manifests[0]["metadata"]["labels"]["emco/deployment-id"];
    let entries = manifests.iter().map(|manifest| {
        let mut network = manifest.clone();
        network["status"] = json!({"state": "Created"});
        let encoded = base64::engine::general_purpose::STANDARD.encode(network.to_string());
        json!({"group": "k8s.plugin.opnfv.org", "version": "v1alpha1", "kind": "Network",
            "name": network["metadata"]["name"], "res": encoded})
    });
    let bundle = json!({
        "apiVersion": "k8splugin.io/v1alpha1",
        "kind": "ResourceBundleState",
        "metadata": {"name": label, "labels": {"emco/deployment-id": label}},
        "status": {"resourceStatuses": entries.collect::<Vec<Value>>()},
    });
    fs::write(
        stage.path("edge01").join("networks.json"),
        bundle.to_string(),
    )
    .unwrap();
}

fn names(stage: &Stage) -> Vec<String> {
    let manifests = stage.manifests("edge01").into_iter();
    let name = |object: Value| object["metadata"]["name"].as_str().unwrap().to_owned();
    let mut names: Vec<String> = manifests.map(name).collect();
    names.sort();
    names
}

#[test]
fn network_intents_are_applied_changed_queried_and_removed() {
    let (stage, server) = stage();
    write_networks(&stage, &["one", "two"]);
    let apply = ["apply", "-f", "networks.yaml", "--cluster", CLUSTER];
    let shown = stage.succeed(&server, &[&apply[..], &["--dry-run"]].concat());
    let line =
        |change: &str, name: &str| format!("{change}: network-intents {CLUSTER} Network/{name}\n");
    assert_eq!(shown, line("create", "one") + &line("create", "two"));
    assert_eq!(server.get(INTENTS).0, 404, "a dry run stores nothing");
    let applied = stage.succeed(&server, &[&apply[..], &["--wait"]].concat());
    assert_eq!(
        applied,
        format!("{CLUSTER}: Applied, instance Instantiated\n")
    );
    assert_eq!(names(&stage), ["one", "two"]);
    report(&stage);
    wait_until("the query does not show the networks", || {
        let answer = server.get(STATUS).1;
        answer["ready-status"] == "Ready" || answer["cluster-status"] == json!({"Ready": 2})
    });
    let (code, _, errors) = stage.run(&server, &["delete", "--cluster", CLUSTER]);
    assert_eq!(code, Some(1));
    assert!(
        errors.contains("expected: one of `apply`, `terminate`"),
        "{errors}"
    );

    write_networks(&stage, &["one", "three"]);
    let shown = stage.succeed(&server, &[&apply[..], &["--dry-run"]].concat());
    let lines = [("unchanged", "one"), ("create", "three"), ("delete", "two")];
    assert_eq!(
        shown,
        lines.map(|(change, name)| line(change, name)).concat()
    );
    stage.succeed(&server, &[&apply[..], &["--wait"]].concat());
    assert_eq!(names(&stage), ["one", "three"]);

    let terminate = ["terminate", "--cluster", CLUSTER, "--wait"];
    let removed = stage.succeed(&server, &terminate);
    assert_eq!(
        removed,
        format!("{CLUSTER}: Terminated, instance Terminated\n")
    );
    assert!(is_empty(&stage.path("edge01").join("manifests")));
    // Without a file, the stored network intents are sent.
    stage.succeed(&server, &["apply", "--cluster", CLUSTER, "--wait"]);
    assert_eq!(names(&stage), ["one", "three"]);
    let actions = server.get(INTENTS).1["actions"].clone();
    let states = actions.as_array().unwrap().iter();
    let states: Vec<&Value> = states.map(|state| &state["state"]).collect();
    assert_eq!(
        states,
        ["Created", "Applied", "Applied", "Terminated", "Applied"]
    );
    stage.succeed(&server, &terminate);
    let deleted = stage.succeed(&server, &["delete", "--cluster", CLUSTER]);
    assert_eq!(deleted, format!("{CLUSTER}: deleted\n"));
    assert_eq!(server.get(INTENTS).0, 404);
}

#[test]
fn an_invalid_request_about_network_intents_names_its_mistake() {
    let (stage, server) = stage();
    let map = json!({"manifests": ["apiVersion: v1\nkind: ConfigMap\nmetadata: {name: map}\n"]});
    let (status, refused) = server.put_json(INTENTS, &map.to_string());
    assert_eq!(status, 400, "{refused}");
    assert_eq!(refused["problems"][0]["parameter"], "manifests[0]");
    let (status, refused) = server.post(&format!("{INTENTS}/apply"), "");
    assert_eq!(status, 404, "{refused}");
    let detail = "the cluster lab+edge01 has no network intents";
    assert_eq!(refused["detail"], detail);
    let (code, _, errors) = stage.run(&server, &["terminate", "shop", "--cluster", CLUSTER]);
    assert_eq!(code, Some(2), "{errors}");
    // Nothing can be sent to a cluster that is not configured.
    let other = INTENTS.replace("edge01", "other");
    write_networks(&stage, &["one"]);
    let apply = ["apply", "-f", "networks.yaml", "--cluster", "lab+other"];
    let (code, _, errors) = stage.run(&server, &apply);
    assert_eq!(code, Some(1));
    assert!(errors.contains("lab+other is not configured"), "{errors}");
    assert_eq!(server.get(&other).1["lifecycle"]["state"], "Created");
}
