//! The clusters that this host owns, with their leases and sources.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_clusters::{ClusterEvent, ClusterSource};
use kindsight_leases::{GIVE_UP_MAX, HostId, Identity, Owner, Ownership, Table};
use kindsight_model::ClusterName;
use kindsight_rest::PEERS_MAX;
use kindsight_store::{Lease, Store, WantedLease, chain, end_leases};

use super::membership::blocking;
use crate::sources::{Closed, Sources};

/// Time after the end of its lease for which the source of a cluster continues. The store may answer again meanwhile.
const SUSPENDED_MAX: Duration = Duration::from_mins(1);

/// The owned clusters. The sources of other clusters do not run, apart from suspended ones.
pub(super) struct Owned {
    sources: Sources,
    store: Arc<dyn Store>,
    ownership: Ownership,
    leases: BTreeMap<ClusterName, Lease>,
    /// The clusters whose leases ended and whose sources continue, with the time of the end. The pipeline keeps their
    /// events.
    suspended: BTreeMap<ClusterName, Instant>,
    /// The owners of the other clusters that the pipeline shows.
    shown: BTreeMap<ClusterName, Shown>,
}

/// The owner of a cluster, as answers show it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Shown {
    /// No host owns the cluster.
    Nobody,
    /// The name of the host.
    Other(Arc<str>),
    /// The name of a host that this host does not follow.
    Refused(Arc<str>),
}

impl Shown {
    /// The owner, and the reason why its data is not current.
    fn explained(&self) -> (Option<Arc<str>>, String) {
        match self {
            Self::Nobody => {
                let reason =
                    "no host watches the cluster: its host ended, and another host takes it over";
                (None, reason.to_owned())
            }
            Self::Other(host) => {
                let reason =
                    format!("the host {host} watches the cluster, and its data has not arrived");
                (Some(Arc::clone(host)), reason)
            }
            Self::Refused(host) => {
                let reason = format!(
                    "the host {host} watches the cluster, and this host does not follow it, because it follows {PEERS_MAX} others"
                );
                (Some(Arc::clone(host)), reason)
            }
        }
    }
}

impl Owned {
    pub(super) fn new(sources: Sources, store: Arc<dyn Store>, ownership: Ownership) -> Self {
        Self {
            sources,
            store,
            ownership,
            leases: BTreeMap::new(),
            suspended: BTreeMap::new(),
            shown: BTreeMap::new(),
        }
    }

    /// The owned clusters.
    pub(super) fn names(&self) -> BTreeSet<ClusterName> {
        self.leases.keys().cloned().collect()
    }

    /// Asks for the leases of clusters and starts their sources. Returns false if another host was faster, or the store
    /// does not answer.
    pub(super) async fn take(
        &mut self,
        clusters: Vec<ClusterSource>,
        me: &Identity,
    ) -> Result<bool, Closed> {
        let wanted: Vec<WantedLease> = clusters
            .iter()
            .map(|source| WantedLease {
                name: Owner::lease_name(source.name()),
                value: me.owner_value(),
            })
            .collect();
        let store = Arc::clone(&self.store);
        let leases = match blocking(move || store.lease_all(&wanted)).await {
            Ok(Some(leases)) => leases,
            Ok(None) => return Ok(false),
            Err(error) => {
                let error = chain(&error);
                tracing::warn!(error, "clusters could not be taken over; trying again");
                return Ok(false);
            }
        };
        let mut resumed = Vec::new();
        for (source, lease) in clusters.into_iter().zip(leases) {
            let cluster = source.name().clone();
            self.ownership.grant(cluster.clone(), &lease, &self.store);
            self.leases.insert(cluster.clone(), lease);
            if self.suspended.remove(&cluster).is_some() {
                resumed.push((source, self.sources.resumed(cluster).await?));
            } else {
                self.begin(source, me).await?;
            }
        }
        let (taken, mut continued) = (self.leases.len(), 0);
        for (source, is_complete) in resumed {
            if is_complete.await.map_err(|_| Closed)? {
                self.shown.remove(source.name());
                continued += 1;
            } else {
                self.sources.end([source.name()]).await;
                self.begin(source, me).await?;
            }
        }
        tracing::info!(clusters = taken, continued, "this host owns clusters");
        Ok(true)
    }

    /// Starts the source of a cluster that this host owns.
    async fn begin(&mut self, source: ClusterSource, me: &Identity) -> Result<(), Closed> {
        if self.shown.remove(source.name()).is_some() {
            let owner = Some(Arc::clone(me.host.text()));
            let reason = "this host has taken the cluster over and is listing it".to_owned();
            self.send(source.name().clone(), owner, reason).await?;
        }
        self.sources.begin(source);
        Ok(())
    }

    /// Ends the sources of clusters, waits until their last events are published, and ends the leases.
    pub(super) async fn give_up(
        &mut self,
        clusters: &[ClusterName],
        configured: &BTreeSet<ClusterName>,
    ) -> Result<(), Closed> {
        self.sources.end(clusters).await;
        let known = clusters
            .iter()
            .filter(|cluster| configured.contains(*cluster));
        for cluster in known {
            let reason = "this host has given the cluster up to another host".to_owned();
            self.send(cluster.clone(), None, reason).await?;
            self.shown.insert(cluster.clone(), Shown::Nobody);
        }
        self.sources.handled().await?;
        let leases = clusters.iter().filter_map(|cluster| {
            self.ownership.revoke(cluster);
            self.leases.remove(cluster)
        });
        let leases: Vec<Lease> = leases.collect();
        self.end_leases(leases).await;
        Ok(())
    }

