//! Kinds that a cluster does not report since a restart.

use std::sync::Arc;

use kindsight_clusters::ClusterEvent;
use kindsight_model::{
    ClusterFacts, ClusterName, Coverage, KindCoverage, KindState, Object, Scope,
};
use serde_json::json;

use super::{both, covered};
use crate::Event;
use crate::tests::found::{deployment, has, stage, synced};
use crate::tests::stage::Stage;

/// Number of Kinds that the credentials do not allow.
const KINDS: usize = 120;

fn cluster() -> ClusterName {
    "p+a".parse().unwrap()
}

/// Objects of [`KINDS`] Kinds that have failed.
fn objects() -> Vec<Object> {
    let objects = (0..KINDS).map(|n| {
        let json = json!({"apiVersion": "example.org/v1", "kind": format!("Kind{n:03}"),
            "metadata": {"name": format!("one-{n:03}"), "namespace": "web"},
            "status": {"conditions": [{"type": "Ready", "status": "False"}]}});
        Object::from_json(json.to_string()).unwrap()
    });
    objects.collect()
}

fn states(stage: &Stage) -> Vec<&'static str> {
    let lines = stage.lines();
    let states = lines.iter().map(|line| {
        let is = |text: &str| line.contains(text);
        match (is(" gone "), is("Unknown NotReported")) {
            (true, _) => "gone",
            (false, true) => "unknown",
            (false, false) => "other",
        }
    });
    states.collect()
}

#[test]
fn no_object_of_many_forbidden_kinds_is_gone_after_a_restart() {
    let mut stage = stage();
    stage.pipeline.expect_cluster(&cluster(), 0);
    stage.tell(has("p+a", "front", objects()), 1000);
    stage.pipeline.handle(synced("p+a"), 1000);
    assert_eq!(states(&stage), ["other"; KINDS]);
    stage.restart(&["p+a"], 5000);
    let mut coverage = Coverage::nothing();
    for n in 0..KINDS {
        let forbidden = KindCoverage::caused(KindState::Forbidden, "not allowed: forbidden");
        coverage.set(
            "example.org",
            &format!("Kind{n:03}"),
            Scope::Cluster,
            forbidden,
        );
    }
    let coverage = ClusterEvent::Coverage {
        cluster: cluster(),
        coverage,
    };
    stage.pipeline.handle(Event::Cluster(coverage), 6000);
    stage.pipeline.handle(synced("p+a"), 6000);
    stage.pipeline.recheck(|| 1_000_000);
    assert_eq!(states(&stage), ["unknown"; KINDS]);
    assert_eq!(stage.ready(), "Unknown");
}

#[test]
fn objects_of_a_kind_that_does_not_answer_since_a_restart_keep_their_last_verdicts() {
    let mut stage = stage();
    stage.pipeline.expect_cluster(&cluster(), 0);
    stage.tell(both(), 1000);
    stage.pipeline.handle(synced("p+a"), 1000);
    stage.restart(&["p+a"], 90_000);
    let silent = covered(&[("Widget", KindState::Unavailable)]);
    stage.pipeline.handle(silent, 91_000);
    stage.tell(has("p+a", "front", [deployment("front")]), 91_000);
    stage.pipeline.handle(synced("p+a"), 91_000);
    let lines = stage.lines();
    assert!(lines[1].contains("root side Pending"), "{lines:?}");
    assert!(lines[1].ends_with("stale"), "{lines:?}");
    stage.pipeline.handle(covered(&[]), 200_000);
    assert_eq!(
        stage.lines()[1],
        "front p+a gone side NotPresent Gone 200000"
    );
}

#[test]
fn the_last_known_state_of_another_cluster_with_the_same_name_is_forgotten() {
    let identified = |identity: &str| {
        let facts = ClusterFacts {
            identity: Some(identity.into()),
            ..ClusterFacts::default()
        };
        Event::Cluster(ClusterEvent::Facts {
            cluster: cluster(),
            facts: Arc::new(facts),
        })
    };
    for (identity, is_kept) in [("uid-1", true), ("uid-2", false)] {
        let mut stage = stage();
        stage.pipeline.expect_cluster(&cluster(), 0);
        stage.pipeline.handle(identified("uid-1"), 500);
        stage.tell(both(), 1000);
        stage.pipeline.handle(synced("p+a"), 1000);
        stage.restart(&["p+a"], 5000);
        assert_eq!(stage.lines().len(), 2);
        stage.pipeline.handle(identified(identity), 6000);
        assert_eq!(stage.shop().is_some(), is_kept, "{identity}");
    }
}

#[test]
fn a_state_keeps_its_start_over_a_restart() {
    let forbidden = || covered(&[("Widget", KindState::Forbidden)]);
    let since_ms = |stage: &Stage| {
        let connection = stage
            .read_model
            .inspect(|snapshot| Arc::clone(snapshot.connections().next().unwrap().1));
        let coverage = connection.coverage.clone().unwrap();
        coverage.of(Some("apps"), "Widget", Scope::Cluster).since_ms
    };
    let mut stage = stage();
    stage.pipeline.expect_cluster(&cluster(), 0);
    stage.pipeline.handle(forbidden(), 1000);
    stage.pipeline.handle(synced("p+a"), 1000);
    stage.restart(&["p+a"], 5000);
    stage.pipeline.handle(forbidden(), 6000);
    assert_eq!(since_ms(&stage), Some(1000));
}
