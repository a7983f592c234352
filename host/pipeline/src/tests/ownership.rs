//! Clusters that hosts share: a host publishes and stores only the reports of clusters that it owns.

use std::sync::Arc;
use std::time::Instant;

use kindsight_clusters::ClusterEvent;
use kindsight_leases::Ownership;
use kindsight_model::ClusterName;
use kindsight_status::ConnectionState;
use kindsight_store::{Lease, Leased};

use super::stage::{Heard, Stage};
use crate::Event;

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
