//! Each kind of change.

use std::sync::Arc;

use kindsight_model::{Coverage, KindCoverage, KindState, Scope};
use kindsight_replication::wire::RowOp;
use kindsight_status::{AppView, ClusterView, ContextView, Report, Staleness, StoreAway};

use crate::stage::{
    EDGE, FAR, Stage, cluster, context, edge_of, filled, key, placement, resource, transition,
};

#[tokio::test(start_paused = true)]
async fn a_replica_has_the_same_content_after_each_kind_of_change() {
    let mut stage = Stage::new(filled());
    stage.follow().await;
    stage.check();
    let far = placement(FAR, vec![resource("a", "far", None)]);
    let resources = [
        // One resource changed.
        vec![resource("a", "two", None), resource("b", "one", Some(0))],
        // One was added in front of its owner.
        vec![
            resource("0", "new", Some(1)),
            resource("a", "two", None),
            resource("b", "one", Some(1)),
        ],
        // One was removed, and its child has no owner.
        vec![resource("b", "one", None)],
        Vec::new(),
    ];
    for resources in resources {
        let view = context("shop", vec![placement(EDGE, resources), Arc::clone(&far)]);
        stage
            .upstream
            .publish(&key("shop"), view, vec![transition(2)]);
        stage.follow().await;
        stage.check();
    }
    // Only the staleness changed.
    let stale = Some(Staleness {
        since_ms: 9,
        reason: "away".into(),
    });
    let edge = edge_of(stage.upstream.read_model());
    let edge = Arc::new(edge.with_report(Report::Received { stale }, vec!["fault".into()]));
    stage
        .upstream
        .publish(&key("shop"), context("shop", vec![edge]), Vec::new());
    stage.upstream.publish_store(Some(StoreAway {
        since_ms: 4,
        reason: "no answer".into(),
    }));
    stage.follow().await;
    stage.check();
    // The report lacks objects.
    let mut coverage = Coverage::nothing();
    for (kind, namespace, state) in [
        ("Pod", None, KindState::Complete),
        ("Secret", None, KindState::Forbidden),
        ("Job", Some("web"), KindState::Incomplete),
    ] {
        let scope = namespace.map_or(Scope::Cluster, Scope::Namespace);
        coverage.set("", kind, scope, KindCoverage::caused(state, "why"));
    }
    let edge = ClusterView::clone(&edge_of(stage.upstream.read_model()));
    let edge = Arc::new(edge.with_coverage(coverage));
    stage
        .upstream
        .publish(&key("shop"), context("shop", vec![edge]), Vec::new());
    stage.follow().await;
    stage.check();
    let edge = edge_of(stage.replica.read_model());
    let lacks = |kind| edge.coverage().may_lack("", kind, Some("web"));
    assert_eq!(["Pod", "Secret", "Job"].map(lacks), [false, true, true]);
    // Everything is gone.
    stage.upstream.remove(&key("shop"));
    stage.upstream.publish_connection(&cluster(EDGE), None);
    stage.upstream.publish_store(None);
    stage.follow().await;
    stage.check();
}

#[tokio::test(start_paused = true)]
async fn more_exact_times_reach_a_replica() {
    let mut stage = Stage::new(filled());
    stage.follow().await;
    let mut exact = resource("a", "one", None);
    exact.since_ms = Some(6);
    let view = context("shop", vec![placement(EDGE, vec![exact])]);
    stage.upstream.refresh(&key("shop"), view);
    stage.follow().await;
    stage.check();
}

#[tokio::test(start_paused = true)]
async fn a_replica_knows_the_instance_of_a_last_known_state() {
    let mut stage = Stage::new(filled());
    stage.follow().await;
    let edge = ClusterView::clone(&edge_of(stage.upstream.read_model()));
    let edge = Arc::new(edge.with_last_instance(Some("vfw".into())));
    stage
        .upstream
        .publish(&key("shop"), context("shop", vec![edge]), Vec::new());
    stage.follow().await;
    let edge = edge_of(stage.replica.read_model());
    assert!(edge.has_instance("vfw") && !edge.has_instance("other"));
}

