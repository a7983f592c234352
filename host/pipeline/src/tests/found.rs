//! Applications without a record: they exist as long as clusters report objects of them.

mod deletion;
mod gone;
mod history;
mod inventories;
mod pace;
mod reports;
mod restart;

use std::sync::Arc;

use kindsight_clusters::ClusterEvent;
use kindsight_model::{ClusterFacts, Coverage, Gvk, Object, Rejected, RejectedIdentity};
use kindsight_read_model::Changed;
use kindsight_status::{ApplicationKey, ChangedSubject, ConnectionState, Report};
use proptest::collection::vec;
use proptest::prelude::*;

use super::stage::{Stage, deployments};
use crate::Event;
use reports::{GONE_FOR_MS, removed};
pub(super) use reports::{Has, deployment, has, object, shop, stage, stale, synced};

#[tokio::test]
async fn what_a_cluster_has_is_judged_shown_and_told_once_a_report() {
    let mut stage = stage();
    assert_eq!(stage.shop(), None);
    let ((), mut changes) = stage.read_model.subscribe(|_| ());
    stage.tell(has("p+b", "front", [deployment("front")]), 1000);
    stage.tell(has("p+a", "front", [deployment("front")]), 1100);
    stage.tell(
        has("p+a", "back", [object("Deployment", "back", None, false)]),
        1200,
    );
    let lines = stage.lines();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(
        lines[0].starts_with("back p+a root back Pending"),
        "{lines:?}"
    );
    assert!(
        lines[1].starts_with("front p+a root front Ready"),
        "{lines:?}"
    );
    assert!(lines[2].ends_with("1000") && lines[2].starts_with("front p+b"));
    assert_eq!(stage.ready(), "Pending");
    for generation in 1..=3 {
        let subject = ChangedSubject::Application(ApplicationKey::Found(shop()));
        let told = Changed {
            generation,
            subject,
        };
        assert_eq!(changes.next().await, Ok(told));
    }
    // The app recovers: its state is new, and the other states do not change.
    stage.tell(has("p+a", "back", [deployment("back")]), 2000);
    assert!(stage.lines()[0].ends_with("2000"));
    assert!(stage.lines()[1].ends_with("1100"));
    assert_eq!(stage.ready(), "Ready");
}

#[test]
fn children_and_hooks_are_listed_and_do_not_decide() {
    let mut stage = stage();
    let mut front = has(
        "p+a",
        "front",
        [
            deployment("front"),
            object("ReplicaSet", "front-1", Some("front"), false),
            object("Deployment", "migrate", None, false),
        ],
    );
    front.hooks = [2].into();
    stage.tell(front, 1000);
    let lines = stage.lines();
    assert!(lines[1].contains("child front-1 Pending"), "{lines:?}");
    assert!(lines[2].contains("hook migrate Pending"), "{lines:?}");
    assert_eq!(stage.ready(), "Ready");
}

#[test]
fn a_cluster_that_is_removed_takes_what_was_found_there_and_leaves_what_was_recorded() {
    let mut stage = Stage::new(&[("1", &["a"])]);
    stage.hear("1", "a", &deployments(1), 1000);
    stage.tell(has("p+c", "front", [deployment("front")]), 1000);
    stage.tell(has("p+d", "front", [deployment("front")]), 1000);
    stage.pipeline.handle(stale("p+c"), 1500);
    stage.pipeline.handle(removed("p+c"), 2000);
    let lines = stage.lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("front p+d"));
    assert_eq!(stage.states("1", "a"), [("Ready".into(), 1)]);
    let view = stage.view("1");
    let cause = view.apps[0].clusters()[0].report().stale().unwrap();
    assert_eq!(cause.since_ms, 1500);
    assert!(cause.reason.contains("no longer configured"), "{cause:?}");
    stage.pipeline.handle(removed("p+d"), 3000);
    assert_eq!(stage.shop(), None);
    stage.hear("1", "a", &deployments(2), 4000);
    assert_eq!(stage.view("1").apps[0].clusters()[0].report().stale(), None);
}

#[test]
fn what_was_recorded_stays_although_nothing_was_reported_on_it() {
    let mut stage = Stage::new(&[("1", &["a"])]);
    stage.tell(has("p+c", "front", [deployment("front")]), 1000);
    stage.tell(has("p+c", "front", []), 1000);
    stage.pipeline.handle(synced("p+c"), 2000);
    let much_later = 1_000_000_000;
    assert_eq!(stage.pipeline.recheck(|| much_later), None);
    assert_eq!(stage.shop(), None);
    assert_eq!(
        *stage.view("1").apps[0].clusters()[0].report(),
        Report::NotYet
    );
    stage.hear("1", "a", &deployments(1), much_later);
    assert_eq!(stage.states("1", "a"), [("Ready".into(), 1)]);
}

#[test]
fn what_is_missing_from_a_kind_that_nobody_reports_on_is_unknown_and_not_gone() {
    let mut stage = stage();
    let widget = object("Widget", "side", None, true);
    stage.tell(has("p+a", "front", [deployment("front"), widget]), 1000);
    let mut partial = has("p+a", "front", [deployment("front")]);
    partial.coverage = Some(Coverage::nothing());
    stage.tell(partial, 2000);
    assert_eq!(
        stage.lines()[1],
        "front p+a root side Unknown NotReported 2000"
    );
    assert_eq!(stage.ready(), "Unknown");
    assert_eq!(stage.pipeline.recheck(|| 2000 + GONE_FOR_MS), None);
    assert_eq!(stage.lines().len(), 2);
    // Covered again, it is known to be gone since now.
    stage.tell(has("p+a", "front", [deployment("front")]), 50_000);
    assert_eq!(
        stage.lines()[1],
        "front p+a gone side NotPresent Gone 50000"
    );
}

