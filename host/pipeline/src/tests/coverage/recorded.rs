//! Kinds that a cluster does not report, of apps of `AppContext`s that it is watched for.

use std::sync::Arc;

use kindsight_appcontext::{AppContexts, NewResource, ResourceName};
use kindsight_clusters::ClusterEvent;
use kindsight_model::{Coverage, KindCoverage, KindState, Object, Origin, Report, Scope, Subject};
use serde_json::json;

use crate::Event;
use crate::tests::found::deployment;
use crate::tests::stage::{Stage, context};

/// Context 7, which sends the Deployment `front`.
fn sent() -> Stage {
    let mut stage = Stage::new(&[]);
    let mut new = context(&["a"]);
    let manifest = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "front", "namespace": "web"}});
    new.apps[0].clusters[0].resources = vec![NewResource {
        resource: ResourceName::new("front", "Deployment").unwrap(),
        manifest: manifest.to_string(),
    }];
    let contexts = AppContexts::new(Arc::clone(&stage.store));
    contexts.create_as(&"7".parse().unwrap(), &new).unwrap();
    stage.resync(0);
    stage.pipeline.expect_cluster(&"p+c".parse().unwrap(), 0);
    stage
}

/// The cluster reports these objects, with this state of Deployments.
fn reports(stage: &mut Stage, state: KindState, objects: Vec<Object>, now_ms: i64) {
    let mut coverage = Coverage::nothing();
    let found = KindCoverage::caused(state, "cause");
    coverage.set("apps", "Deployment", Scope::Cluster, found);
    let cluster = || "p+c".parse().unwrap();
    let covered = ClusterEvent::Coverage {
        cluster: cluster(),
        coverage: coverage.clone(),
    };
    let report = Report {
        objects: objects.into(),
        coverage,
        ..Report::empty(Origin::Direct)
    };
    let reported = ClusterEvent::Reports {
        cluster: cluster(),
        reports: vec![(Subject::Deployment("7-a".parse().unwrap()), report)],
        missing: Vec::new(),
    };
    for event in [covered, reported] {
        stage.pipeline.handle(Event::Cluster(event), now_ms);
    }
}

/// State and reason of the resource, and whether it is stale.
fn shown(stage: &Stage) -> (String, String, bool) {
    let view = stage.view("7");
    let view = &view.apps[0].clusters()[0];
    let verdict = &view.resources().first().unwrap().verdict;
    let is_stale = view.report().stale().is_some();
    (
        verdict.state.to_string(),
        verdict.reason.to_string(),
        is_stale,
    )
}

#[test]
fn the_state_of_its_kind_decides_about_a_resource_that_was_sent_and_is_not_reported() {
    let late = 100_000;
    for (state, known, never, is_stale) in [
        (KindState::Complete, "NotPresent", "NotPresent", [false; 2]),
        (KindState::Selected, "Unknown", "Unknown", [false; 2]),
        (KindState::Incomplete, "Unknown", "Unknown", [false; 2]),
        (KindState::Forbidden, "Unknown", "Unknown", [false; 2]),
        (KindState::NotListable, "Unknown", "Unknown", [false; 2]),
        (KindState::NotRequested, "Unknown", "Unknown", [false; 2]),
        (KindState::Listing, "Ready", "Unknown", [true; 2]),
        (KindState::Unavailable, "Ready", "Unknown", [true; 2]),
    ] {
        let mut stage = sent();
        reports(&mut stage, state, Vec::new(), late);
        let (told, _, stale) = shown(&stage);
        assert_eq!((&*told, stale), (never, is_stale[1]), "{state}");
        reports(
            &mut stage,
            KindState::Complete,
            vec![deployment("front")],
            late,
        );
        assert_eq!(shown(&stage).0, "Ready");
        reports(&mut stage, state, Vec::new(), late);
        let (told, _, stale) = shown(&stage);
        assert_eq!((&*told, stale), (known, is_stale[0]), "{state}");
    }
}

#[test]
fn an_object_of_a_kind_that_is_forbidden_is_unknown_although_it_is_reported() {
    let mut stage = sent();
    let front = || vec![deployment("front")];
    reports(&mut stage, KindState::Complete, front(), 1000);
    assert_eq!(shown(&stage).0, "Ready");
    reports(&mut stage, KindState::Forbidden, front(), 2000);
    let (state, reason, is_stale) = shown(&stage);
    assert_eq!(
        (&*state, &*reason, is_stale),
        ("Unknown", "NotReported", false)
    );
    reports(&mut stage, KindState::Complete, front(), 3000);
    assert_eq!(shown(&stage).0, "Ready");
}
