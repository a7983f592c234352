use kindsight_contract::Coverage as RelationCoverage;

use super::*;

fn complete() -> KindCoverage {
    KindCoverage::new(KindState::Complete)
}

fn state(coverage: &Coverage, group: Option<&str>, kind: &str) -> KindState {
    coverage.of(group, kind, Scope::Namespace("web")).state
}

/// Pods and Deployments are watched.
fn watched() -> Coverage {
    let mut coverage = Coverage::nothing();
    for (group, kind) in [("", "Pod"), ("apps", "Deployment")] {
        coverage.set(group, kind, Scope::Cluster, complete());
    }
    coverage
}

#[test]
fn a_kind_is_found_by_its_group_at_any_version() {
    let coverage = watched();
    for (group, kind, expected) in [
        (Some(""), "Pod", KindState::Complete),
        (None, "Deployment", KindState::Complete),
        (Some("extensions"), "Deployment", KindState::Complete),
        (Some("x.org"), "Deployment", KindState::NotRequested),
        (Some(""), "Service", KindState::NotRequested),
    ] {
        assert_eq!(state(&coverage, group, kind), expected, "{group:?} {kind}");
    }
    assert!(!coverage.is_every_kind());
}

#[test]
fn the_least_known_of_several_groups_counts() {
    let mut coverage = watched();
    let forbidden = KindCoverage::caused(KindState::Forbidden, "no right");
    coverage.set("x.org", "Deployment", Scope::Cluster, forbidden);
    assert_eq!(state(&coverage, None, "Deployment"), KindState::Forbidden);
    assert_eq!(
        state(&coverage, Some("apps"), "Deployment"),
        KindState::Complete
    );
}

#[test]
fn the_state_of_a_namespace_does_not_apply_to_the_cluster() {
    let mut coverage = watched();
    coverage.set("", "Secret", Scope::Namespace("web"), complete());
    let of = |scope| coverage.of(Some(""), "Secret", scope);
    assert_eq!(of(Scope::Namespace("web")).state, KindState::Complete);
    let other = of(Scope::Namespace("base"));
    assert_eq!(other.state, KindState::NotRequested);
    assert_eq!(
        other.cause(),
        "the cluster is not watched in namespace base"
    );
    assert_eq!(of(Scope::Cluster).state, KindState::Incomplete);
    // A watch of the cluster covers each namespace.
    let pod = coverage.of(Some(""), "Pod", Scope::Namespace("base"));
    assert_eq!(pod.state, KindState::Complete);
}

#[test]
fn a_silent_group_affects_only_kinds_without_a_state() {
    let mut coverage = watched();
    let silent = || KindCoverage::caused(KindState::Unavailable, "it does not answer");
    coverage.set_group("x.org", silent());
    coverage.set_group("apps", silent());
    assert_eq!(
        state(&coverage, Some("x.org"), "Thing"),
        KindState::Unavailable
    );
    assert_eq!(
        state(&coverage, Some("apps"), "Deployment"),
        KindState::Complete
    );
    assert_eq!(state(&coverage, Some(""), "Thing"), KindState::NotRequested);
    let names: Vec<String> = coverage.unanswered().map(|row| row.name()).collect();
    assert_eq!(names, ["apps", "x.org"]);
}

#[test]
fn left_out_objects_make_every_kind_incomplete() {
    let mut coverage = watched();
    coverage.leave_out("objects over the limit of 7");
    let pod = coverage.of(Some(""), "Pod", Scope::Cluster);
    assert_eq!(pod.state, KindState::Incomplete);
    assert_eq!(pod.cause(), "objects over the limit of 7");
    assert_eq!(
        state(&coverage, Some(""), "Service"),
        KindState::NotRequested
    );
}

#[test]
fn the_text_for_readers_names_kind_group_namespace_and_cause() {
    let mut coverage = watched();
    let forbidden = || KindCoverage::caused(KindState::Forbidden, "not allowed: forbidden");
    coverage.set("", "Secret", Scope::Cluster, forbidden());
    coverage.set("batch", "Job", Scope::Namespace("web"), forbidden());
    coverage.set(
        "",
        "Node",
        Scope::Cluster,
        KindCoverage::new(KindState::Listing),
    );
    coverage.set_group(
        "x.org",
        KindCoverage::caused(KindState::Unavailable, "v1: it does not answer"),
    );
    coverage.leave_out("objects over the limit of 7");
    let rows = coverage.not_covered();
    let texts: Vec<String> = rows.map(|row| row.to_string()).collect();
    assert_eq!(
        texts,
        [
            "Job.batch in web: not allowed: forbidden",
            "Node: its objects are being listed",
            "Secret: not allowed: forbidden",
            "x.org: v1: it does not answer",
            "objects over the limit of 7",
        ]
    );
}

