//! A source that begins again under a new lease has no memory.

use kindsight_model::{Gvk, MissingResource, MissingResources};
use tracing::{Level, Metadata, Subscriber, span};

use super::*;
use crate::tests::found::{deployment, has, object, shop};
use crate::tests::stage::{context, deployments};

/// A host that has listed the cluster under a lease, and has lost the lease.
fn lost(report: impl FnOnce(&mut Stage)) -> (Stage, Ownership) {
    let (mut stage, ownership) = shared();
    ownership.grant(cluster(), &lease(&stage), &stage.store);
    report(&mut stage);
    synced(&mut stage, 1000);
    number(&mut stage, 3, 1000);
    lose(&mut stage, &ownership, 2000);
    (stage, ownership)
}

#[test]
fn an_application_that_was_deleted_while_no_source_watched_is_gone_after_the_next_list() {
    for waiting in [0, WITHHELD_MAX + 1] {
        let (mut stage, ownership) = lost(|stage| {
            for app in ["back", "front"] {
                stage.tell(has("p+c", app, [deployment(app)]), 1000);
            }
        });
        for _ in 0..waiting {
            stage.hear("1", "a", &Heard::default(), 2500);
        }
        if waiting > 0 {
            ownership.grant(cluster(), &lease(&stage), &stage.store);
            assert!(!resume(&mut stage, 2500));
        }
        begin_source(&mut stage, &ownership, 3000);
        stage.tell(has("p+c", "back", [deployment("back")]), 3500);
        let lines = stage.lines();
        assert!(lines[1].contains("root front Ready"), "{lines:?}");
        assert!(lines[1].ends_with("stale"), "{lines:?}");
        synced(&mut stage, 4000);
        let lines = stage.lines();
        assert!(lines[0].starts_with("back p+c root back Ready"));
        assert!(lines[0].ends_with("1000"), "{lines:?}");
        assert_eq!(lines[1], "front p+c gone front NotPresent Gone 4000");
    }
}

#[test]
fn what_was_deleted_is_gone_although_the_lease_of_the_next_source_ended_before_its_first_event() {
    let (mut stage, ownership) =
        lost(|stage| stage.tell(has("p+c", "front", [deployment("front")]), 1000));
    announce_source(&mut stage, 3000);
    synced(&mut stage, 3500);
    ownership.grant(cluster(), &lease(&stage), &stage.store);
    assert!(resume(&mut stage, 4000));
    assert_eq!(stage.lines(), ["front p+c gone front NotPresent Gone 4000"]);
}

/// Ends the lease of the cluster at the first warning in the log.
struct EndsLease(Ownership);

impl Subscriber for EndsLease {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::WARN
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, _: &tracing::Event<'_>) {
        self.0.revoke(&cluster());
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[test]
fn a_cluster_is_listed_again_if_its_lease_ends_while_the_events_that_waited_are_used() {
    let (mut stage, ownership) =
        lost(|stage| stage.hear("1", "a", &Heard::default().config_maps(1), 1000));
    let logged = ClusterEvent::Unreadable {
        cluster: cluster(),
        deployment: None,
        may_be_newer: false,
        origin: "x.json".to_owned(),
        error: "bad".to_owned(),
    };
    stage.pipeline.handle(Event::Cluster(logged), 3000);
    stage.hear("1", "a", &Heard::default().config_maps(2), 3000);
    ownership.grant(cluster(), &lease(&stage), &stage.store);
    let ends_lease = EndsLease(ownership.clone());
    let is_complete = tracing::subscriber::with_default(ends_lease, || resume(&mut stage, 4000));
    assert!(!is_complete, "the last report was not used");
    let (state, _) = connection(&stage).unwrap();
    assert_eq!(state, ConnectionState::Stale);
    begin_source(&mut stage, &ownership, 5000);
    synced(&mut stage, 6000);
    assert_eq!(connection(&stage), Some((ConnectionState::Connected, None)));
}

#[test]
fn what_the_next_source_does_not_send_again_of_a_recorded_application_is_out_of_date() {
    let (mut stage, ownership) = lost(|stage| {
        stage.hear("1", "a", &deployments(1), 1000);
        let faults = ClusterEvent::Faults {
            cluster: cluster(),
            faults: vec!["report `x.json`: bad".to_owned()],
        };
        stage.pipeline.handle(Event::Cluster(faults), 1000);
    });
    let stale = |stage: &Stage| {
        let view = stage.view("1");
        let stale = view.apps[0].clusters()[0].report().stale();
        stale.map(|stale| stale.reason.to_string())
    };
    begin_source(&mut stage, &ownership, 3000);
    synced(&mut stage, 4000);
    let reason = stale(&stage).unwrap();
    assert!(reason.contains("no longer reports"), "{reason}");
    let view = stage.view("1");
    assert!(view.apps[0].clusters()[0].cluster_faults().is_empty());
    stage.hear("1", "a", &deployments(1), 5000);
    assert_eq!(stale(&stage), None);
    assert_eq!(stage.since("1"), [1000]);
}

#[test]
fn missing_resources_that_the_next_source_does_not_send_again_are_not_missing() {
    let (mut stage, ownership) = lost(|stage| {
        let front = MissingResource {
            gvk: Gvk::new("apps", "v1", "Deployment"),
            namespace: "web".into(),
            name: "front".into(),
            inventory: "Application argocd/shop".into(),
        };
        let event = ClusterEvent::Reports {
            cluster: cluster(),
            reports: Vec::new(),
            missing: vec![MissingResources {
                application: shop(),
                resources: vec![front],
            }],
        };
        stage.pipeline.handle(Event::Cluster(event), 1000);
    });
    let lines = stage.lines();
    assert!(lines[0].contains(" missing front "), "{lines:?}");
    begin_source(&mut stage, &ownership, 3000);
    synced(&mut stage, 4000);
    let lines = stage.lines();
    assert!(!lines.concat().contains(" missing "), "{lines:?}");
}

#[test]
fn a_report_that_waits_for_its_context_is_forgotten_when_another_source_begins() {
    let (mut stage, ownership) = lost(|stage| stage.hear("7", "a", &deployments(1), 1000));
    begin_source(&mut stage, &ownership, 3000);
    synced(&mut stage, 4000);
    let id = "7".parse().unwrap();
    stage.contexts().create_as(&id, &context(&["a"])).unwrap();
    stage.follow_stores(5000);
    assert_eq!(stage.states("7", "a"), []);
}

#[tokio::test]
async fn the_state_of_a_later_owner_counts_although_it_arrives_after_the_next_lease() {
    let (mut first, ownership) =
        lost(|stage| stage.tell(has("p+c", "front", [deployment("front")]), 1000));
    let (mut between, other) = shared();
    other.grant(cluster(), &lease(&between), &between.store);
    let broken = object("Deployment", "front", None, false);
    between.tell(has("p+c", "front", [broken]), 3000);
    synced(&mut between, 3000);
    number(&mut between, 5, 3000);

    begin_source(&mut first, &ownership, 4000);
    Link::from(&between).pass(&mut first, 4000).await;
    first.tell(has("p+c", "back", [deployment("back")]), 5000);
    leave(&mut first, 5000);
    let lines = first.lines();
    assert!(lines[1].contains("root front Pending"), "{lines:?}");
    assert!(lines[1].ends_with("stale"), "{lines:?}");
}
