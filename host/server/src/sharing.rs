//! Clusters that this host shares with other hosts over one etcd: this host watches the clusters that it owns.
//!
//! ```text
//! leases in the store ─▶ Sharing ─▶ sources of the owned clusters ─▶ pipeline
//!                          │  └─────▶ Ownership ─▶ pipeline: which clusters it publishes
//!                          └────────▶ owners of all clusters ─▶ pipeline
//! ```
//!
//! A host ends its sources and has their last events published before it ends a lease. So two hosts never publish
//! the same cluster at the same time. A host that was paused finds its leases expired on its own clock.

mod membership;
mod owned;
mod peers;

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_clusters::ClusterSource;
use kindsight_leases::{Digest, HostUrl, Identity, Ownership, Plan, Situation, Vacancies, Weight};
use kindsight_model::ClusterName;
use kindsight_store::{Store, chain};
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::clock::now_ms;
use crate::error::Error;
use crate::settings::{ClusterChanges, Settings};
use crate::sources::{Closed, Sources};
use crate::tasks::{Tasks, infallible};
use membership::Membership;
use owned::Owned;
pub use peers::PeerSettings;
use peers::Peers;

/// Time until a host asks again after the store refused or did not answer.
const RETRY: Duration = Duration::from_secs(1);
/// Time between two looks at the expiry of the leases and at clusters without an owner.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Time after a host joined until it takes clusters. Hosts that join together see each other first.
const JOIN_WAIT: Duration = Duration::from_secs(2);
/// Time after a host joined for which it waits for the state of the other hosts, at most. It ends before any host takes the
/// clusters that wait for their owner ([`kindsight_leases::VACANT_MAX`]).
const STATE_WAIT: Duration = Duration::from_secs(4);
/// The shortest time between two writes of one host, for each live host. All hosts together write at most 20 times a
/// second.
const WRITE_EVERY: Duration = Duration::from_millis(50);

/// The settings of a host that shares its clusters.
#[derive(Debug, Clone)]
pub struct SharingSettings {
    /// The URL at which the other hosts reach this host.
    pub url: HostUrl,
    /// The share of clusters of this host, relative to the other hosts.
    pub weight: Weight,
    /// The credentials for the other hosts.
    pub peers: PeerSettings,
}

/// The clusters that this host shares.
pub(crate) struct Sharing {
    settings: SharingSettings,
    me: Identity,
    store: Arc<dyn Store>,
    configured: BTreeMap<ClusterName, ClusterSource>,
    changes: ClusterChanges,
    owned: Owned,
    peers: Peers,
    vacancies: Vacancies,
    /// Time of the last join.
    joined_at: Instant,
    last_write: Instant,
}

/// The ownership of this host, before it owns any cluster.
pub(crate) fn ownership(settings: &SharingSettings) -> Ownership {
    Ownership::new(settings.url.id().clone(), Instant::now)
}

/// Begins to share the configured clusters.
pub(crate) fn begin(
    tasks: &Tasks,
    settings: &mut Settings,
    sources: Sources,
    (sharing, ownership): (SharingSettings, Ownership),
) {
    let clusters = std::mem::take(&mut settings.clusters);
    let fixed = || watch::Sender::new(clusters.clone()).subscribe();
    let changes = settings.cluster_changes.take().unwrap_or_else(fixed);
    let store = Arc::clone(&settings.store);
    let now = Instant::now();
    let task = Sharing {
        me: Identity {
            host: sharing.url.id().clone(),
            started_ms: now_ms(),
        },
        peers: Peers::new(sharing.peers.clone(), tasks, sources.events()),
        owned: Owned::new(sources, Arc::clone(&store), ownership),
        settings: sharing,
        store,
        configured: by_name(clusters),
        changes,
        vacancies: Vacancies::default(),
        joined_at: now,
        last_write: now,
    };
    let running = task.run(tasks.shutdown());
    tasks.spawn("sharer of clusters", infallible(running));
}

/// Refuses a URL that other hosts would not follow, and files that cannot be read.
///
/// # Errors
/// [`Error::Replica`].
pub(crate) fn check(settings: &SharingSettings) -> Result<(), Error> {
    settings.peers.upstream(&settings.url)?;
    Ok(())
}

/// Refuses clusters that hosts cannot share. The agent of a pushed cluster reports to one host, which may not own the
/// cluster.
///
/// # Errors
/// [`Error::SharedPush`].
pub(crate) fn check_shared(clusters: &[ClusterSource]) -> Result<(), Error> {
    let is_pushed = |source: &&ClusterSource| matches!(source, ClusterSource::Pushed(_));
    let pushed = clusters.iter().find(is_pushed);
    pushed.map_or(Ok(()), |source| {
        Err(Error::SharedPush(source.name().clone()))
    })
}

fn by_name(clusters: Vec<ClusterSource>) -> BTreeMap<ClusterName, ClusterSource> {
    let clusters = clusters.into_iter();
    clusters
        .map(|source| (source.name().clone(), source))
        .collect()
}

