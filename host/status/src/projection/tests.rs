use kindsight_model::Phase;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::samples::{NOW_MS, core, expected, input, object, observed, report, verdict};

fn ready(object: Object) -> (Object, Verdict) {
    observed(object, verdict(Phase::Ready, "", ""))
}

fn view(expected: Vec<Expected>, observed: Vec<Object>) -> ClusterView {
    let mut input = input("edge01", expected);
    report(&mut input, observed.into_iter().map(ready).collect());
    project(input, None, NOW_MS)
}

/// The resources of a view, one line each.
fn lines(view: &ClusterView) -> Vec<String> {
    let line = |resource: &ResourceView| {
        let sent = if resource.is_sent() { "sent" } else { "extra" };
        let ResourceView {
            gvk,
            namespace,
            name,
            verdict,
            ..
        } = resource;
        format!("{sent} {gvk} {namespace}/{name} {}", verdict.state)
    };
    view.resources().iter().map(line).collect()
}

#[test]
fn what_was_sent_comes_first_and_what_only_the_cluster_has_follows() {
    let sent = vec![
        expected("apps/v1", "Deployment", "sink"),
        expected("v1", "Service", "sink"),
        expected("v1", "ConfigMap", "sink"),
    ];
    let reported = vec![
        object("v1", "Pod", "default", "sink-1"),
        object("v1", "Service", "default", "sink"),
        object("apps/v1", "Deployment", "default", "sink"),
        object("apps/v1", "ReplicaSet", "default", "sink-5d5c"),
    ];
    let expected = [
        "sent apps/v1 Deployment default/sink Ready",
        "sent v1 Service default/sink Ready",
        "sent v1 ConfigMap /sink NotPresent",
        "extra v1 Pod default/sink-1 Ready",
        "extra apps/v1 ReplicaSet default/sink-5d5c Ready",
    ];
    assert_eq!(lines(&view(sent, reported)), expected);
}

#[test]
fn without_a_report_the_state_is_unknown() {
    let sent = vec![expected("v1", "Service", "sink")];
    let view = project(input("edge01", sent), None, NOW_MS);
    assert_eq!(lines(&view), ["sent v1 Service /sink Unknown"]);
    assert_eq!(*view.report(), Report::NotYet);
    assert_eq!(&*view.resources()[0].verdict.reason, "NoReportYet");
}

#[test]
fn an_empty_report_says_that_nothing_is_there() {
    let view = view(vec![expected("v1", "Service", "sink")], vec![]);
    assert_eq!(lines(&view), ["sent v1 Service /sink NotPresent"]);
}

#[test]
fn what_was_deleted_is_not_present_although_its_bundle_went_with_it() {
    let mut gone = expected("v1", "Service", "sink");
    gone.rsync = Some(RsyncStatus::Deleted);
    let view = project(input("edge01", vec![gone]), None, NOW_MS);
    assert_eq!(lines(&view), ["sent v1 Service /sink NotPresent"]);
    assert_eq!(&*view.resources()[0].verdict.reason, "Deleted");
}

#[test]
fn what_was_not_sent_yet_is_pending_to_be_sent() {
    let mut unsent = expected("v1", "Service", "sink");
    unsent.rsync = None;
    let view = view(vec![unsent], vec![]);
    assert_eq!(view.resources()[0].rsync, Some(RsyncStatus::Pending));
}

#[test]
fn the_version_may_differ_and_the_manifests_is_shown() {
    let sent = vec![expected(
        "autoscaling/v1",
        "HorizontalPodAutoscaler",
        "sink",
    )];
    let reported = vec![object(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        "default",
        "sink",
    )];
    let expected = ["sent autoscaling/v1 HorizontalPodAutoscaler default/sink Ready"];
    assert_eq!(lines(&view(sent, reported)), expected);
}

#[test]
fn another_group_is_another_thing() {
    let sent = vec![expected("serving.knative.dev/v1", "Service", "sink")];
    let reported = vec![object("v1", "Service", "default", "sink")];
    let expected = [
        "sent serving.knative.dev/v1 Service /sink NotPresent",
        "extra v1 Service default/sink Ready",
    ];
    assert_eq!(lines(&view(sent, reported)), expected);
}

#[test]
fn what_kubernetes_moved_between_groups_is_still_the_same() {
    let sent = vec![expected("networking.k8s.io/v1", "Ingress", "sink")];
    let reported = vec![object("extensions/v1beta1", "Ingress", "default", "sink")];
    let expected = ["sent networking.k8s.io/v1 Ingress default/sink Ready"];
    assert_eq!(lines(&view(sent, reported)), expected);
}

