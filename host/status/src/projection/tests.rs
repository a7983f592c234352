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
fn sent_resources_precede_other_resources() {
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
    assert_eq!(
        &*view.resources().get(0).unwrap().verdict.reason,
        "NoReportYet"
    );
}

#[test]
fn an_empty_report_makes_every_resource_not_present() {
    let view = view(vec![expected("v1", "Service", "sink")], vec![]);
    assert_eq!(lines(&view), ["sent v1 Service /sink NotPresent"]);
}

#[test]
fn the_resources_of_a_view_keep_their_states_when_the_manifests_change() {
    let sent = vec![
        expected("apps/v1", "Deployment", "sink"),
        expected("v1", "Service", "sink"),
    ];
    let reported = vec![
        object("apps/v1", "Deployment", "default", "sink"),
        object("v1", "Pod", "default", "sink-1"),
    ];
    let last = view(sent, reported);
    let sent = vec![
        expected("v1", "Service", "sink"),
        expected("v1", "ConfigMap", "sink"),
    ];
    let mut next = input("edge01", sent);
    next.reported = Some(Reported::shown_by(&last, None));
    let next = project(next, Some(&last), NOW_MS);
    let expected = [
        "sent v1 Service /sink NotPresent",
        "sent v1 ConfigMap /sink Unknown",
        "extra apps/v1 Deployment default/sink Ready",
        "extra v1 Pod default/sink-1 Ready",
    ];
    assert_eq!(lines(&next), expected);
}

#[test]
fn a_deleted_resource_is_not_present_without_a_report() {
    let mut gone = expected("v1", "Service", "sink");
    gone.rsync = Some(RsyncStatus::Deleted);
    let view = project(input("edge01", vec![gone]), None, NOW_MS);
    assert_eq!(lines(&view), ["sent v1 Service /sink NotPresent"]);
    assert_eq!(&*view.resources().get(0).unwrap().verdict.reason, "Deleted");
}

#[test]
fn a_resource_that_was_not_sent_yet_is_pending() {
    let mut unsent = expected("v1", "Service", "sink");
    unsent.rsync = None;
    let view = view(vec![unsent], vec![]);
    assert_eq!(
        view.resources().get(0).unwrap().rsync,
        Some(RsyncStatus::Pending)
    );
}