impl Sharing {
    /// Shares the clusters until the stop. Then ends the leases, so that other hosts need not wait for their end.
    async fn run(mut self, shutdown: CancellationToken) {
        // The future ends if it is cancelled or the pipeline has ended.
        let _ = shutdown.run_until_cancelled(self.share()).await;
        self.owned.end_all().await;
    }

    /// Joins the hosts again whenever the membership ends. Returns when the pipeline takes no more events.
    async fn share(&mut self) -> Result<Infallible, Closed> {
        loop {
            let names = self.names();
            let joined = Membership::join(
                Arc::clone(&self.store),
                &self.settings,
                &self.me,
                Digest::of(&names),
            );
            match joined.await {
                Ok(Some(membership)) => {
                    tracing::info!(host = %self.me.host, "this host shares its clusters");
                    self.joined_at = Instant::now();
                    self.follow(membership).await?;
                    tracing::warn!(host = %self.me.host, "the leases of this host have ended; it joins the other hosts again");
                    // The configuration may have changed since the join.
                    let names = self.names();
                    self.owned.lose_all(&names, Instant::now()).await?;
                }
                Ok(None) => {
                    tracing::info!(host = %self.me.host, "the lease of the previous process of this host has not ended; waiting");
                }
                Err(error) => {
                    let error = chain(&error);
                    tracing::warn!(
                        error,
                        "this host cannot join the hosts that share clusters; trying again"
                    );
                }
            }
            self.owned.end_long_suspended(Instant::now()).await;
            sleep(RETRY).await;
        }
    }

    /// Follows the owners, and takes and gives up clusters. Returns when the membership ends.
    async fn follow(&mut self, mut membership: Membership) -> Result<(), Closed> {
        loop {
            if !membership.is_alive(Instant::now()) {
                membership.forget();
                return Ok(());
            }
            let is_done = self.step(&mut membership).await?;
            let wait = if is_done { LOOK_EVERY } else { Duration::ZERO };
            tokio::select! {
                () = membership.next() => {}
                Ok(()) = self.changes.changed() => self.reconfigure(&mut membership).await?,
                () = sleep(wait) => {}
            }
        }
    }

    /// Does the next steps of the plan. Returns whether no step is left.
    async fn step(&mut self, membership: &mut Membership) -> Result<bool, Closed> {
        let (now, names) = (Instant::now(), self.names());
        self.owned.end_long_suspended(now).await;
        let hosts = u32::try_from(membership.table().hosts().len()).unwrap_or(u32::MAX);
        if !membership.is_announced() {
            self.pace(hosts).await;
            membership.announce().await;
        }
        self.vacancies.follow(membership.table(), &names, now);
        let mut plan = Plan::of(Situation {
            me: &self.me,
            table: membership.table(),
            configured: &names,
            held: &self.owned.names(),
            vacant: &self.vacancies.long(now),
        });
        if !self.may_take(now) {
            plan.take.clear();
        }
        if !plan.stray.is_empty() {
            self.pace(hosts).await;
            membership.remove_stray(&plan.stray).await;
        }
        if !plan.give_up.is_empty() {
            self.pace(hosts).await;
            tracing::info!(
                clusters = plan.give_up.len(),
                "clusters pass to other hosts"
            );
            self.owned.give_up(&plan.give_up, &names).await?;
        }
        let mut is_done = plan.is_empty();
        if !plan.take.is_empty() {
            self.pace(hosts).await;
            let sources = plan
                .take
                .iter()
                .filter_map(|name| self.configured.get(name));
            let taken = self
                .owned
                .take(sources.cloned().collect(), &self.me)
                .await?;
            // Another host was faster: the news will show its key.
            is_done |= !taken;
        }
        let table = membership.table();
        self.peers.follow(table, &self.me.host, now).await?;
        let refused = self.peers.refused();
        self.owned.show_owners(&names, table, refused).await?;
        Ok(is_done)
    }

    /// Returns whether this host takes clusters at a time. It waits for the other hosts that join, and for their state,
    /// which has the histories of the clusters.
    fn may_take(&self, now: Instant) -> bool {
        let since = now.saturating_duration_since(self.joined_at);
        since >= STATE_WAIT || (since >= JOIN_WAIT && !self.peers.are_awaited())
    }

    /// Waits until this host may write again.
    async fn pace(&mut self, hosts: u32) {
        let next = self.last_write + WRITE_EVERY.saturating_mul(hosts.max(1));
        sleep(next.saturating_duration_since(Instant::now())).await;
        self.last_write = Instant::now();
    }

    /// Follows a changed configuration, whose list is valid.
    async fn reconfigure(&mut self, membership: &mut Membership) -> Result<(), Closed> {
        let clusters = self.changes.borrow_and_update().clone();
        let before = std::mem::replace(&mut self.configured, by_name(clusters.clone()));
        self.owned.reconfigure(&before, &clusters).await?;
        membership.reconfigure(Digest::of(&self.names()));
        Ok(())
    }

    fn names(&self) -> BTreeSet<ClusterName> {
        self.configured.keys().cloned().collect()
    }
}

#[cfg(test)]
mod tests;
