//! The clusters that this host owns now.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use kindsight_model::ClusterName;
use kindsight_store::{Expiry, Lease, Store};

use crate::HostId;

/// The monotonic clock of the process.
pub type OwnershipClock = fn() -> Instant;

/// The clusters that this host owns now, for the threads that publish and write. Clones share it.
///
/// A lease that was not renewed in time does not count any more, even before the host has noticed: a
/// process that was paused finds this out with its first look.
#[derive(Clone)]
pub struct Ownership {
    host: HostId,
    clock: OwnershipClock,
    held: Arc<RwLock<BTreeMap<ClusterName, Held>>>,
}

struct Held {
    number: u64,
    expiry: Expiry,
    /// The store, with the condition on each batch that the lease has not ended.
    store: Arc<dyn Store>,
}

impl Ownership {
    /// A host that owns no cluster.
    pub fn new(host: HostId, clock: OwnershipClock) -> Self {
        Self {
            host,
            clock,
            held: Arc::default(),
        }
    }

    /// The name of the host.
    pub fn host(&self) -> &HostId {
        &self.host
    }

    /// Notes that the host owns a cluster. `store` granted the lease.
    pub fn grant(&self, cluster: ClusterName, lease: &Lease, store: &Arc<dyn Store>) {
        let held = Held {
            number: lease.number(),
            expiry: lease.expiry().clone(),
            store: lease.fenced(store),
        };
        let mut all = self.held.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(cluster, held);
    }

    /// Notes that the host no longer owns a cluster.
    pub fn revoke(&self, cluster: &ClusterName) {
        let mut all = self.held.write().unwrap_or_else(PoisonError::into_inner);
        all.remove(cluster);
    }

    /// The fencing number under which the host may publish data of a cluster now; `None` if it may not.
    pub fn number(&self, cluster: &ClusterName) -> Option<u64> {
        self.with(cluster, |held| held.number)
    }

    /// The store for writes about a cluster: it refuses them after the end of the lease. `None` if the host
    /// may not write.
    pub fn store(&self, cluster: &ClusterName) -> Option<Arc<dyn Store>> {
        self.with(cluster, |held| Arc::clone(&held.store))
    }

    fn with<T>(&self, cluster: &ClusterName, read: impl FnOnce(&Held) -> T) -> Option<T> {
        let all = self.held.read().unwrap_or_else(PoisonError::into_inner);
        let held = all.get(cluster)?;
        held.expiry.is_after((self.clock)()).then(|| read(held))
    }
}

impl fmt::Debug for Ownership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.held.read().unwrap_or_else(PoisonError::into_inner);
        f.debug_set().entries(all.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use kindsight_store::{Leased, RedbStore};

    use super::*;

    #[test]
    fn a_cluster_is_owned_between_grant_and_revocation() {
        let store: Arc<dyn Store> = Arc::new(RedbStore::in_memory().unwrap());
        let Ok(Leased::Granted(lease)) = store.lease("clusters/lab+a") else {
            panic!("no lease");
        };
        let cluster: ClusterName = "lab+a".parse().unwrap();
        let ownership = Ownership::new("a:1".parse().unwrap(), Instant::now);
        assert_eq!(ownership.number(&cluster), None);
        ownership.clone().grant(cluster.clone(), &lease, &store);
        assert_eq!(ownership.number(&cluster), Some(0));
        assert!(ownership.store(&cluster).is_some());
        ownership.revoke(&cluster);
        assert!(ownership.store(&cluster).is_none());
    }
}
