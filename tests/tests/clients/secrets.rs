//! Content of Secrets is removed before a guest, an answer or the store receives it.

use std::fs;
use std::time::{Duration, Instant};

use kindsight_store::Entry;
use kindsight_tests::hostile;

use crate::names::{STATUS, instantiate};
use crate::stage::Stage;
use crate::transport::Transport;

/// The content: plain, encoded as in `data`, and encoded again as in `res`.
const HIDDEN: [&str; 3] = ["hunter2", "aHVudGVyMg", "YUhWdWRHVnlNZz"];

/// A Secret, and a ConfigMap that remembers one in an annotation.
fn objects() -> [String; 2] {
    let secret = r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},
        "type":"Opaque","data":{"password":"aHVudGVyMg=="},"stringData":{"other":"hunter2"}}"#;
    let applied = serde_json::Value::from(secret);
    let config_map = format!(
        r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"c","annotations":{{
        "kubectl.kubernetes.io/last-applied-configuration":{applied}}}}}}}"#
    );
    [secret.to_owned(), config_map]
}

/// A component that requests complete objects and repeats all their texts. It replaces the built-in interpreter of
/// Secrets, and is also uploaded as a candidate.
pub(crate) fn a_guest_that_repeats_its_input_reveals_no_secret(transport: Transport) {
    let [secret, config_map] = objects();
    let stage = Stage::with(transport, |settings, folder| {
        instantiate(&settings.store);
        let report = format!(
            r#"{{"metadata":{{"labels":{{"emco/deployment-id":"7-a"}}}},"status":{{
            "secretStatuses":[{secret}],"configMapStatuses":[{config_map}]}}}}"#
        );
        fs::write(folder.join("a.json"), report).expect("a report");
        let cluster = format!("p+c={}", folder.display());
        settings.clusters.push(cluster.parse().expect("a cluster"));
    });
    let component = |version: &str| {
        hostile(&format!(
            r#"{{"name":"teller","version":"{version}","kinds":[["","*","Secret"],["","*","ConfigMap"]],"fields":[""]}}"#
        ))
    };
    let uploaded = stage.upload("teller", &component("1.0.0"));
    assert!(uploaded.status < 300, "{uploaded:?}");
    let detail = format!("{STATUS}?type=cluster&output=detail");
    let begin = Instant::now();
    let status = loop {
        let answer = stage.get(&detail);
        if answer.body.contains("Told") {
            break answer;
        }
        assert!(begin.elapsed() < crate::transport::ANSWER_MAX, "{answer:?}");
        std::thread::sleep(Duration::from_millis(20));
    };
    let list = format!(r#"{{"kind":"List","apiVersion":"v1","items":[{secret},{config_map}]}}"#);
    let judged = stage.json("POST", "/v2/interpret", &list);
    let candidate = stage.upload("teller?candidate=true", &component("2.0.0"));
    let shadow = stage.json("POST", "/v2/interpreters/teller/shadow", "");
    for answer in [
        &status,
        &judged,
        &candidate,
        &shadow,
        &stage.get("/v2/interpreters/teller"),
    ] {
        for hidden in HIDDEN {
            assert!(!answer.body.contains(hidden), "{answer:?}");
        }
    }
    // The parts that rules about Secrets need are kept.
    for kept in ["Opaque", "password", "REDACTED"] {
        assert!(
            status.body.contains(kept) && judged.body.contains(kept),
            "{status:?}"
        );
    }
    stage.assert_healthy();
    for Entry { key, value, .. } in stage.stored() {
        let value = String::from_utf8_lossy(&value).into_owned();
        for hidden in HIDDEN {
            assert!(!value.contains(hidden), "{key}: {value}");
        }
    }
}
