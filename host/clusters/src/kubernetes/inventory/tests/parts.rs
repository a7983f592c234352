//! Objects that are needed whole after they were passed over, and lists that are older than events.

use serde_json::Value;

use super::{Cluster, object};
use crate::kubernetes::decode::Detail;
use crate::kubernetes::watches::Needed as _;

/// Number of the watch of Pods.
const PODS: usize = 2;

fn versioned(mut metadata: Value, version: u64) -> Value {
    metadata["resourceVersion"] = version.to_string().into();
    metadata
}

impl Cluster {
    fn complete(&mut self, kind: &str, metadata: &Value) {
        let (watch, decoded) = self.decoded(kind, metadata);
        self.inventory.complete(watch, decoded);
    }

    fn follow(&mut self, kind: &str, metadata: &Value) {
        let (watch, decoded) = self.decoded(kind, metadata);
        self.inventory.follow(watch, 1, decoded);
    }

    /// Names of the Pods that are needed whole and are not.
    fn needed(&self) -> Vec<String> {
        let names = self.inventory.needed(PODS).names("web");
        names.iter().map(ToString::to_string).collect()
    }
}

/// A Deployment, and a Pod of it of which the metadata is known at version 5.
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
fn a_part_brings_what_is_needed_and_nothing_else() {
    let mut cluster = with_passed_over_pod();
    assert_eq!(cluster.inventory.needed(PODS).objects_in("web"), 2);
    assert!(cluster.inventory.needed(PODS).are_ordered());
    cluster.complete("Pod", &versioned(object("alone", "", ""), 5));
    cluster.complete("Pod", &versioned(object("pod", "front", ""), 5));
    assert!(cluster.needed().is_empty());
    assert_eq!(cluster.reports(), ["-/shop/-/web front: front pod"]);
    // The watch tells the same versions again, as metadata of before it went on whole.
    cluster.detail = Detail::Metadata;
    cluster.follow("Pod", &versioned(object("pod", "front", ""), 5));
    cluster.follow("Pod", &versioned(object("pod", "front", ""), 4));
    assert!(cluster.reports().is_empty() && cluster.needed().is_empty());
    // A change of which only the metadata comes needs the rest again.
    cluster.follow("Pod", &versioned(object("pod", "front", ""), 6));
    assert!(cluster.reports().is_empty() && cluster.needed() == ["pod"]);
}

#[test]
fn a_part_that_is_older_than_an_event_changes_nothing() {
    let mut cluster = with_passed_over_pod();
    // Its owner was taken from it, and the list of before comes after.
    cluster.follow("Pod", &versioned(object("pod", "", ""), 7));
    cluster.complete("Pod", &versioned(object("pod", "front", ""), 5));
    assert_eq!(cluster.reports(), ["-/shop/-/web front: front"]);
    // Deleted, and made anew under its name: the watch alone tells of that.
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
    // The event that the part was ahead of.
    cluster.follow("Pod", &versioned(object("pod", "", ""), 6));
    cluster.follow("Pod", &versioned(object("pod", "", "shop"), 7));
    assert_eq!(cluster.reports(), ["-/shop/-/web pod: pod"]);
}

#[test]
fn a_part_does_not_keep_what_a_list_of_all_does_not_have() {
    let mut cluster = with_passed_over_pod();
    // A list of all is read, the second one; the Pod was deleted before it began.
    let (watch, decoded) = cluster.decoded("Pod", &versioned(object("alone", "", ""), 5));
    cluster.inventory.apply(watch, 2, decoded);
    cluster.complete("Pod", &versioned(object("pod", "front", ""), 5));
    cluster.inventory.sweep(watch, 2);
    assert_eq!(cluster.reports(), ["-/shop/-/web front: front"]);
    assert_eq!(cluster.inventory.needed(PODS).objects(), 1);
}
