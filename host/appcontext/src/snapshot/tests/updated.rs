//! A group that was updated: its contexts as orchestrator and rsync of the later generations leave
//! them, see the reference 2.6, 2.7 and 4.2.

use std::sync::Arc;

use kindsight_store::{Batch, RedbStore, Store};

use super::super::*;
use crate::AppContexts;
use crate::context::counting::Counting;

const FIRST: &[(&str, &str)] = &[
    ("", r#""1""#),
    ("meta/", r#"{"Project":"p"}"#),
    ("status/", r#"{"Status":"Updated"}"#),
    ("app/a/", r#""a""#),
    ("app/a/cluster/p+c/", r#""p+c""#),
    ("app/a/cluster/p+c/reference/", r#""2""#),
    ("app/a/cluster/p+c/readystatus/", r#""Retrying""#),
    ("app/a/cluster/p+c/status/", r#""{\"ready\":true}""#),
    ("app/a/cluster/p+c/resource/same+Pod/", r#""same""#),
    (
        "app/a/cluster/p+c/resource/same+Pod/status/",
        r#"{"Status":"Applied"}"#,
    ),
    ("app/a/cluster/p+c/resource/changed+Pod/", r#""old""#),
    (
        "app/a/cluster/p+c/resource/changed+Pod/reference/",
        r#""2""#,
    ),
    (
        "app/a/cluster/p+c/resource/changed+Pod/status/",
        r#"{"Status":"Failed"}"#,
    ),
    ("app/a/cluster/p+c/resource/new+Pod/", r#""nil""#),
    ("app/a/cluster/p+c/resource/new+Pod/reference/", r#""2""#),
    (
        "app/a/cluster/p+c/resource/new+Pod/status/",
        r#"{"Status":"Applied"}"#,
    ),
    ("app/b/", r#""b""#),
    ("app/b/cluster/p+c/", r#""p+c""#),
    ("app/b/cluster/p+c/reference/", r#""2""#),
    ("app/b/cluster/p+c/resource/x+Pod/", r#""nil""#),
    ("app/b/cluster/p+c/resource/x+Pod/reference/", r#""2""#),
    (
        "app/b/cluster/p+c/resource/x+Pod/status/",
        r#"{"Status":"Retrying"}"#,
    ),
];

const SECOND: &[(&str, &str)] = &[
    ("", r#""2""#),
    ("status/", r#"{"Status":"Instantiated"}"#),
    ("statusappctxid/", r#""1""#),
    ("app/a/", r#""a""#),
    ("app/a/cluster/p+c/", r#""p+c""#),
    ("app/a/cluster/p+c/readystatus/", r#""Available""#),
    ("app/a/cluster/p+c/resource/changed+Pod/", r#""new""#),
    ("app/a/cluster/p+c/resource/new+Pod/", r#""brought""#),
    ("app/a/cluster/p+c/resource/same+Pod/", r#""same""#),
    (
        "app/a/cluster/p+c/resource/instruction/dependency/",
        r#""{\"resdependency\":{\"pre-install\":[\"new+Pod\"]}}""#,
    ),
    ("app/b/", r#""b""#),
    ("app/b/cluster/p+c/", r#""p+c""#),
    ("app/b/cluster/p+c/resource/x+Pod/", r#""x""#),
];

/// A third instance. rsync left entries without manifests in it.
const THIRD: &[(&str, &str)] = &[
    ("", r#""3""#),
    ("statusappctxid/", r#""1""#),
    ("app/a/", r#""a""#),
    ("app/a/cluster/p+c/", r#""p+c""#),
    ("app/a/cluster/p+c/resource/new+Pod/", r#""nil""#),
    ("app/a/cluster/p+c/resource/same+Pod/", r#""nil""#),
];

struct Group {
    store: Arc<Counting>,
    contexts: AppContexts,
}

impl Group {
    fn new() -> Self {
        let store = RedbStore::in_memory().unwrap();
        for (id, entries) in [("1", FIRST), ("2", SECOND), ("3", THIRD)] {
            let put = |batch: Batch, (below, value): &(&str, &str)| {
                batch.put(format!("/context/{id}/{below}"), *value)
            };
            store
                .apply(&entries.iter().fold(Batch::new(), put))
                .unwrap();
        }
        let store = Arc::new(Counting::new(store));
        let contexts = AppContexts::new(Arc::clone(&store) as Arc<dyn Store>);
        Self { store, contexts }
    }

    fn read(&self, id: &str) -> ContextSnapshot {
        let snapshot = self.contexts.read(&id.parse().unwrap()).unwrap().unwrap();
        assert_eq!(snapshot.unreadable, []);
        snapshot
    }
}

/// Each resource: its app, name, manifest, status, hook.
fn resources(snapshot: &ContextSnapshot) -> Vec<String> {
    let mut lines = Vec::new();
    for app in &snapshot.apps {
        for cluster in &app.clusters {
            for it in cluster.resources.iter() {
                let status = it.status.map_or("none", RsyncStatus::as_str);
                let yaml = it.manifest.as_deref().unwrap_or("none");
                let hook = it.hook.map_or(String::new(), |hook| format!(" {hook}"));
                lines.push(format!("{}/{} {yaml} {status}{hook}", app.name, it.name));
            }
        }
    }
    lines
}

fn ids(ids: &[&str]) -> BTreeSet<ContextId> {
    ids.iter().map(|id| id.parse().unwrap()).collect()
}

#[test]
fn an_updated_group_has_the_statuses_of_its_status_context() {
    let group = Group::new();
    let second = group.read("2");
    assert_eq!(
        resources(&second),
        [
            "a/changed new Failed",
            "a/new brought Applied pre-install",
            "a/same same Applied",
            "b/x x Retrying",
        ]
    );
    let cluster = &second.apps[0].clusters[0];
    assert_eq!(cluster.bundle.json(), Some(r#"{"ready":true}"#));
    assert_eq!(cluster.connectivity, Some(Connectivity::Available));
    assert_eq!(second.status_context.as_str(), "1");
    assert_eq!(second.reads, ids(&["1"]));
    assert_eq!(second.meta.unwrap().project, "p");
    assert_eq!(group.store.take_ranges(), ["/context/2/", "/context/1/"]);
}

#[test]
fn the_first_instance_of_an_updated_group_keeps_its_resources() {
    let group = Group::new();
    let first = group.read("1");
    assert_eq!(
        resources(&first),
        ["a/changed old Failed", "a/same same Applied"]
    );
    assert_eq!(first.apps.len(), 1);
    let cluster = &first.apps[0].clusters[0];
    assert_eq!(cluster.connectivity, Some(Connectivity::Available));
    assert_eq!(first.status_context, first.id);
    assert_eq!(first.reads, ids(&["2"]));
    assert_eq!(group.store.take_ranges(), ["/context/1/", "/context/2/"]);
}

#[test]
fn what_has_no_manifest_has_that_of_the_context_it_refers_to() {
    let group = Group::new();
    let third = group.read("3");
    assert_eq!(
        resources(&third),
        ["a/new brought Applied", "a/same same Applied"]
    );
    assert_eq!(third.reads, ids(&["1", "2"]));
    assert_eq!(
        group.store.take_ranges(),
        ["/context/3/", "/context/1/", "/context/2/"]
    );
}

#[test]
fn a_status_context_that_is_gone_is_named_and_costs_what_it_had() {
    let group = Group::new();
    assert!(group.contexts.delete(&"1".parse().unwrap()).unwrap());
    let second = group.read("2");
    assert_eq!(resources(&second).first().unwrap(), "a/changed new none");
    assert_eq!(second.reads, ids(&["1"]));
    assert_eq!(second.status_context.as_str(), "1");
    let connectivity = second.apps[0].clusters[0].connectivity;
    assert_eq!(connectivity, Some(Connectivity::Available));
}

#[test]
fn the_references_that_are_followed_are_bounded() {
    let group = Group::new();
    let mut batch = Batch::new();
    for number in 100..=100 + REFERENCES_MAX {
        let below = format!("/context/1/app/a/cluster/p+{number}/");
        batch = batch
            .put(format!("{below}reference/"), format!("\"{number}\""))
            .put(below, format!("\"p+{number}\""));
    }
    group.store.apply(&batch).unwrap();
    let first = group.contexts.read(&"1".parse().unwrap()).unwrap().unwrap();
    assert_eq!(group.store.take_ranges().len(), 1 + REFERENCES_MAX);
    assert_eq!(
        first.unreadable[0].why,
        "it refers to 66 other contexts, of which 64 are read"
    );
}

#[test]
fn the_order_of_creation_and_the_last_change_of_the_state_are_told() {
    let group = Group::new();
    let [first, second] = ["1", "2"].map(|id| group.read(id));
    assert!(first.created < second.created);
    assert_eq!(first.status_changed, Some(first.created));
    let id = first.id.clone();
    let _ = group
        .contexts
        .record_status(&id, ContextStatus::Terminated)
        .unwrap();
    let after = group.read("1");
    assert_eq!(after.created, first.created);
    assert!(after.status_changed > second.status_changed);
    assert_eq!(group.read("3").status_changed, None);
}
