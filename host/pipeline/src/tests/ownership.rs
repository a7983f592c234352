//! Clusters that hosts share: a host publishes and stores only the reports of clusters that it owns.

mod new_source;

use std::sync::Arc;
use std::time::Instant;

use kindsight_clusters::ClusterEvent;
use kindsight_leases::Ownership;
use kindsight_model::ClusterName;
use kindsight_status::{ConnectionState, ConnectionView};
use kindsight_store::{Lease, Leased};
use tokio::sync::oneshot;

use super::shared_histories::{Link, leave};
use super::stage::{Heard, Stage};
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