#[test]
fn versions_may_differ_and_the_version_of_the_manifest_is_shown() {
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
fn objects_of_another_group_do_not_match() {
    let sent = vec![expected("serving.knative.dev/v1", "Service", "sink")];
    let reported = vec![object("v1", "Service", "default", "sink")];
    let expected = [
        "sent serving.knative.dev/v1 Service /sink NotPresent",
        "extra v1 Service default/sink Ready",
    ];
    assert_eq!(lines(&view(sent, reported)), expected);
}

#[test]
fn kinds_that_moved_out_of_extensions_match() {
    let sent = vec![expected("networking.k8s.io/v1", "Ingress", "sink")];
    let reported = vec![object("extensions/v1beta1", "Ingress", "default", "sink")];
    let expected = ["sent networking.k8s.io/v1 Ingress default/sink Ready"];
    assert_eq!(lines(&view(sent, reported)), expected);
}

#[test]
fn the_namespace_of_the_manifest_decides() {
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
fn a_fallback_never_takes_an_exact_match() {
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
fn without_a_namespace_only_a_unique_object_matches() {
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
fn an_object_without_a_namespace_matches_any_namespace() {
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
        view(vec![role.clone()], reported())
            .resources()
            .get(0)
            .unwrap()
            .object
            .is_some()
    );
    role.namespace = "default".into();
    assert!(
        view(vec![role], reported())
            .resources()
            .get(0)
            .unwrap()
            .object
            .is_some()
    );
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
fn an_unchanged_state_keeps_its_start() {
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
fn the_time_of_the_object_takes_precedence_over_the_time_of_observation() {
    let of = |since_ms: Option<i64>, previous: Option<&ClusterView>, now_ms: i64| {
        let mut input = input("edge01", Vec::new());
        let since = Verdict {
            since_ms,
            ..verdict(Phase::Ready, "", "")
        };
        let object = object("v1", "Service", "default", "a");
        report(&mut input, vec![observed(object, since)]);
        let view = project(input, previous, now_ms);
        let shown = view.resources().get(0).unwrap().since_ms;
        (view, shown)
    };
    let (first_seen, shown) = of(None, None, 50);
    assert_eq!(shown, Some(50));
    let (dated, shown) = of(Some(20), Some(&first_seen), 60);
    assert_eq!(shown, Some(20));
    let (_, shown) = of(Some(30), Some(&dated), 70);
    assert_eq!(shown, Some(30));
    // After a restart there is no previous view, and the time is the same.
    assert_eq!(of(Some(20), None, 1000).1, Some(20));
}

/// Checks the start of a Service's state in consecutive views. Each tuple has the phase, the time of the
/// object, the current time and the expected start.
fn check_since(views: &[(Phase, Option<i64>, i64, i64)]) {
    let mut previous: Option<ClusterView> = None;
    for &(phase, since_ms, now_ms, expected) in views {
        let mut input = input("edge01", Vec::new());
        let dated = Verdict {
            since_ms,
            ..verdict(phase, "", "")
        };
        let service = object("v1", "Service", "default", "a");
        report(&mut input, vec![observed(service, dated)]);
        let view = project(input, previous.as_ref(), now_ms);
        let shown = view.resources().get(0).unwrap().since_ms;
        assert_eq!(shown, Some(expected), "at {now_ms} of {views:?}");
        previous = Some(view);
    }
}

#[test]
fn an_object_time_before_the_previous_state_is_ignored() {
    // The condition was true from the beginning.
    check_since(&[
        (Phase::Ready, Some(100), 1000, 100),
        (Phase::Failed, Some(2000), 2010, 2000),
        (Phase::Ready, Some(100), 3000, 3000),
        (Phase::Ready, Some(100), 4000, 3000),
        (Phase::Ready, Some(4500), 5000, 4500),
    ]);
    // The time of a state that was not observed is used.
    check_since(&[
        (Phase::Ready, Some(100), 1000, 100),
        (Phase::Failed, Some(500), 3000, 500),
        (Phase::Pending, None, 4000, 4000),
        (Phase::Ready, Some(3990), 4010, 4010),
    ]);
}

#[test]
fn an_object_time_counts_after_a_state_from_the_host() {
    let shown = |judged: (Object, Verdict), previous: Option<&ClusterView>| {
        let mut input = input("edge01", Vec::new());
        report(&mut input, vec![judged]);
        project(input, previous, 1000)
    };
    let service = || object("v1", "Service", "default", "a");
    let unknown = Verdict::host(Phase::Unknown, "NoInterpreter", "");
    let unknown = shown((service(), unknown), None);
    let ready = Verdict {
        since_ms: Some(100),
        ..verdict(Phase::Ready, "", "")
    };
    let ready = shown(observed(service(), ready), Some(&unknown));
    assert_eq!(ready.resources().get(0).unwrap().since_ms, Some(100));
}

proptest! {
    /// Uses few names and namespaces, so that they collide often.
    #[test]
    fn every_resource_and_every_object_is_listed_once(
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

        let resources: Vec<_> = view.resources().iter().cloned().collect();
        let (of_sent, extra) = resources.split_at(sent_count);
        prop_assert!(of_sent.iter().all(ResourceView::is_sent));
        prop_assert!(extra.iter().all(|one| !one.is_sent() && one.gvk == core("Service")));
        let found = of_sent.iter().filter_map(|one| one.object.as_ref());
        let mut places: Vec<_> = found.map(|one| one.json.as_ptr()).collect();
        places.sort_unstable();
        places.dedup();
        prop_assert_eq!(places.len() + extra.len(), reported_count);
    }
}

/// State and reason of one expected resource without an object in this report.
fn absent(expected: Expected, status: &str) -> (String, String) {
    let bundle = kindsight_model::decode_status("7-sink".parse().unwrap(), status.as_bytes());
    let bundle = bundle.unwrap();
    let mut input = input("edge01", vec![expected]);
    input.reported = Some(Reported {
        rejected: bundle.report.rejected.into(),
        coverage: bundle.report.coverage,
        ..Reported::default()
    });
    let view = project(input, None, NOW_MS);
    let verdict = &view.resources().get(0).unwrap().verdict;
    (verdict.state.to_string(), verdict.reason.to_string())
}

#[test]
fn resources_outside_the_coverage_are_unknown() {
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
    // It was deleted, and no report can confirm the deletion.
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

#[test]
fn a_label_from_before_the_start_counts_while_a_resource_has_no_object() {
    let service = || object("v1", "Service", "default", "sink");
    let seen = view(Vec::new(), vec![service()]);
    let resource = ResourceView {
        object: None,
        ..seen.resources().get(0).unwrap().clone()
    };
    let unseen = Unseen {
        last: LastKnown::of(&resource),
        why: Why::Uncertain(resource.verdict.clone()),
        owner: None,
        is_hook: false,
    };
    let stale = Staleness {
        since_ms: 0,
        reason: "".into(),
    };
    let cluster = seen.cluster().clone();
    let before = ClusterView::remembered(cluster, vec![(resource, None)], stale)
        .with_last_instance(Some("vfw".into()));
    assert!(before.has_instance("vfw") && !before.has_instance("other"));
    let mut partial = input("edge01", Vec::new());
    report(&mut partial, Vec::new());
    partial.unseen = vec![unseen];
    let partial = project(partial, Some(&before), NOW_MS);
    assert!(partial.has_instance("vfw"));
    let mut complete = input("edge01", Vec::new());
    report(&mut complete, vec![ready(service())]);
    let complete = project(complete, Some(&partial), NOW_MS);
    assert!(!complete.has_instance("vfw"), "its objects have no label");
}