    /// Suspends the sources of all clusters, whose leases the store has ended. `configured` has all clusters. The sources
    /// continue: if no other host takes a cluster, this host need not list it again.
    pub(super) async fn lose_all(
        &mut self,
        configured: &BTreeSet<ClusterName>,
        now: Instant,
    ) -> Result<(), Closed> {
        for (cluster, lease) in std::mem::take(&mut self.leases) {
            self.ownership.revoke(&cluster);
            lease.forget();
            self.suspended.insert(cluster, now);
        }
        for cluster in configured {
            let reason =
                "this host has lost its leases, because it did not renew them in the store in time";
            self.send(cluster.clone(), None, reason.to_owned()).await?;
            self.shown.insert(cluster.clone(), Shown::Nobody);
        }
        self.sources.handled().await
    }

    /// Ends the sources that were suspended for long.
    pub(super) async fn end_long_suspended(&mut self, now: Instant) {
        let is_long = |since: &Instant| now.saturating_duration_since(*since) >= SUSPENDED_MAX;
        let suspended = self.suspended.iter();
        let long = suspended.filter(|(_, since)| is_long(since));
        let long: Vec<ClusterName> = long.map(|(cluster, _)| cluster.clone()).collect();
        self.end_suspended(&long).await;
    }

    /// Ends suspended sources. A name without one is ignored.
    async fn end_suspended(&mut self, clusters: &[ClusterName]) {
        let suspended = clusters.iter();
        let suspended: Vec<&ClusterName> = suspended
            .filter(|cluster| self.suspended.remove(*cluster).is_some())
            .collect();
        self.sources.end(suspended).await;
    }

    /// Ends everything at the stop of the server, whose shutdown ends the sources.
    pub(super) async fn end_all(&mut self) {
        let names = self.names();
        self.sources.end(&names).await;
        let mut leases = std::mem::take(&mut self.leases).into_values();
        loop {
            let some: Vec<Lease> = leases.by_ref().take(GIVE_UP_MAX).collect();
            if some.is_empty() {
                return;
            }
            self.end_leases(some).await;
        }
    }

    /// Follows a changed configuration: the sources of removed and of different clusters end. Leases of removed clusters
    /// are given up by the next plan.
    pub(super) async fn reconfigure(
        &mut self,
        before: &BTreeMap<ClusterName, ClusterSource>,
        clusters: &[ClusterSource],
    ) -> Result<(), Closed> {
        let suspended: Vec<ClusterName> = self.suspended.keys().cloned().collect();
        self.end_suspended(&suspended).await;
        for cluster in before.keys() {
            let is_configured = clusters.iter().any(|source| source.name() == cluster);
            if !is_configured
                || (self.leases.contains_key(cluster) && !self.sources.remains(cluster, clusters))
            {
                self.sources.end([cluster]).await;
                self.shown.remove(cluster);
                let cluster = cluster.clone();
                self.sources.send(ClusterEvent::Removed { cluster }).await?;
            }
        }
        for source in clusters {
            let cluster = source.name().clone();
            if self.sources.change(source) {
                continue;
            }
            if !before.contains_key(&cluster) || self.leases.contains_key(&cluster) {
                tracing::info!(%cluster, %source, "cluster added");
                let added = cluster.clone();
                self.sources
                    .send(ClusterEvent::Added { cluster: added })
                    .await?;
            }
            if self.leases.contains_key(&cluster) {
                self.sources.begin(source.clone());
            }
        }
        Ok(())
    }

    /// Has answers show the owners of the clusters that this host does not own.
    pub(super) async fn show_owners(
        &mut self,
        configured: &BTreeSet<ClusterName>,
        table: &Table,
        refused: &BTreeSet<HostId>,
    ) -> Result<(), Closed> {
        for cluster in configured {
            if self.leases.contains_key(cluster) {
                continue;
            }
            let is_other = |owner: &&Owner| {
                let process = owner.process.as_ref();
                process.is_none_or(|process| process.host != *self.ownership.host())
            };
            let owner = table.owner(cluster).filter(is_other);
            let now = owner.map_or(Shown::Nobody, |owner| {
                let host = owner.process.as_ref().map(|process| &process.host);
                let name =
                    host.map_or_else(|| "an unknown host".into(), |it| Arc::clone(it.text()));
                if host.is_some_and(|host| refused.contains(host)) {
                    Shown::Refused(name)
                } else {
                    Shown::Other(name)
                }
            });
            // A cluster without an owner at the start is still connecting.
            let known = self.shown.get(cluster);
            if known == Some(&now) || (known.is_none() && now == Shown::Nobody) {
                continue;
            }
            if now != Shown::Nobody {
                self.end_suspended(std::slice::from_ref(cluster)).await;
            }
            let (owner, reason) = now.explained();
            self.send(cluster.clone(), owner, reason).await?;
            self.shown.insert(cluster.clone(), now);
        }
        Ok(())
    }

    async fn send(
        &self,
        cluster: ClusterName,
        owner: Option<Arc<str>>,
        reason: String,
    ) -> Result<(), Closed> {
        let event = ClusterEvent::Owner {
            cluster,
            owner,
            reason,
        };
        self.sources.send(event).await
    }

    /// Ends leases in one batch. A failure is logged: the keys end with the session of this process.
    async fn end_leases(&self, leases: Vec<Lease>) {
        let store = Arc::clone(&self.store);
        if let Err(error) = blocking(move || end_leases(&*store, leases)).await {
            let error = chain(&error);
            tracing::warn!(error, "leases of clusters could not be ended at once");
        }
    }
}