#[test]
fn a_manifests_own_namespace_decides() {
    let mut elsewhere = expected("v1", "Service", "sink");
    elsewhere.namespace = "b".into();
    let reported = || {
        vec![
            object("v1", "Service", "default", "sink"),
            object("v1", "Service", "b", "sink"),
        ]
    };
    let both = vec![expected("v1", "Service", "sink"), elsewhere.clone()];
    let expected = [
        "sent v1 Service default/sink Ready",
        "sent v1 Service b/sink Ready",
    ];
    assert_eq!(lines(&view(both, reported())), expected);

    let expected = [
        "sent v1 Service b/sink NotPresent",
        "extra v1 Service default/sink Ready",
    ];
    assert_eq!(
        lines(&view(vec![elsewhere], reported()[..1].to_vec())),
        expected
    );
}

#[test]
fn a_guess_never_takes_what_another_names_in_full() {
    let mut named = expected("v1", "Service", "sink");
    named.namespace = "b".into();
    let sent = vec![expected("v1", "Service", "sink"), named];
    let reported = vec![object("v1", "Service", "b", "sink")];
    let expected = [
        "sent v1 Service /sink NotPresent",
        "sent v1 Service b/sink Ready",
    ];
    assert_eq!(lines(&view(sent, reported)), expected);
}

#[test]
fn without_a_namespace_the_only_one_is_meant_and_of_several_none() {
    let sent = || vec![expected("v1", "Service", "sink")];
    let one = vec![object("v1", "Service", "b", "sink")];
    assert_eq!(lines(&view(sent(), one)), ["sent v1 Service b/sink Ready"]);
    let two = vec![
        object("v1", "Service", "b", "sink"),
        object("v1", "Service", "c", "sink"),
    ];
    assert_eq!(
        lines(&view(sent(), two))[0],
        "sent v1 Service /sink NotPresent"
    );
}

#[test]
fn what_has_no_namespace_is_found_whatever_the_manifest_says() {
    let mut role = expected("rbac.authorization.k8s.io/v1", "ClusterRole", "system:sink");
    let reported = || {
        vec![object(
            "rbac.authorization.k8s.io/v1",
            "ClusterRole",
            "",
            "system:sink",
        )]
    };
    assert!(
        view(vec![role.clone()], reported()).resources()[0]
            .object
            .is_some()
    );
    role.namespace = "default".into();
    assert!(view(vec![role], reported()).resources()[0].object.is_some());
}

#[test]
fn without_a_manifest_kind_and_name_are_enough() {
    let sent = vec![Expected::without_manifest("sink", "Deployment", None)];
    let reported = vec![object("apps/v1", "Deployment", "default", "sink")];
    assert_eq!(
        lines(&view(sent, reported)),
        ["sent apps/v1 Deployment default/sink Ready"]
    );
}

#[test]
fn what_stays_in_its_state_keeps_its_time() {
    let sent = || {
        vec![
            expected("v1", "Service", "a"),
            expected("v1", "Service", "b"),
        ]
    };
    let reported = |names: &[&str]| {
        let mut input = input("edge01", sent());
        let objects = names
            .iter()
            .map(|name| object("v1", "Service", "default", name));
        report(&mut input, objects.map(ready).collect());
        input
    };
    let times = |view: &ClusterView| -> Vec<_> {
        view.resources()
            .iter()
            .filter_map(|one| one.since_ms)
            .collect()
    };
    let first = project(reported(&["a"]), None, 1);
    let second = project(reported(&["a"]), Some(&first), 2);
    let third = project(reported(&["a", "b"]), Some(&second), 3);
    assert_eq!(times(&first), [1, 1]);
    assert_eq!(times(&second), [1, 1]);
    assert_eq!(times(&third), [1, 3]);
}

#[test]
fn the_objects_own_time_counts_more_than_when_it_was_first_seen() {
    let of = |since_ms: Option<i64>, previous: Option<&ClusterView>, now_ms: i64| {
        let mut input = input("edge01", Vec::new());
        let since = Verdict {
            since_ms,
            ..verdict(Phase::Ready, "", "")
        };
        let object = object("v1", "Service", "default", "a");
        report(&mut input, vec![observed(object, since)]);
        let view = project(input, previous, now_ms);
        let shown = view.resources()[0].since_ms;
        (view, shown)
    };
    let (first_seen, shown) = of(None, None, 50);
    assert_eq!(shown, Some(50));
    let (dated, shown) = of(Some(20), Some(&first_seen), 60);
    assert_eq!(shown, Some(20));
    let (_, shown) = of(Some(30), Some(&dated), 70);
    assert_eq!(shown, Some(30));
    // After a restart there is no view before, and it is the same time.
    assert_eq!(of(Some(20), None, 1000).1, Some(20));
}

