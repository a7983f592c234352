//! A replica of a server that watches an API server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_cluster::{Client, Options};
use kindsight_server::{ReplicaSettings, Settings};
use kindsight_store::{RedbStore, Store};
use serde_json::{Value, json};

use crate::stage::{NAMESPACE, PATIENCE, SHOP, Stage, labelled, serve, workload};

const HISTORY: &str =
    "/v2/projects/-/composite-apps/shop/-/deployment-intent-groups/web/history?limit=1000";

fn config(name: &str, content: &str) -> Value {
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"of": content},
    });
    labelled(object, "front")
}

fn secret() -> Value {
    let object = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key"},
        "stringData": {"password": "not-to-be-shown"},
    });
    labelled(object, "front")
}

/// The answers to all queries, without the time of the last event of the cluster.
fn answers(server: &Client) -> Vec<Value> {
    let mut queries: Vec<String> = ["", "?output=all", "?output=detail", "?explain=true"]
        .iter()
        .map(|query| format!("{SHOP}{query}"))
        .collect();
    queries.extend([
        HISTORY.to_owned(),
        "/v2/applications".to_owned(),
        "/v2/clusters".to_owned(),
    ]);
    let answers = queries.iter().map(|query| {
        let mut answer = server.get(query).unwrap_or_default();
        let clusters = answer["clusters"].as_array_mut().into_iter().flatten();
        for cluster in clusters.filter_map(Value::as_object_mut) {
            cluster.remove("last-event");
        }
        answer
    });
    answers.collect()
}

fn wait_for_same(stage: &Stage, replica: &Client) {
    let begin = Instant::now();
    loop {
        let (expected, found) = (answers(&stage.server), answers(replica));
        if expected == found {
            return;
        }
        let mut pairs = expected.iter().zip(&found);
        assert!(
            begin.elapsed() < PATIENCE,
            "{:#?}",
            pairs.find(|(expected, found)| expected != found)
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_replica_of_a_server_with_an_api_server_gives_the_same_answers_after_each_change() {
    let options = [Options::api_server("edge01")];
    let Some(stage) = Stage::start(&options, |cluster| cluster.admin().clone()) else {
        return;
    };
    let store: Arc<dyn Store> = Arc::new(RedbStore::in_memory().expect("a store"));
    let settings = Settings {
        replica_of: Some(ReplicaSettings {
            url: stage.server.url().to_owned(),
            token_file: None,
            ca: None,
        }),
        ..Settings::new(store)
    };
    let (_runtime, replica) = serve(settings);
    stage.apply(&config("settings", "one"));
    stage.apply(&secret());
    stage.wait(SHOP, "the Secret", |answer| {
        answer.to_string().contains("\"key\"")
    });
    wait_for_same(&stage, &replica);
    let shown = answers(&replica);
    assert!(!format!("{shown:?}").contains("not-to-be-shown"));
    stage.apply(&workload("Deployment", "front", &json!({}), &json!({})));
    stage.wait(SHOP, "the Deployment", |answer| {
        answer.to_string().contains("Deployment")
    });
    wait_for_same(&stage, &replica);
    for content in ["two", "three"] {
        stage.apply(&config("settings", content));
        let detail = format!("{SHOP}?output=detail");
        stage.wait(&detail, content, |answer| {
            answer.to_string().contains(content)
        });
        wait_for_same(&stage, &replica);
    }
    let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps/settings");
    assert!(stage.clusters[0].client().delete(&path));
    stage.wait(SHOP, "Gone", |answer| answer.to_string().contains("Gone"));
    wait_for_same(&stage, &replica);
}
