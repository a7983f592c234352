//! Later versions of members: the next report shares all other objects with the last one.

use super::*;
use kindsight_model::{KindCoverage, KindState, ObjectList, Scope};

impl Cluster {
    /// The objects of the only report since the last call.
    fn objects(&mut self) -> ObjectList {
        let reports = self.index.take_reports(&Coverage::default());
        let [(_, report)] = &*reports else {
            panic!("one report: {reports:?}");
        };
        report.objects.clone()
    }
}

/// A Pod at a version.
fn pod(name: usize, version: usize) -> Value {
    let mut pod = object(&format!("pod-{name:03}"), "front", "");
    pod["resourceVersion"] = version.to_string().into();
    pod
}

#[test]
fn a_later_version_changes_one_object_of_the_report() {
    let mut cluster = Cluster::new(Detail::Whole);
    cluster.apply("Deployment", &object("front", "", "shop"));
    for name in 0..200 {
        cluster.apply("Pod", &pod(name, 1));
    }
    let mut last = cluster.objects();
    for (step, name) in [(2, 7), (3, 199), (4, 7)] {
        cluster.apply("Pod", &pod(name, step));
        let objects = cluster.objects();
        let changed = objects.changed_since(&last).unwrap();
        let names: Vec<&str> = changed
            .iter()
            .map(|at| &*objects.get(*at).unwrap().name)
            .collect();
        assert_eq!(names, [format!("pod-{name:03}")]);
        last = objects;
    }
    // Versions of several members, and a version that is no news.
    cluster.apply("Pod", &pod(1, 5));
    cluster.apply("Pod", &pod(2, 5));
    cluster.apply("Pod", &pod(2, 5));
    let objects = cluster.objects();
    assert_eq!(objects.changed_since(&last).unwrap().len(), 2);
    assert!(cluster.index.take_reports(&Coverage::default()).is_empty());
    // A member that leaves together with a later version of another one.
    cluster.apply("Pod", &pod(3, 6));
    cluster.remove("Pod", &pod(4, 6));
    let less = cluster.objects();
    assert_eq!((less.len(), objects.len()), (200, 201));
    let third = less
        .iter()
        .find(|object| *object.name == *"pod-003")
        .unwrap();
    assert!(
        third.json.contains(r#""resourceVersion":"6""#),
        "{}",
        third.json
    );
}

#[test]
fn a_version_with_another_owner_moves_the_object() {
    let mut cluster = Cluster::new(Detail::Whole);
    cluster.apply("Deployment", &object("front", "", "shop"));
    cluster.apply("Pod", &pod(1, 1));
    assert_eq!(cluster.objects().len(), 2);
    let mut alone = object("pod-001", "", "");
    alone["resourceVersion"] = "2".into();
    cluster.apply("Pod", &alone);
    assert_eq!(cluster.objects().len(), 1);
}

#[test]
fn later_versions_are_reported_while_a_new_member_waits_for_its_body() {
    let mut cluster = Cluster::new(Detail::Whole);
    cluster.apply("Deployment", &object("front", "", "shop"));
    for name in 0..3 {
        cluster.apply("Pod", &pod(name, 1));
    }
    let first = cluster.objects();
    cluster.detail = Detail::Metadata;
    cluster.apply("Pod", &pod(3, 2));
    assert!(cluster.index.take_reports(&Coverage::default()).is_empty());
    cluster.detail = Detail::Whole;
    cluster.apply("Pod", &pod(1, 2));
    let waiting = cluster.objects();
    assert_eq!(waiting.len(), first.len());
    assert_eq!(waiting.changed_since(&first).unwrap().len(), 1);
    // The version was reported, and the group still waits.
    assert!(cluster.index.take_reports(&Coverage::default()).is_empty());
    assert!(cluster.index.is_any_waiting());
    cluster.apply("Pod", &pod(3, 2));
    assert_eq!(cluster.objects().len(), first.len() + 1);
    assert!(!cluster.index.is_any_waiting());
}

#[test]
fn an_object_with_the_number_of_a_deleted_member_does_not_take_its_place() {
    let mut cluster = Cluster::new(Detail::Whole);
    cluster.apply("Deployment", &object("front", "", "shop"));
    for name in 0..3 {
        cluster.apply("Pod", &pod(name, 1));
    }
    assert_eq!(cluster.objects().len(), 4);
    // The group waits for a body, and two reported members have later versions.
    cluster.detail = Detail::Metadata;
    cluster.apply("Pod", &pod(3, 2));
    cluster.detail = Detail::Whole;
    cluster.apply("Pod", &pod(1, 2));
    cluster.apply("Pod", &pod(2, 2));
    cluster.remove("Pod", &pod(1, 2));
    cluster.apply("Pod", &object("other", "", "base"));
    let mut reports = cluster.reports();
    reports.sort();
    assert_eq!(
        reports,
        [
            "-/base/-/web other: other",
            "-/shop/-/web front: front pod-000 pod-001 pod-002"
        ]
    );
}

#[test]
fn a_report_that_lacks_an_object_has_no_better_coverage_than_the_last_one() {
    let mut cluster = Cluster::new(Detail::Whole);
    cluster.apply("Deployment", &object("front", "", "shop"));
    let mut refused = Coverage::default();
    let forbidden = KindCoverage::new(KindState::Forbidden);
    refused.set("", "Pod", Scope::Cluster, forbidden);
    let state = |reports: Vec<GroupReport>| {
        let [(_, report)] = &*reports else {
            panic!("one report: {reports:?}");
        };
        report.coverage.of(Some(""), "Pod", Scope::Cluster).state
    };
    assert_eq!(
        state(cluster.index.take_reports(&refused)),
        KindState::Forbidden
    );
    // The Kind may be read now, and one of its objects waits for its body.
    cluster.detail = Detail::Metadata;
    cluster.apply("Pod", &pod(1, 2));
    cluster.detail = Detail::Whole;
    let mut owner = object("front", "", "shop");
    owner["resourceVersion"] = "3".into();
    cluster.apply("Deployment", &owner);
    let complete = Coverage::default();
    assert_eq!(
        state(cluster.index.take_reports(&complete)),
        KindState::Forbidden
    );
    cluster.apply("Pod", &pod(1, 2));
    assert_eq!(
        state(cluster.index.take_reports(&complete)),
        KindState::Complete
    );
}

#[test]
fn changes_are_updates_as_long_as_no_object_is_new_or_removed() {
    let mut cluster = Cluster::new(Detail::Whole);
    cluster.apply("Deployment", &object("front", "", "shop"));
    cluster.apply("Pod", &pod(1, 1));
    assert!(!cluster.index.are_updates(), "nothing was reported yet");
    let _ = cluster.objects();
    cluster.apply("Pod", &pod(1, 2));
    assert!(cluster.index.are_updates());
    cluster.apply("Pod", &pod(2, 3));
    assert!(!cluster.index.are_updates(), "a Pod is new");
    let _ = cluster.objects();
    cluster.remove("Pod", &pod(2, 3));
    assert!(!cluster.index.are_updates(), "a Pod was removed");
}
