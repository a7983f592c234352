//! Inventories that list resources of another cluster than their own, passed on between the sources of clusters.
//!
//! Argo CD names the other cluster by the address of its API server, or by a name. The address must be the address that
//! kindsight uses, and the name must be the name or the context of exactly one watched cluster. Flux names a Secret or a
//! ConfigMap with a kubeconfig, which kindsight does not read. Its name must be such a name, or the configuration of one
//! watched cluster must have it.

mod directory;
mod kubeconfig_ref;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_cluster_index::{OutgoingInventories, RemoteInventory, UncomparedInventories};
use kindsight_model::ClusterName;
use tokio::sync::watch;

use directory::Directory;
pub(crate) use directory::Endpoint;
pub use kubeconfig_ref::{KubeconfigRef, KubeconfigRefError};

/// The inventories of all watched clusters that list resources of other clusters. Clones share the inventories.
#[derive(Debug, Clone, Default)]
pub struct RemoteInventories(Arc<watch::Sender<Exchange>>);

/// Inventories for one cluster, each with its own cluster.
type Received = Arc<[(Arc<ClusterName>, RemoteInventory)]>;

/// The inventories of each cluster, and their destinations.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    entered: BTreeMap<Arc<ClusterName>, Entered>,
    /// The inventories that list resources of each cluster.
    received: BTreeMap<Arc<ClusterName>, Received>,
    uncompared: Arc<UncomparedInventories>,
}

/// One watched cluster.
#[derive(Debug, Default)]
struct Entered {
    /// None before the first session: the inventories are restored ones.
    endpoint: Option<Endpoint>,
    inventories: Arc<[RemoteInventory]>,
    /// The objects with inventories of the last-known state whose Kinds were not read since the start.
    restored: BTreeSet<Arc<str>>,
}

impl Entered {
    /// A cluster with inventories of the last-known state.
    fn restored(inventories: Vec<RemoteInventory>) -> Self {
        let objects = inventories.iter();
        let objects = objects.map(|inventory| Arc::clone(inventory.object()));
        Self {
            endpoint: None,
            restored: objects.collect(),
            inventories: inventories.into(),
        }
    }

    /// Replaces the inventories. A restored inventory remains while its Kind cannot be read.
    fn replace(&mut self, outgoing: &OutgoingInventories) {
        for inventory in &*outgoing.inventories {
            self.restored.remove(inventory.object());
        }
        self.keep_restored(&outgoing.inventories, |inventory| {
            outgoing.unread.contains(inventory.kind())
        });
    }

    /// Replaces the inventories, and keeps the restored ones to which a condition applies.
    fn keep_restored(
        &mut self,
        others: &[RemoteInventory],
        is_kept: impl Fn(&RemoteInventory) -> bool,
    ) {
        let restored = self.inventories.iter();
        let restored = restored
            .filter(|inventory| self.restored.contains(inventory.object()) && is_kept(inventory));
        let restored: Vec<RemoteInventory> = restored.cloned().collect();
        let objects = restored
            .iter()
            .map(|inventory| Arc::clone(inventory.object()));
        self.restored = objects.collect();
        self.inventories = others.iter().cloned().chain(restored).collect();
    }
}

impl Exchange {
    /// The inventories that list resources of a cluster.
    pub(crate) fn received(&self, cluster: &ClusterName) -> Received {
        self.received.get(cluster).cloned().unwrap_or_default()
    }

    /// The inventories that are compared with no cluster.
    pub(crate) fn uncompared(&self) -> &Arc<UncomparedInventories> {
        &self.uncompared
    }

    /// Finds the cluster of each inventory again, after a change. Returns whether the result changed.
    fn resolve(&mut self) -> bool {
        let endpoints = self.entered.iter();
        let endpoints =
            endpoints.filter_map(|(name, cluster)| Some((name, cluster.endpoint.as_ref()?)));
        let directory = Directory::of(endpoints);
        let mut received: BTreeMap<Arc<ClusterName>, Vec<_>> = BTreeMap::new();
        let mut uncompared = UncomparedInventories::new();
        for (own, entered) in &self.entered {
            for inventory in &*entered.inventories {
                match directory.find(inventory.destination(), own) {
                    Ok(cluster) => {
                        let received = received.entry(Arc::clone(cluster)).or_default();
                        received.push((Arc::clone(own), inventory.clone()));
                    }
                    Err(why) => {
                        let text = inventory.text(own);
                        let fault = format!(
                            "{text} is not compared with its cluster: {why}; missing resources may be unknown"
                        );
                        let application = inventory.application().clone();
                        uncompared
                            .entry(application)
                            .or_default()
                            .push(fault.into());
                    }
                }
            }
        }
        let received = received.into_iter();
        let received = received.map(|(cluster, all)| (cluster, all.into()));
        let received: BTreeMap<Arc<ClusterName>, Received> = received.collect();
        let is_changed = received != self.received || uncompared != *self.uncompared;
        self.received = received;
        if uncompared != *self.uncompared {
            self.uncompared = Arc::new(uncompared);
        }
        is_changed
    }

