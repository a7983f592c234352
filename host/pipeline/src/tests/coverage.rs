//! Kinds that a cluster does not report, or does not report any more.

mod model;
mod recorded;
mod restart;

use std::time::Duration;

use kindsight_clusters::ClusterEvent;
use kindsight_model::{Coverage, KindCoverage, KindState, Scope};

use super::found::{Has, deployment, has, object, stage, synced};
use super::stage::Stage;
use crate::Event;

/// The end of the grace time of clusters that start at 0.
const GRACE_ENDS_MS: i64 = 60_000;

/// The coverage of a cluster that answers for every Kind except these, as `Kind` of the group `apps`.
fn coverage(others: &[(&str, KindState)]) -> Coverage {
    let mut coverage = Coverage::of_others(KindState::Unserved);
    let complete = ["Deployment", "ReplicaSet", "Widget"].map(|kind| (kind, KindState::Complete));
    for (kind, state) in complete.iter().chain(others) {
        let cause = match state {
            KindState::Complete => KindCoverage::new(*state),
            _ => KindCoverage::caused(*state, format!("it is {state}")),
        };
        coverage.set("apps", kind, Scope::Cluster, cause);
    }
    coverage
}

/// The coverage of cluster `p+a` changes.
fn covered(others: &[(&str, KindState)]) -> Event {
    Event::Cluster(ClusterEvent::Coverage {
        cluster: "p+a".parse().unwrap(),
        coverage: coverage(others),
    })
}

/// A Deployment that is ready, and a Widget that is not.
fn both() -> Has {
    let widget = object("Widget", "side", None, false);
    has("p+a", "front", [deployment("front"), widget])
}

/// A cluster with [`both`] and complete coverage of every Kind.
fn listed() -> Stage {
    let mut stage = stage();
    stage.pipeline.expect_cluster(&"p+a".parse().unwrap(), 0);
    stage.pipeline.handle(covered(&[]), 1000);
    stage.tell(both(), 1000);
    stage.pipeline.handle(synced("p+a"), 1000);
    assert_eq!(stage.ready(), "Pending");
    stage
}

#[test]
fn objects_of_a_kind_that_is_forbidden_are_unknown_until_it_is_allowed_again() {
    for state in [KindState::Forbidden, KindState::NotListable] {
        let mut stage = listed();
        let before = stage.lines();
        stage.pipeline.handle(covered(&[("Widget", state)]), 2000);
        let unknown = "front p+a root side Unknown NotReported 2000";
        assert_eq!(stage.lines()[1], unknown);
        assert_eq!(stage.ready(), "Unknown");
        // A new session without the right has no object of the Kind.
        stage.tell(has("p+a", "front", [deployment("front")]), 3000);
        assert_eq!(stage.lines()[1], unknown);
        assert_eq!(stage.ready(), "Unknown");
        // Nor does it go with time.
        let much_later = 1_000_000_000;
        assert_eq!(stage.pipeline.recheck(|| much_later), None);
        assert_eq!(stage.lines()[1], unknown);
        stage.tell(both(), much_later);
        stage.pipeline.handle(covered(&[]), much_later);
        assert_eq!(stage.lines()[0], before[0]);
        assert!(stage.lines()[1].starts_with("front p+a root side Pending"));
    }
}

#[test]
fn a_cluster_that_forbids_every_kind_keeps_its_applications_as_unknown() {
    let mut stage = listed();
    let forbidden = ["Deployment", "ReplicaSet", "Widget"].map(|kind| (kind, KindState::Forbidden));
    stage.pipeline.handle(covered(&forbidden), 2000);
    stage.tell(has("p+a", "front", []), 2000);
    let lines = stage.lines();
    assert_eq!(
        lines,
        [
            "front p+a root front Unknown NotReported 2000",
            "front p+a root side Unknown NotReported 2000",
        ]
    );
}

#[test]
fn objects_of_a_kind_that_does_not_answer_keep_their_verdicts_and_are_stale() {
    for state in [KindState::Unavailable, KindState::Unserved] {
        for is_still_reported in [true, false] {
            let mut stage = listed();
            let before = stage.lines();
            stage.pipeline.handle(covered(&[("Widget", state)]), 90_000);
            if !is_still_reported {
                stage.tell(has("p+a", "front", [deployment("front")]), 90_000);
            }
            let stale: Vec<String> = before.iter().map(|line| format!("{line} stale")).collect();
            assert_eq!(stage.lines(), stale, "{state} {is_still_reported}");
            assert_eq!(stage.ready(), "Pending");
            let (since, reason) = stage.whole_stale().unwrap();
            assert_eq!(since, "1970-01-01T00:01:30Z");
            assert!(
                reason.contains(&format!("Widget.apps (it is {state})")),
                "{reason}"
            );
            stage.tell(both(), 91_000);
            stage.pipeline.handle(covered(&[]), 91_000);
            assert_eq!(stage.lines(), before);
        }
    }
}

