use std::sync::Arc;

use kindsight_model::{ClusterName, ContextId};
use kindsight_store::RedbStore;

use super::*;
use crate::{AppContexts, Creations};

const WHOLE: &str =
    r#"{"ready":true,"resourceCount":1.0,"podStatuses":PODS,"serviceStatuses":[{"a":"<&>"}]}"#;

struct Stage {
    store: Arc<RedbStore>,
    contexts: AppContexts,
    id: ContextId,
}

fn edge() -> ClusterName {
    "p+edge".parse().unwrap()
}

impl Stage {
    fn new() -> Self {
        let store = Arc::new(RedbStore::in_memory().unwrap());
        let contexts = AppContexts::new(Arc::clone(&store) as Arc<dyn Store>);
        let context = contexts.create_composite_app().unwrap();
        context.add_app("a").unwrap().add_cluster(&edge()).unwrap();
        let id = context.id().clone();
        Self {
            store,
            contexts,
            id,
        }
    }

    fn record(&self, json: &str) -> Recorded {
        self.contexts
            .record_bundle(&self.id, "a", &edge(), json)
            .unwrap()
    }

    fn write(&self, json: &str) {
        assert!(matches!(self.record(json), Recorded::Written(_)));
    }

    /// The report as it is read, and the stored value under `/context/`.
    fn read(&self) -> (String, String) {
        let snapshot = self.contexts.read(&self.id).unwrap().unwrap();
        let read = snapshot.apps[0].clusters[0]
            .bundle
            .json()
            .map(str::to_owned);
        let app = self.contexts.load(&self.id).unwrap().app("a").unwrap();
        let stored = app.cluster(&edge()).unwrap().bundle().get().unwrap();
        (read.unwrap(), stored.unwrap())
    }

    fn parts(&self) -> usize {
        self.store.keys(keys::BUNDLES).unwrap().keys.len()
    }
}

/// A report with small Pods and some large ones.
fn large(megabytes: usize, word: &str) -> String {
    let pod = |bytes: usize| format!(r#"{{"x":"{}"}}"#, word.repeat(bytes / word.len()));
    let mut pods = vec![pod(10); 3];
    pods.extend(vec![pod(512 * 1024); megabytes * 2]);
    WHOLE.replace("PODS", &format!("[{}]", pods.join(",")))
}

#[test]
fn a_large_report_is_read_whole_and_another_reader_sees_one_that_fits() {
    let stage = Stage::new();
    let whole = large(3, "x");
    assert!(matches!(stage.record(&whole), Recorded::Written(_)));
    let (read, stored) = stage.read();
    assert!(read == whole);
    assert!(go_json::encode(&stored).unwrap().len() <= BUNDLE_STORED_BYTES_MAX);
    let mark = Mark::of(&stored).unwrap();
    assert_eq!(mark.bytes, whole.len());
    let members: Members = serde_json::from_str(&stored).unwrap();
    assert_eq!(members.json("resourceCount"), Some("1.0"));
    assert_eq!(members.json("serviceStatuses"), Some(r#"[{"a":"<&>"}]"#));
    let pods = members
        .get::<Vec<serde_json::Value>>("podStatuses")
        .unwrap()
        .unwrap();
    assert!(pods.len() >= 3);
    assert_eq!(mark.dropped["podStatuses"] + pods.len(), 9);
    assert_eq!(stage.record(&whole), Recorded::Unchanged);
}

#[test]
fn a_newer_report_replaces_the_parts() {
    let stage = Stage::new();
    stage.write(&large(3, "x"));
    let second = large(4, "y");
    assert!(matches!(stage.record(&second), Recorded::Written(_)));
    assert!(stage.read().0 == second);
    assert!(matches!(stage.record("{}"), Recorded::Written(_)));
    assert_eq!(stage.read(), ("{}".to_owned(), "{}".to_owned()));
    assert_eq!(stage.parts(), 0);
}

#[test]
fn a_report_of_another_writer_wins_and_the_parts_are_swept() {
    let stage = Stage::new();
    stage.write(&large(3, "x"));
    let app = stage.contexts.load(&stage.id).unwrap().app("a").unwrap();
    let cluster = app.cluster(&edge()).unwrap();
    cluster
        .bundle()
        .set(&r#"{"ready":false}"#.to_owned())
        .unwrap();
    assert_eq!(stage.read().0, r#"{"ready":false}"#);
    assert!(stage.parts() > 0);
    stage.contexts.sweep(&mut Creations::default()).unwrap();
    assert_eq!(stage.parts(), 0);
}

#[test]
fn a_report_whose_whole_is_lost_is_read_as_far_as_it_is_there() {
    let stage = Stage::new();
    stage.write(&large(3, "x"));
    let batch = Batch::new().delete_prefix(keys::BUNDLES);
    stage.store.apply(&batch).unwrap();
    let (read, stored) = stage.read();
    assert!(read == stored);
    let snapshot = stage.contexts.read(&stage.id).unwrap().unwrap();
    assert_eq!(
        snapshot.unreadable[0].why,
        "the report is larger than one key takes, and its whole is not there: items of podStatuses are missing"
    );
}

#[test]
fn what_is_deleted_takes_its_parts_along() {
    let stage = Stage::new();
    let app = stage.contexts.load(&stage.id).unwrap().app("a").unwrap();
    for is_cluster in [true, false] {
        let cluster = app.add_cluster(&edge()).unwrap();
        stage.write(&large(2, "x"));
        assert!(stage.parts() > 0);
        let deleted = if is_cluster {
            cluster.delete()
        } else {
            stage.contexts.delete(&stage.id)
        };
        assert!(deleted.unwrap());
        assert_eq!(stage.parts(), 0);
    }
    assert_eq!(stage.record(&large(2, "x")), Recorded::NotFound);
    assert!(stage.parts() > 0, "they come first");
    stage.contexts.sweep(&mut Creations::default()).unwrap();
    assert_eq!(stage.parts(), 0);
}