    /// Applies a change. Returns whether the cluster of an inventory changed.
    fn change(&mut self, change: impl FnOnce(&mut BTreeMap<Arc<ClusterName>, Entered>)) -> bool {
        change(&mut self.entered);
        self.resolve()
    }
}

impl RemoteInventories {
    /// Enters a cluster that is watched now.
    pub(crate) fn enter(&self, cluster: &ClusterName, endpoint: Endpoint) -> EnteredCluster {
        let cluster = Arc::new(cluster.clone());
        self.change(|clusters| {
            let entered = clusters.entry(Arc::clone(&cluster)).or_default();
            entered.endpoint = Some(endpoint);
        });
        EnteredCluster {
            all: self.clone(),
            cluster,
        }
    }

    /// Restores inventories of clusters from the last-known state. The inventories of a cluster count until the cluster
    /// was read. To be called once, before the sources of clusters begin.
    pub fn restore(&self, inventories: BTreeMap<Arc<ClusterName>, Vec<RemoteInventory>>) {
        self.change(|clusters| {
            let restored = inventories.into_iter();
            clusters.extend(restored.map(|(cluster, all)| (cluster, Entered::restored(all))));
        });
    }

    /// Forgets the restored inventories of a cluster that is no longer watched, or that is another cluster than before
    /// the start.
    pub fn forget_restored(&self, cluster: &ClusterName) {
        self.change(|clusters| {
            let Some(entered) = clusters.get_mut(cluster) else {
                return;
            };
            if entered.endpoint.is_none() {
                clusters.remove(cluster);
                return;
            }
            let published = entered.inventories.iter();
            let published =
                published.filter(|inventory| !entered.restored.contains(inventory.object()));
            let published: Vec<RemoteInventory> = published.cloned().collect();
            entered.keep_restored(&published, |_| false);
        });
    }

    /// The inventories of each cluster that list resources of other clusters.
    pub fn by_cluster(&self) -> BTreeMap<Arc<ClusterName>, Arc<[RemoteInventory]>> {
        let exchange = self.0.borrow();
        let entered = exchange.entered.iter();
        let all =
            entered.map(|(cluster, entry)| (Arc::clone(cluster), Arc::clone(&entry.inventories)));
        all.filter(|(_, inventories)| !inventories.is_empty())
            .collect()
    }

    /// A receiver of changes.
    pub(crate) fn subscribe(&self) -> watch::Receiver<Exchange> {
        self.0.subscribe()
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<Arc<ClusterName>, Entered>)) {
        self.0.send_if_modified(|exchange| exchange.change(change));
    }
}

/// A watched cluster, entered until this value is dropped.
#[derive(Debug)]
pub(crate) struct EnteredCluster {
    all: RemoteInventories,
    cluster: Arc<ClusterName>,
}

impl EnteredCluster {
    /// Replaces the address and the names of this cluster. Its inventories remain.
    pub(crate) fn move_to(&self, endpoint: Endpoint) {
        self.all.change(|clusters| {
            if let Some(entered) = clusters.get_mut(&self.cluster) {
                entered.endpoint = Some(endpoint);
            }
        });
    }

    /// Replaces the inventories of this cluster for other clusters.
    pub(crate) fn publish(&self, outgoing: &OutgoingInventories) {
        self.all.change(|clusters| {
            if let Some(entered) = clusters.get_mut(&self.cluster) {
                entered.replace(outgoing);
            }
        });
    }
}

impl Drop for EnteredCluster {
    fn drop(&mut self) {
        self.all.change(|clusters| {
            clusters.remove(&self.cluster);
        });
    }
}

#[cfg(test)]
mod tests;