#[test]
fn objects_of_a_kind_that_is_not_served_for_ten_minutes_are_gone() {
    let mut stage = listed();
    let unserved = covered(&[("Widget", KindState::Unserved)]);
    stage.pipeline.handle(unserved, 90_000);
    stage.tell(has("p+a", "front", [deployment("front")]), 90_000);
    let removed_ms = 90_000 + 600_000;
    assert_eq!(stage.pipeline.recheck(|| 90_000), Some(removed_ms));
    assert_eq!(stage.pipeline.recheck(|| removed_ms - 1), Some(removed_ms));
    assert!(stage.lines()[1].contains("root side Pending"));
    stage.pipeline.recheck(|| removed_ms);
    assert_eq!(
        stage.lines()[1],
        format!("front p+a gone side NotPresent Gone {removed_ms}")
    );
    assert_eq!(stage.ready(), "Ready");
}

#[test]
fn a_kind_that_does_not_answer_makes_its_own_applications_stale_and_no_other() {
    let mut stage = listed();
    stage.tell(has("p+a", "base", [deployment("base")]), 1000);
    let silent = covered(&[("Widget", KindState::Unavailable)]);
    stage.pipeline.handle(silent, GRACE_ENDS_MS);
    let lines = stage.lines();
    assert!(!lines[0].ends_with("stale"), "{lines:?}");
    assert!(lines[1].ends_with("stale"), "{lines:?}");
    // Readers see that the cluster has not answered, at each application.
    let found = stage.read_model.inspect(|model| {
        let (_, found) = model.found().next().unwrap();
        found.apps[0].clusters()[0].unanswered().to_vec()
    });
    assert_eq!(found, ["p+a: Widget.apps: it is unavailable".into()]);
}

#[test]
fn every_kind_that_was_not_answered_counts_until_the_grace_time_ends() {
    let mut stage = stage();
    stage.pipeline = stage
        .take_pipeline()
        .with_kind_grace(Duration::from_secs(7));
    stage.pipeline.expect_cluster(&"p+a".parse().unwrap(), 0);
    stage
        .pipeline
        .handle(covered(&[("Crane", KindState::Unavailable)]), 1000);
    stage.tell(has("p+a", "front", [deployment("front")]), 1000);
    stage.pipeline.handle(synced("p+a"), 1000);
    assert!(stage.lines()[0].ends_with("stale"));
    let cluster = "p+a".parse().unwrap();
    assert!(!stage.pipeline.is_ready(&cluster, 1000));
    assert_eq!(stage.pipeline.recheck(|| 1000), Some(7000));
    assert!(stage.lines()[0].ends_with("stale"));
    assert_eq!(stage.pipeline.recheck(|| 7000), None);
    assert!(!stage.lines()[0].ends_with("stale"));
    assert!(stage.pipeline.is_ready(&cluster, 7000));
}

#[test]
fn a_kind_that_an_interpreter_names_and_that_never_answered_counts_for_ever() {
    let mut stage = stage();
    stage.publish(&["generic", "apps"]);
    stage.follow(0);
    stage.pipeline.expect_cluster(&"p+a".parse().unwrap(), 0);
    let failed = || covered(&[("Deployment", KindState::Unavailable)]);
    stage.pipeline.handle(failed(), 1000);
    let widget = object("Widget", "side", None, true);
    stage.tell(has("p+a", "front", [widget]), 1000);
    stage.pipeline.handle(synced("p+a"), 1000);
    stage.pipeline.recheck(|| GRACE_ENDS_MS);
    assert!(stage.lines()[0].ends_with("stale"));
    stage.pipeline.handle(covered(&[]), GRACE_ENDS_MS);
    assert!(!stage.lines()[0].ends_with("stale"));
    // Its objects are known now, and this application has none.
    stage.pipeline.handle(failed(), GRACE_ENDS_MS);
    assert!(!stage.lines()[0].ends_with("stale"));
}

#[test]
fn objects_that_lost_the_label_of_the_selector_left_and_are_not_gone() {
    let mut stage = listed();
    let selected = ["Deployment", "ReplicaSet", "Widget"].map(|kind| (kind, KindState::Selected));
    stage.pipeline.handle(covered(&selected), 2000);
    let known = stage.history(&super::found::shop()).unwrap().len();
    stage.tell(has("p+a", "front", [deployment("front")]), 3000);
    assert_eq!(stage.lines().len(), 1);
    let history = stage.history(&super::found::shop()).unwrap();
    assert_eq!(
        history[..history.len() - known],
        ["03Z - Pending > Ready -", "03Z side Pending > - -"]
    );
}
