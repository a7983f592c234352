//! Bodies that are read after the first list, and lists that are older than events.

use std::collections::BTreeSet;

use kindsight_model::Removal;
use serde_json::Value;

use super::{Cluster, Detail, object};
use crate::index::Needed as _;

/// Number of the watch of Pods.
const PODS: usize = 2;

fn versioned(mut metadata: Value, version: u64) -> Value {
    metadata["resourceVersion"] = version.to_string().into();
    metadata
}

impl Cluster {
    fn complete(&mut self, kind: &str, metadata: &Value) {
        let (scope, decoded) = self.decoded(kind, metadata);
        self.index.complete(scope, decoded);
    }

    fn follow(&mut self, kind: &str, metadata: &Value) {
        let (scope, decoded) = self.decoded(kind, metadata);
        self.index.apply(scope, decoded);
    }

    /// Names of the Pods whose bodies are needed and missing.
    fn needed(&self) -> Vec<String> {
        let names = self.index.needed(PODS).names("web");
        names.iter().map(ToString::to_string).collect()
    }
}

/// A Deployment, and its Pod, whose metadata is known at version 5.
fn with_passed_over_pod() -> Cluster {
    let mut cluster = Cluster::new(Detail::Whole);
    cluster.apply("Deployment", &versioned(object("front", "", "shop"), 1));
    cluster.detail = Detail::Metadata;
    cluster.apply("Pod", &versioned(object("pod", "front", ""), 5));
    cluster.apply("Pod", &versioned(object("alone", "", ""), 5));
    cluster.detail = Detail::Whole;
    assert!(cluster.reports().is_empty() && cluster.needed() == ["pod"]);
    cluster
}

#[test]
fn a_part_brings_only_the_needed_bodies() {
    let mut cluster = with_passed_over_pod();
    assert_eq!(cluster.index.needed(PODS).objects_in("web"), 2);
    assert!(cluster.index.needed(PODS).are_ordered());
    cluster.complete("Pod", &versioned(object("alone", "", ""), 5));
    cluster.complete("Pod", &versioned(object("pod", "front", ""), 5));
    assert!(cluster.needed().is_empty());
    assert_eq!(cluster.reports(), ["-/shop/-/web front: front pod"]);
    // The watch repeats these versions as metadata, from before its switch to complete objects.
    cluster.detail = Detail::Metadata;
    cluster.follow("Pod", &versioned(object("pod", "front", ""), 5));
    cluster.follow("Pod", &versioned(object("pod", "front", ""), 4));
    assert!(cluster.reports().is_empty() && cluster.needed().is_empty());
    // After a change with only metadata, the body is needed again.
    cluster.follow("Pod", &versioned(object("pod", "front", ""), 6));
    assert!(cluster.reports().is_empty() && cluster.needed() == ["pod"]);
}

#[test]
fn a_part_that_is_older_than_an_event_changes_nothing() {
    let mut cluster = with_passed_over_pod();
    // The Pod lost its owner, and the older list arrives later.
    cluster.follow("Pod", &versioned(object("pod", "", ""), 7));
    cluster.complete("Pod", &versioned(object("pod", "front", ""), 5));
    assert_eq!(cluster.reports(), ["-/shop/-/web front: front"]);
    // The Pod was deleted and created again with the same name: only the watch reports that.
    cluster.remove("Pod", &versioned(object("pod", "", ""), 8));
    cluster.complete("Pod", &versioned(object("pod", "front", ""), 5));
    let mut anew = versioned(object("pod", "", "shop"), 9);
    anew["uid"] = "uid-anew".into();
    cluster.follow("Pod", &anew);
    cluster.complete("Pod", &versioned(object("pod", "front", ""), 5));
    assert_eq!(cluster.reports(), ["-/shop/-/web pod: pod"]);
}

#[test]
fn a_part_that_is_newer_takes_labels_and_owners_away() {
    let mut cluster = with_passed_over_pod();
    cluster.complete("Pod", &versioned(object("pod", "", ""), 6));
    assert!(cluster.needed().is_empty());
    assert_eq!(cluster.reports(), ["-/shop/-/web front: front"]);
    // The event of the version that the part already brought.
    cluster.follow("Pod", &versioned(object("pod", "", ""), 6));
    cluster.follow("Pod", &versioned(object("pod", "", "shop"), 7));
    assert_eq!(cluster.reports(), ["-/shop/-/web pod: pod"]);
}

#[test]
fn a_body_that_the_last_session_did_not_read_is_needed_after_the_next_list() {
    let mut cluster = with_passed_over_pod();
    let wanted = BTreeSet::from([(PODS, "web".into())]);
    assert_eq!(cluster.index.take_wanted(), wanted);
    assert!(cluster.index.take_wanted().is_empty());
    cluster.index.begin_session();
    cluster.detail = Detail::Metadata;
    cluster.index.init(PODS);
    cluster.apply("Pod", &versioned(object("pod", "front", ""), 5));
    cluster.apply("Pod", &versioned(object("alone", "", ""), 5));
    assert!(cluster.index.take_wanted().is_empty());
    cluster.index.init_done(PODS, Removal::Deleted);
    assert_eq!(cluster.index.take_wanted(), wanted);
}

#[test]
fn a_part_does_not_keep_an_object_that_a_complete_list_omits() {
    let mut cluster = with_passed_over_pod();
    // The second list of all objects is read. The Pod was deleted before the list began.
    let (scope, decoded) = cluster.decoded("Pod", &versioned(object("alone", "", ""), 5));
    cluster.index.init(scope);
    cluster.index.init_apply(scope, decoded);
    cluster.complete("Pod", &versioned(object("pod", "front", ""), 5));
    cluster.index.init_done(scope, Removal::Deleted);
    assert_eq!(cluster.reports(), ["-/shop/-/web front: front"]);
    assert_eq!(cluster.index.needed(PODS).objects(), 1);
}