#[tokio::test(start_paused = true)]
async fn a_change_of_one_resource_sends_one_resource() {
    let upstream = filled();
    let many: Vec<_> = (0..500)
        .map(|at| resource(&format!("r{at:03}"), "one", None))
        .collect();
    let mut stage = Stage::new(upstream);
    let view = context("shop", vec![placement(EDGE, many)]);
    stage.upstream.publish(&key("shop"), view, Vec::new());
    stage.follow().await;
    let edge = edge_of(stage.upstream.read_model());
    let changed = [(20, resource("r020", "two", None))].into();
    let edge = Arc::new(edge.with_resources(changed).unwrap());
    stage
        .upstream
        .publish(&key("shop"), context("shop", vec![edge]), Vec::new());
    let lines = stage.follow().await;
    let ops = lines.iter().filter_map(|line| line.placement.as_ref());
    let ops: Vec<_> = ops.flat_map(|it| it.rows.clone().unwrap().ops).collect();
    assert_eq!(ops.len(), 3, "{ops:?}");
    assert_eq!(ops[0], RowOp::Keep(0, 20));
    assert!(matches!(&ops[1], RowOp::Row(row) if row.like == Some(20)));
    assert_eq!(ops[2], RowOp::Keep(21, 479));
    stage.check();
    // The follower shares the other resources.
    let before = edge_of(stage.replica.read_model());
    let view = context("shop", vec![edge_of(stage.upstream.read_model())]);
    stage
        .upstream
        .publish(&key("shop"), view, vec![transition(3)]);
    stage.follow().await;
    let after = edge_of(stage.replica.read_model());
    assert!(after.shares_resources_with(&before));
}

/// Otherwise a change in one app costs as much as a change in all apps of the application.
#[tokio::test(start_paused = true)]
async fn apps_without_a_change_remain_the_same_values() {
    let mut stage = Stage::new(filled());
    let unchanged = placement(EDGE, vec![resource("a", "one", None)]);
    let mut shown = Vec::new();
    for content in ["one", "two"] {
        let changed = placement(EDGE, vec![resource("b", content, None)]);
        let apps = [("first", Arc::clone(&unchanged)), ("second", changed)];
        let apps = apps.map(|(name, placement)| AppView::new(name.into(), vec![placement]));
        let view = ContextView {
            apps: apps.into(),
            ..context("shop", Vec::new())
        };
        stage.upstream.publish(&key("shop"), view, Vec::new());
        stage.follow().await;
        stage.check();
        let view = stage.replica.read_model().application(&key("shop"));
        shown.push(view.unwrap());
    }
    let is_same = |at: usize| Arc::ptr_eq(&shown[0].apps[at], &shown[1].apps[at]);
    assert!(is_same(0) && !is_same(1));
}

/// Otherwise a host needs more memory for the clusters of another host than for its own.
#[tokio::test(start_paused = true)]
async fn resources_of_a_replica_share_their_texts() {
    let mut stage = Stage::new(filled());
    let resources = ["a", "b"].map(|name| resource(name, "one", None));
    let view = context("shop", vec![placement(EDGE, resources.into())]);
    stage.upstream.publish(&key("shop"), view, Vec::new());
    stage.follow().await;
    stage.check();
    let edge = edge_of(stage.replica.read_model());
    let mut rows = edge.resources().iter();
    let (a, b) = (rows.next().unwrap(), rows.next().unwrap());
    assert!(Arc::ptr_eq(&a.gvk.kind, &b.gvk.kind));
    assert!(Arc::ptr_eq(&a.namespace, &b.namespace));
    assert!(Arc::ptr_eq(&a.verdict.state, &b.verdict.state));
    let object = a.object.as_ref().unwrap();
    assert!(Arc::ptr_eq(&a.gvk.kind, &object.gvk.kind));
    assert!(Arc::ptr_eq(&a.name, &object.name));
}
