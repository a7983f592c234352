//! Clusters that hosts share: a host publishes and stores only the reports of clusters that it owns.

use std::sync::Arc;
use std::time::Instant;

use kindsight_clusters::ClusterEvent;
use kindsight_leases::Ownership;
use kindsight_model::{ClusterName, Gvk, MissingResource, MissingResources};
use kindsight_status::{ConnectionState, ConnectionView};
use kindsight_store::{Lease, Leased};
use tokio::sync::oneshot;
use tracing::{Level, Metadata, Subscriber, span};

use super::found::{deployment, has, object, shop};
use super::shared_histories::{Link, leave};
use super::stage::{Heard, Stage, context, deployments};
use crate::Event;
use crate::pipeline::withheld::WITHHELD_MAX;

fn cluster() -> ClusterName {
    "p+c".parse().unwrap()
}

fn lease(stage: &Stage) -> Lease {
    match stage.store.lease("clusters/p+c").unwrap() {
        Leased::Granted(lease) => lease,
        Leased::Held => panic!("the lease is held"),
    }
}

fn shared() -> (Stage, Ownership) {
    let mut stage = Stage::new(&[("1", &["a"])]);
    let ownership = Ownership::new("a:1".parse().unwrap(), Instant::now);
    stage.pipeline.share_clusters(ownership.clone());
    (stage, ownership)
}

/// The state of the connection, and the reason of its staleness.
fn connection(stage: &Stage) -> Option<(ConnectionState, Option<Arc<str>>)> {
    let of = cluster();
    stage.read_model.inspect(|snapshot| {
        let view = snapshot.connection(&of)?;
        Some((view.state, view.reason.clone()))
    })
}

fn count(stage: &Stage) -> usize {
    stage.said_by("1").iter().map(|(.., count)| count).sum()
}

#[test]
fn a_report_counts_only_while_this_host_owns_the_cluster() {
    let (mut stage, ownership) = shared();
    stage.own(&["1"]);
    stage.hear("1", "a", &Heard::default().config_maps(1), 1000);
    assert_eq!(count(&stage), 0, "no host owns the cluster");
    let granted = lease(&stage);
    ownership.grant(cluster(), &granted, &stage.store);
    stage.hear("1", "a", &Heard::default().config_maps(2), 2000);
    let synced = ClusterEvent::Synced { cluster: cluster() };
    stage.pipeline.handle(Event::Cluster(synced), 2000);
    assert_eq!(count(&stage), 2);
    assert_eq!(connection(&stage), Some((ConnectionState::Connected, None)));
    let stored = stage.store.range("/context/1/").unwrap();

    ownership.revoke(&cluster());
    let owner = ClusterEvent::Owner {
        cluster: cluster(),
        owner: Some("b:1".into()),
        reason: "the host b:1 watches the cluster".to_owned(),
    };
    stage.pipeline.handle(Event::Cluster(owner), 3000);
    stage.hear("1", "a", &Heard::default().config_maps(3), 4000);
    assert_eq!(count(&stage), 2, "the last known state is shown");
    let reason = Some("the host b:1 watches the cluster".into());
    assert_eq!(connection(&stage), Some((ConnectionState::Stale, reason)));
    assert_eq!(stage.store.range("/context/1/").unwrap(), stored);
}

/// Says that the leases of this host ended.
fn lose(stage: &mut Stage, ownership: &Ownership, now_ms: i64) {
    ownership.revoke(&cluster());
    let owner = ClusterEvent::Owner {
        cluster: cluster(),
        owner: None,
        reason: "the leases have ended".to_owned(),
    };
    stage.pipeline.handle(Event::Cluster(owner), now_ms);
}

/// Says that this host has the cluster again. Returns whether its source can continue.
fn resume(stage: &mut Stage, now_ms: i64) -> bool {
    let (complete, mut answer) = oneshot::channel();
    let cluster = cluster();
    let event = Event::Resumed { cluster, complete };
    stage.pipeline.handle(event, now_ms);
    answer.try_recv().unwrap()
}

#[test]
fn reports_wait_while_no_host_owns_the_cluster_and_count_if_this_host_owns_it_again() {
    let (mut stage, ownership) = shared();
    stage.own(&["1"]);
    ownership.grant(cluster(), &lease(&stage), &stage.store);
    stage.hear("1", "a", &Heard::default().config_maps(1), 1000);
    let synced = ClusterEvent::Synced { cluster: cluster() };
    stage.pipeline.handle(Event::Cluster(synced), 1000);

    lose(&mut stage, &ownership, 2000);
    stage.hear("1", "a", &Heard::default().config_maps(2), 3000);
    stage.hear("1", "a", &Heard::default().config_maps(3), 4000);
    assert_eq!(count(&stage), 1, "nothing is published");
    let reason = Some("the leases have ended".into());
    assert_eq!(connection(&stage), Some((ConnectionState::Stale, reason)));
    assert!(
        !resume(&mut stage, 5000),
        "the host does not own the cluster"
    );
    ownership.grant(cluster(), &lease(&stage), &stage.store);
    assert!(resume(&mut stage, 5000));
    assert_eq!(count(&stage), 3);
    assert_eq!(connection(&stage), Some((ConnectionState::Connected, None)));

    // A source that found an outage meanwhile tells it.
    lose(&mut stage, &ownership, 6000);
    let outage = ClusterEvent::Stale {
        cluster: cluster(),
        reason: "refused".to_owned(),
    };
    stage.pipeline.handle(Event::Cluster(outage), 6500);
    ownership.grant(cluster(), &lease(&stage), &stage.store);
    assert!(resume(&mut stage, 7000));
    let reason = Some("refused".into());
    assert_eq!(connection(&stage), Some((ConnectionState::Stale, reason)));
}