#[test]
fn an_object_that_cannot_be_read_is_unknown_and_not_gone() {
    let mut stage = stage();
    stage.tell(has("p+a", "front", [deployment("front")]), 1000);
    let mut unreadable = has("p+a", "front", []);
    unreadable.rejected = vec![Rejected {
        pointer: "Deployment web/front".to_owned(),
        error: Object::from_json("{}".to_owned()).unwrap_err(),
        identity: Some(RejectedIdentity {
            gvk: Gvk::new("apps", "v1", "Deployment"),
            namespace: "web".into(),
            name: "front".into(),
        }),
    }];
    stage.tell(unreadable, 2000);
    assert_eq!(
        stage.lines(),
        ["front p+a root front Unknown Unreadable 2000"]
    );
}

#[test]
fn what_was_found_follows_swaps_and_is_in_the_inventory() {
    let mut stage = stage();
    stage.tell(
        has("p+a", "front", [deployment("front"), deployment("side")]),
        1000,
    );
    stage.tell(has("p+a", "front", [deployment("front")]), 2000);
    let reported = stage.pipeline.reported_objects();
    let held = reported
        .iter()
        .map(|view| (view.placement.as_str(), view.objects.len()));
    assert_eq!(held.collect::<Vec<_>>(), [("-/shop/-/web/front/p+a", 1)]);
    let by = |stage: &Stage| {
        let found = stage.read_model.application(&ApplicationKey::Found(shop()));
        let found = found.unwrap();
        let by = found.apps[0].clusters()[0]
            .resources()
            .first()
            .unwrap()
            .verdict
            .by
            .clone();
        by.unwrap().name.to_string()
    };
    assert_eq!(by(&stage), "generic");
    stage.publish(&["generic", "apps"]);
    assert!(stage.pipeline.swap_pending());
    stage.follow(3000);
    assert_eq!(by(&stage), "apps");
    assert_eq!(stage.lines()[1], "front p+a gone side NotPresent Gone 2000");
    assert_eq!(stage.judged_again(), 1);
}

#[test]
fn connections_tell_whether_and_since_when_a_cluster_is_heard() {
    let mut stage = stage();
    let connection = |stage: &Stage| {
        let connections = stage.read_model.inspect(|model| {
            let all = model
                .connections()
                .map(|(_, connection)| Arc::clone(connection));
            all.collect::<Vec<_>>()
        });
        let it = connections.first()?;
        Some((
            it.state,
            it.since_ms,
            it.reason.as_deref().map(str::to_owned),
        ))
    };
    let cluster = "p+a".parse().unwrap();
    stage.pipeline.expect_cluster(&cluster, 1000);
    assert_eq!(
        connection(&stage),
        Some((ConnectionState::Connecting, 1000, None))
    );
    stage.pipeline.handle(synced("p+a"), 2000);
    stage.pipeline.handle(synced("p+a"), 3000);
    assert_eq!(
        connection(&stage),
        Some((ConnectionState::Connected, 2000, None))
    );
    stage.pipeline.handle(stale("p+a"), 4000);
    stage.pipeline.handle(stale("p+a"), 5000);
    let reason = "the cluster cannot be reached: connection refused".to_owned();
    assert_eq!(
        connection(&stage),
        Some((ConnectionState::Stale, 4000, Some(reason)))
    );
    let facts = ClusterFacts {
        objects: 7,
        ..ClusterFacts::default()
    };
    let facts = Arc::new(facts);
    stage
        .pipeline
        .handle(Event::Cluster(ClusterEvent::Facts { cluster, facts }), 6000);
    let shown = stage
        .read_model
        .inspect(|model| model.connections().next().unwrap().1.facts.clone());
    let shown = shown.unwrap();
    assert_eq!(shown.objects, 7);
    stage.pipeline.handle(removed("p+a"), 7000);
    assert_eq!(connection(&stage), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Events of one app in one cluster keep their order. Events of different apps or clusters can have any order.
    #[test]
    fn the_order_of_reports_on_different_apps_does_not_matter(
        steps in vec((0..4_usize, 0..8_u8), 1..12),
        order in any::<[u8; 4]>(),
    ) {
        let places = [("p+a", "back"), ("p+a", "front"), ("p+b", "back"), ("p+b", "front")];
        let report = |(place, set): (usize, u8)| {
            let (cluster, app) = places[place];
            let names = ["x", "y", "z"].iter().enumerate();
            let names = names.filter(|(bit, _)| set >> bit & 1 == 1);
            has(cluster, app, names.map(|(_, name)| deployment(name)).collect::<Vec<_>>())
        };
        let mut mixed = steps.clone();
        // A stable sort by a key of the place alone keeps the order within each.
        mixed.sort_by_key(|(place, _)| order[*place]);
        let shown = |steps: &[(usize, u8)]| {
            let mut stage = stage();
            for step in steps {
                stage.tell(report(*step), 1000);
            }
            stage.shop()
        };
        prop_assert_eq!(shown(&steps), shown(&mixed));
    }
}