proptest! {
    /// Draws names and namespaces from few, so that they collide often.
    #[test]
    fn every_resource_and_every_object_is_shown_once(
        sent in vec((0..3_u8, 0..3_u8), 0..12),
        reported in vec((0..3_u8, 0..3_u8), 0..12),
    ) {
        let namespaces = ["", "a", "default"];
        let make = |(name, namespace): (u8, u8)| {
            object("v1", "Service", namespaces[usize::from(namespace)], &format!("s{name}"))
        };
        let sent: Vec<_> = sent.into_iter().map(|one| Expected::new(make(one), None)).collect();
        let reported: Vec<_> = reported.into_iter().map(make).collect();
        let (sent_count, reported_count) = (sent.len(), reported.len());
        let view = view(sent, reported);

        let (of_sent, extra) = view.resources().split_at(sent_count);
        prop_assert!(of_sent.iter().all(ResourceView::is_sent));
        prop_assert!(extra.iter().all(|one| !one.is_sent() && one.gvk == core("Service")));
        let found = of_sent.iter().filter_map(|one| one.object.as_ref());
        let mut places: Vec<_> = found.map(|one| one.json.as_ptr()).collect();
        places.sort_unstable();
        places.dedup();
        prop_assert_eq!(places.len() + extra.len(), reported_count);
    }
}

/// State and reason of one expected resource that is not among the objects of this report.
fn absent(expected: Expected, status: &str) -> (String, String) {
    let bundle = kindsight_model::decode_status("7-sink".parse().unwrap(), status.as_bytes());
    let bundle = bundle.unwrap();
    let mut input = input("edge01", vec![expected]);
    input.reported = Some(Reported {
        rejected: bundle.rejected.into(),
        coverage: bundle.coverage,
        ..Reported::default()
    });
    let view = project(input, None, NOW_MS);
    let verdict = &view.resources()[0].verdict;
    (verdict.state.to_string(), verdict.reason.to_string())
}

#[test]
fn what_the_report_does_not_cover_is_unknown_and_not_absent() {
    let check = |expected: Expected, status: &str, state: &str, reason: &str| {
        let found = absent(expected, status);
        assert_eq!((&*found.0, &*found.1), (state, reason), "{status}");
    };
    let network = || expected("k8s.plugin.opnfv.org/v1alpha1", "Network", "net");
    check(network(), "{}", "Unknown", "NotReported");
    check(
        network(),
        r#"{"resourceStatuses":[]}"#,
        "NotPresent",
        "NotInReport",
    );
    check(
        expected("v1", "Service", "s"),
        "{}",
        "NotPresent",
        "NotInReport",
    );
    let unreadable = r#"{"serviceStatuses":7}"#;
    check(
        expected("v1", "Service", "s"),
        unreadable,
        "Unknown",
        "Unreadable",
    );
    let without_manifest = |kind| Expected::without_manifest("x", kind, None);
    check(
        without_manifest("Service"),
        "{}",
        "NotPresent",
        "NotInReport",
    );
    check(without_manifest("Network"), "{}", "Unknown", "NotReported");
    // It was deleted, and no report would ever say so.
    let mut deleted = network();
    deleted.rsync = Some(RsyncStatus::Deleted);
    check(deleted, "{}", "NotPresent", "Deleted");
}

#[test]
fn a_resource_whose_item_cannot_be_read_is_unknown_with_the_reason() {
    let item = r#"{"resourceStatuses":[
        {"group":"x.org","version":"v1","kind":"Thing","name":"one","namespace":"a","res":"?"}]}"#;
    let thing = |name: &str| expected("x.org/v1", "Thing", name);
    let (state, reason) = absent(thing("one"), item);
    assert_eq!((&*state, &*reason), ("Unknown", "Unreadable"));
    for other in [thing("two"), expected("y.org/v1", "Thing", "one"), {
        let mut elsewhere = thing("one");
        elsewhere.namespace = "b".into();
        elsewhere
    }] {
        assert_eq!(absent(other, item).1, "NotInReport");
    }
}