/// Shows the cluster under a lease with this number. The store of the tests has no numbers.
fn number(stage: &mut Stage, fence: u64, now_ms: i64) {
    let numbered = |connection: &mut ConnectionView| connection.owner.fence = fence;
    stage
        .pipeline
        .change_connection(&cluster(), now_ms, numbered);
}

fn synced(stage: &mut Stage, now_ms: i64) {
    let synced = ClusterEvent::Synced { cluster: cluster() };
    stage.pipeline.handle(Event::Cluster(synced), now_ms);
}

#[tokio::test]
async fn a_source_continues_unless_another_host_has_listed_its_cluster_meanwhile() {
    for is_listed in [false, true] {
        let (mut first, ownership) = shared();
        first.own(&["1"]);
        ownership.grant(cluster(), &lease(&first), &first.store);
        first.hear("1", "a", &Heard::default().config_maps(3), 1000);
        synced(&mut first, 1000);
        number(&mut first, 3, 1000);
        lose(&mut first, &ownership, 2000);

        let (mut between, other) = shared();
        between.own(&["1"]);
        other.grant(cluster(), &lease(&between), &between.store);
        between.hear("1", "a", &Heard::default().config_maps(4), 3000);
        if is_listed {
            synced(&mut between, 3000);
        }
        number(&mut between, 5, 3000);
        Link::from(&between).pass(&mut first, 3000).await;

        ownership.grant(cluster(), &lease(&first), &first.store);
        // An event of the source that was suspended.
        synced(&mut first, 4000);
        assert_eq!(resume(&mut first, 4000), !is_listed);
        leave(&mut first, 4000);
        let (state, _) = connection(&first).unwrap();
        if is_listed {
            assert_eq!(state, ConnectionState::Stale);
        } else {
            assert_eq!(state, ConnectionState::Connected);
            assert_eq!(count(&first), 3, "its own state is newer");
        }
    }
}

#[test]
fn a_cluster_is_listed_again_if_too_many_reports_waited_or_another_host_owned_it() {
    let (mut stage, ownership) = shared();
    ownership.grant(cluster(), &lease(&stage), &stage.store);
    stage.hear("1", "a", &Heard::default().config_maps(1), 1000);
    lose(&mut stage, &ownership, 2000);
    for at in 0..=WITHHELD_MAX {
        let now_ms = 3000 + i64::try_from(at).unwrap();
        stage.hear("1", "a", &Heard::default().config_maps(2), now_ms);
    }
    ownership.grant(cluster(), &lease(&stage), &stage.store);
    assert!(!resume(&mut stage, 9000));

    lose(&mut stage, &ownership, 10_000);
    let other = ClusterEvent::Owner {
        cluster: cluster(),
        owner: Some("b:1".into()),
        reason: "the host b:1 watches the cluster".to_owned(),
    };
    stage.pipeline.handle(Event::Cluster(other), 10_500);
    stage.hear("1", "a", &Heard::default().config_maps(3), 11_000);
    ownership.grant(cluster(), &lease(&stage), &stage.store);
    assert!(!resume(&mut stage, 12_000));
    assert_eq!(count(&stage), 1);
}

#[test]
fn a_report_that_was_not_stored_before_the_lease_ended_is_stored_by_the_next_owner() {
    for continues in [true, false] {
        let (mut stage, ownership) = shared();
        stage.own(&["1"]);
        ownership.grant(cluster(), &lease(&stage), &stage.store);
        let stored = |stage: &Stage| stage.store.range("/context/1/").unwrap();
        let before = stored(&stage);
        let report = Heard::default().config_maps(1).event("1", "a");
        stage.pipeline.handle(report, 1000);
        lose(&mut stage, &ownership, 2000);
        stage.store_bundles();
        assert_eq!(stored(&stage), before, "this host may not write");
        if continues {
            ownership.grant(cluster(), &lease(&stage), &stage.store);
            assert!(resume(&mut stage, 3000));
        } else {
            begin_source(&mut stage, &ownership, 3000);
        }
        stage.store_bundles();
        // Another source sends the report again.
        assert_eq!(stored(&stage) != before, continues);
    }
}

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

/// The host has the cluster again, under another lease. The next event is the first one of another source.
fn begin_source(stage: &mut Stage, ownership: &Ownership, now_ms: i64) {
    ownership.grant(cluster(), &lease(stage), &stage.store);
    announce_source(stage, now_ms);
}

/// Says that another source begins.
fn announce_source(stage: &mut Stage, now_ms: i64) {
    let owner = ClusterEvent::Owner {
        cluster: cluster(),
        owner: Some("a:1".into()),
        reason: "this host is listing the cluster".to_owned(),
    };
    stage.pipeline.handle(Event::Cluster(owner), now_ms);
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