#[test]
fn a_state_keeps_its_start_time_until_it_changes() {
    let first = watched().dated(None, 1000);
    let mut next = watched();
    let forbidden = KindCoverage::caused(KindState::Forbidden, "no right");
    next.set("", "Pod", Scope::Cluster, forbidden);
    next.set("", "Secret", Scope::Namespace("web"), complete());
    let next = next.dated(Some(&first), 2000);
    let since = |kind| next.of(None, kind, Scope::Namespace("web")).since_ms;
    assert_eq!(since("Deployment"), Some(1000));
    assert_eq!(since("Pod"), Some(2000));
    assert_eq!(since("Secret"), Some(2000));
}

#[test]
fn complete_kinds_are_complete_and_every_other_kind_is_partial() {
    let coverage = Coverage::complete_for([("", "Pod"), ("x.org", "Thing")]);
    let relation = |coverage: &Coverage, group, kind| {
        let found = coverage.of(Some(group), kind, Scope::Cluster);
        found.state.for_relations()
    };
    assert_eq!(
        relation(&coverage, "x.org", "Thing"),
        RelationCoverage::Complete
    );
    assert_eq!(
        relation(&coverage, "y.org", "Thing"),
        RelationCoverage::Partial
    );
    assert_eq!(
        relation(&Coverage::partial(), "", "Pod"),
        RelationCoverage::Partial
    );
}

#[test]
fn the_worst_of_two_coverages_has_the_less_known_state_of_each_kind() {
    let mut next = watched();
    let forbidden = || KindCoverage::caused(KindState::Forbidden, "no right");
    next.set("", "Pod", Scope::Cluster, forbidden());
    next.set("", "Secret", Scope::Cluster, complete());
    let state = |coverage: &Coverage, kind| coverage.of(None, kind, Scope::Cluster).state;
    for worst in [watched().worst_of(&next), next.worst_of(&watched())] {
        assert_eq!(state(&worst, "Pod"), KindState::Forbidden);
        assert_eq!(state(&worst, "Deployment"), KindState::Complete);
        assert_eq!(state(&worst, "Secret"), KindState::NotRequested);
    }
    assert_eq!(next.worst_of(&next), next);
}

#[test]
fn a_coverage_is_complete_while_each_scope_of_each_kind_is_covered() {
    let mut coverage = Coverage::nothing();
    let mut set = |scope, state| {
        coverage.set("", "Pod", scope, KindCoverage::new(state));
        coverage.is_complete()
    };
    assert!(set(Scope::Cluster, KindState::Complete));
    assert!(!set(Scope::Namespace("a"), KindState::Forbidden));
    assert!(!set(Scope::Namespace("b"), KindState::Complete));
    assert!(!set(Scope::Namespace("a"), KindState::Unavailable));
    assert!(set(Scope::Namespace("a"), KindState::Complete));
}

#[test]
fn a_report_may_lack_objects_of_the_kinds_that_it_does_not_cover() {
    let mut coverage = watched();
    for namespace in ["web", "base"] {
        coverage.set("", "Secret", Scope::Namespace(namespace), complete());
    }
    let lacks = |coverage: &Coverage, kind, namespace| coverage.may_lack("", kind, namespace);
    assert!(
        !["Pod", "Secret", "Service"]
            .map(|kind| lacks(&coverage, kind, None))
            .contains(&true)
    );
    let forbidden = KindCoverage::new(KindState::Forbidden);
    coverage.set("", "Secret", Scope::Namespace("web"), forbidden);
    for (namespace, expected) in [(Some("web"), true), (Some("base"), false), (None, true)] {
        assert_eq!(
            lacks(&coverage, "Secret", namespace),
            expected,
            "{namespace:?}"
        );
    }
    assert!(!lacks(&coverage, "Pod", Some("web")));
    coverage.set_group("x.org", KindCoverage::new(KindState::Unavailable));
    assert!(coverage.may_lack("x.org", "Crane", Some("web")));
    assert!(!lacks(&coverage, "Pod", Some("web")));
    coverage.leave_out("too many objects");
    assert!(lacks(&coverage, "Pod", Some("web")));
    assert!(lacks(&Coverage::partial(), "Pod", None));
}

#[test]
fn each_state_says_whether_a_report_may_lack_objects() {
    let lacking = KindState::ALL
        .iter()
        .filter(|state| state.may_lack_objects());
    let lacking: Vec<KindState> = lacking.copied().collect();
    let expected = [
        KindState::Incomplete,
        KindState::Listing,
        KindState::NotListable,
        KindState::Forbidden,
        KindState::Unavailable,
    ];
    assert_eq!(lacking, expected);
}
