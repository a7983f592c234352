//! Inventories that list resources of another cluster than their own, passed on between the sources of clusters.
//!
//! Argo CD names the other cluster by the address of its API server, or by a name. The address must be the address that
//! kindsight uses, and the name must be the name or the context of exactly one watched cluster. Flux names a kubeconfig
//! in a Secret, which kindsight does not read.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use http::Uri;
use kindsight_cluster_index::{
    Destination, OutgoingInventories, RemoteInventory, UncomparedInventories,
};
use kindsight_model::ClusterName;
use tokio::sync::watch;

/// The port of an address without a port.
const HTTPS_PORT: u16 = 443;

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

/// The address and the names of a watched cluster.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    pub(crate) server: Uri,
    pub(crate) names: BTreeSet<Arc<str>>,
}

/// The watched clusters, by their addresses and names. Several clusters may have one name.
#[derive(Default)]
struct Directory<'e> {
    by_server: HashMap<Server, BTreeSet<&'e Arc<ClusterName>>>,
    by_name: HashMap<&'e str, BTreeSet<&'e Arc<ClusterName>>>,
}

/// The parts of an address that differ if the servers differ: host, port and path.
type Server = (String, u16, String);

fn server(address: &Uri) -> Server {
    let host = address.host().unwrap_or_default().to_ascii_lowercase();
    let port = address.port_u16().unwrap_or(HTTPS_PORT);
    (host, port, address.path().trim_end_matches('/').to_owned())
}

impl<'e> Directory<'e> {
    fn of(entered: &'e BTreeMap<Arc<ClusterName>, Entered>) -> Self {
        let mut directory = Self::default();
        let endpoints = entered.iter().filter_map(|(cluster, entered)| {
            let endpoint = entered.endpoint.as_ref()?;
            Some((cluster, endpoint))
        });
        for (cluster, endpoint) in endpoints {
            let of_server = directory.by_server.entry(server(&endpoint.server));
            of_server.or_default().insert(cluster);
            for name in &endpoint.names {
                directory.by_name.entry(name).or_default().insert(cluster);
            }
        }
        directory
    }

    /// The only watched cluster that a destination names. `own` has the inventory.
    ///
    /// # Errors
    /// The reason why there is none, as text for readers.
    fn find(
        &self,
        destination: &Destination,
        own: &'e Arc<ClusterName>,
    ) -> Result<&'e Arc<ClusterName>, String> {
        let found = match destination {
            Destination::Own => return Ok(own),
            Destination::Kubeconfig => return Err(format!("its object names {destination}")),
            Destination::Server(address) => {
                let address = address.parse::<Uri>().ok();
                address.and_then(|address| self.by_server.get(&server(&address)))
            }
            Destination::Name(name) => self.by_name.get(&**name),
        };
        let mut found = found.into_iter().flatten();
        match (found.next(), found.next()) {
            (Some(cluster), None) => Ok(cluster),
            (Some(_), Some(_)) => Err(format!("several watched clusters have {destination}")),
            (None, _) => Err(format!("no watched cluster has {destination}")),
        }
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
        let directory = Directory::of(&self.entered);
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
        let all = entered.map(|(cluster, it)| (Arc::clone(cluster), Arc::clone(&it.inventories)));
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
