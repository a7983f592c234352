use std::sync::Arc;

use expect_test::expect;
use kindsight_store::{RedbStore, Store};

use super::*;
use crate::{NewApp, NewCluster, NewContext, NewResource};

fn context(manifest: &str) -> NewContext {
    NewContext {
        apps: vec![NewApp {
            name: "front".to_owned(),
            clusters: vec![NewCluster {
                cluster: "lab+a".parse().unwrap(),
                group: None,
                resources: vec![NewResource {
                    resource: "one+ConfigMap".parse().unwrap(),
                    manifest: manifest.to_owned(),
                }],
            }],
        }],
        ..NewContext::default()
    }
}

fn change(resource: &str, acting: &str, status: RsyncStatus) -> (Place, Deployed) {
    let place = Place {
        app: "front".to_owned(),
        cluster: "lab+a".parse().unwrap(),
        resource: resource.parse().unwrap(),
    };
    let deployed = Deployed {
        status,
        acting: acting.parse().unwrap(),
        position: 0,
        applied: None,
        uid: None,
        generation: None,
        why: None,
    };
    (place, deployed)
}

fn id(text: &str) -> ContextId {
    text.parse().unwrap()
}

#[test]
fn an_entry_is_stored_with_the_status_of_the_context() {
    let store: Arc<dyn Store> = Arc::new(RedbStore::in_memory().unwrap());
    let contexts = AppContexts::new(Arc::clone(&store));
    contexts.create_as(&id("7"), &context("a")).unwrap();
    let mut written = change("one+ConfigMap", "7", RsyncStatus::Failed);
    written.1.why = Some("x".repeat(WHY_CHARS_MAX + 1));
    let recorded = contexts.record_deployed(&id("7"), std::slice::from_ref(&written));
    assert!(matches!(recorded.unwrap(), Recorded::Written(_)));
    let status = store.get("/context/7/app/front/cluster/lab+a/resource/one+ConfigMap/status/");
    assert_eq!(status.unwrap().unwrap(), br#"{"Status":"Failed"}"#);
    let stored = store.get("/kindsight/deployed/7/front/lab+a/one+ConfigMap/");
    let stored = String::from_utf8(stored.unwrap().unwrap()).unwrap();
    let short = stored.replace(&"x".repeat(WHY_CHARS_MAX), "…");
    expect![[r#"{"version":1,"status":"Failed","acting":"7","position":0,"why":"…"}"#]]
        .assert_eq(&short);
    assert_eq!(contexts.deployed(&id("7")).unwrap().len(), 1);
    contexts.delete(&id("7")).unwrap();
    assert!(contexts.deployed(&id("7")).unwrap().is_empty());
    let gone = contexts.record_deployed(&id("7"), &[written]).unwrap();
    assert_eq!(gone, Recorded::NotFound);
}

#[test]
fn a_later_instance_is_read_with_the_statuses_of_the_first() {
    let contexts = AppContexts::new(Arc::new(RedbStore::in_memory().unwrap()));
    contexts.create_as(&id("1"), &context("old")).unwrap();
    let mut next = context("new");
    let added = NewResource {
        resource: "two+ConfigMap".parse().unwrap(),
        manifest: "added".to_owned(),
    };
    next.apps[0].clusters[0].resources.push(added);
    let mut other = next.apps[0].clone();
    other.name = "back".to_owned();
    next.apps.push(other);
    let next = crate::NewInstance {
        context: next,
        status_context: Some(id("1")),
        ..crate::NewInstance::default()
    };
    contexts.create_instance(&id("2"), &next).unwrap();
    let mut changes = vec![
        change("one+ConfigMap", "2", RsyncStatus::Applied),
        change("two+ConfigMap", "2", RsyncStatus::Retrying),
        change("one+ConfigMap", "2", RsyncStatus::Pending),
    ];
    changes[2].0.app = "back".to_owned();
    let recorded = contexts.record_deployed(&id("1"), &changes).unwrap();
    assert!(matches!(recorded, Recorded::Written(_)));
    let read = |of: &str| {
        let snapshot = contexts.read(&id(of)).unwrap().unwrap();
        assert_eq!(snapshot.unreadable, []);
        let mut lines = Vec::new();
        for app in &snapshot.apps {
            for it in app.clusters[0].resources.iter() {
                let (yaml, status) = (it.manifest.as_deref(), it.status.map(RsyncStatus::as_str));
                let (yaml, status) = (yaml.unwrap_or("-"), status.unwrap_or("-"));
                lines.push(format!("{} {} {yaml} {status}", app.name, it.name));
            }
        }
        lines
    };
    assert_eq!(read("1"), ["front one old Applied"]);
    assert_eq!(
        read("2"),
        [
            "front one new Applied",
            "front two added Retrying",
            "back one new Pending",
            "back two added -",
        ]
    );
    let entries = contexts.deployed(&id("1")).unwrap();
    assert_eq!(entries.len(), 3);
    assert_eq!(entries[&changes[0].0], changes[0].1);
}

#[test]
fn as_many_changes_as_are_permitted_fit_in_a_batch_of_etcd() {
    let changes = (0..DEPLOYED_CHANGES_MAX).map(|number| {
        let mut change = change("one+ConfigMap", "2", RsyncStatus::Pending);
        change.0.app = format!("app-{number}");
        change
    });
    let store = Arc::new(RedbStore::in_memory().unwrap());
    let contexts = AppContexts::new(Arc::clone(&store) as Arc<dyn Store>);
    contexts.create_as(&id("1"), &context("old")).unwrap();
    let changes: Vec<_> = changes.collect();
    let keys = || store.keys("/").unwrap().keys.len();
    let before = keys();
    let _ = contexts.record_deployed(&id("1"), &changes).unwrap();
    let written = keys() - before;
    assert!(written <= kindsight_store::ETCD_BATCH_WRITES_MAX);
    assert_eq!(written, 7 * DEPLOYED_CHANGES_MAX);
}
