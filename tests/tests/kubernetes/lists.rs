//! Lists: streamed by servers with this feature, in pages by other servers, and lists of parts of a Kind in addition to
//! its watch.

use kindsight_cluster::Options;
use serde_json::{Value, json};

use crate::stage::{NAMESPACE, SHOP, Stage, labelled, resources};

/// A server that is watched with all rights, started with these arguments.
fn stage(arguments: &[&str]) -> Option<Stage> {
    let options = Options::api_server("edge01");
    let options = arguments
        .iter()
        .fold(options, |options, arg| options.argument(arg));
    Stage::start(&[options], |cluster| cluster.admin().clone())
}

fn config(name: &str) -> Value {
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
    labelled(config, "front")
}

#[test]
fn an_application_is_found_and_followed_whether_or_not_lists_are_streamed() {
    for arguments in [&[][..], &["--feature-gates=WatchList=false"]] {
        let Some(mut stage) = stage(arguments) else {
            return;
        };
        for name in ["one", "two", "three", "four", "five", "six"] {
            stage.apply(&config(name));
        }
        stage.wait(SHOP, "all are found", |answer| resources(answer).len() == 6);
        // An object without a label was skipped. An event adds it when it gets the label, and removes it without.
        let mut later = config("later");
        later["metadata"]["labels"] = json!({});
        stage.apply(&later);
        stage.apply(&config("later"));
        stage.wait(SHOP, "one more is found", |answer| {
            resources(answer).len() == 7
        });
        let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps/later");
        let unlabel = json!({"metadata": {"labels": null}});
        stage.clusters[0].patch(&path, "application/merge-patch+json", &unlabel);
        stage.wait(SHOP, "its label is gone", |answer| {
            let lines = resources(answer);
            !lines
                .iter()
                .any(|line| line.contains("ConfigMap/later Present"))
        });
        // Another session lists again.
        stage.clusters[0].kill();
        stage.wait_for_cluster("edge01", "it is away", |cluster| {
            cluster["connection"] == "stale"
        });
        stage.clusters[0].start_again();
        stage.apply(&config("seven"));
        stage.wait(SHOP, "it is followed again", |answer| {
            let lines = resources(answer);
            lines
                .iter()
                .any(|line| line.contains("ConfigMap/seven Present"))
        });
    }
}

#[test]
fn owned_objects_are_read_once_their_owner_joins_an_application() {
    let Some(stage) = stage(&[]) else { return };
    let cluster = &stage.clusters[0];
    let owner = |labels: Value| {
        json!({"apiVersion": "v1", "kind": "ServiceAccount",
            "metadata": {"name": "owner", "namespace": NAMESPACE, "labels": labels}})
    };
    let uid = cluster.apply(&owner(json!({})))["metadata"]["uid"].clone();
    let owned = |name: &str| {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
        "name": name, "namespace": NAMESPACE, "ownerReferences": [
            {"apiVersion": "v1", "kind": "ServiceAccount", "name": "owner", "uid": uid},
        ]}})
    };
    // A few owned objects are read by name. Many are listed by their namespace, with other objects of the Kind.
    for at in 0..20 {
        cluster.apply(&json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": format!("other-{at}"), "namespace": "default"}}));
    }
    for count in [2, 9] {
        for at in 0..count {
            cluster.apply(&owned(&format!("owned-{at}")));
        }
        cluster.apply(&owner(json!({"app.kubernetes.io/instance": "shop"})));
        stage.wait(SHOP, "its owned objects are found", |answer| {
            resources(answer).len() == count + 1
        });
        cluster.apply(&owner(json!({})));
        stage.wait("/v2/applications", "the application disappears", |answer| {
            answer["applications"].as_array().is_some_and(Vec::is_empty)
        });
    }
}
