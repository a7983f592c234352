//! The live hosts and the owners of clusters, read from the keys of leases.
//!
//! | key, below the prefix of leases | value |
//! |---|---|
//! | `hosts/<host>/` | [`HostValue`] |
//! | `configured/<host>/` | [`Digest`] of the configured clusters |
//! | `clusters/<cluster>/` | the process that owns the cluster |
//!
//! The store removes all keys of a process that no longer renews its leases.

use std::collections::BTreeMap;

use kindsight_model::ClusterName;
use kindsight_store::{Change, ChangeKind, Changes, LEASES_PREFIX, Range, Revision};

use crate::values::{Digest, HostValue, Identity, OwnerValue, decode};
use crate::{HostId, HostUrl, Weight};

const HOSTS: &str = "hosts/";
const CONFIGURED: &str = "configured/";
const CLUSTERS: &str = "clusters/";

/// A live host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// The URL at which the other hosts reach it.
    pub url: HostUrl,
    /// Its release.
    pub release: String,
    /// Its weight.
    pub weight: Weight,
}

/// The owner of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The process, or `None` if the value of the key cannot be read.
    pub process: Option<Identity>,
    /// The revision at which the store granted the lease.
    pub revision: Revision,
}

/// The live hosts and the owners of clusters at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    hosts: BTreeMap<HostId, Host>,
    configured: BTreeMap<HostId, Digest>,
    owners: BTreeMap<ClusterName, Owner>,
}

impl HostId {
    /// The name of the lease of the host.
    pub fn lease_name(&self) -> String {
        format!("{HOSTS}{self}")
    }

    /// The name of the lease with the digest of the configuration of the host.
    pub fn configured_lease_name(&self) -> String {
        format!("{CONFIGURED}{self}")
    }
}

impl Owner {
    /// The fencing number of the lease.
    pub fn number(&self) -> u64 {
        self.revision.number()
    }

    /// The name of the lease of a cluster.
    pub fn lease_name(cluster: &ClusterName) -> String {
        format!("{CLUSTERS}{cluster}")
    }
}

impl Table {
    /// The table of the keys below [`LEASES_PREFIX`].
    pub fn of(range: &Range) -> Self {
        let mut table = Self::default();
        for entry in &range.entries {
            table.put(&entry.key, &entry.value, entry.changed);
        }
        table
    }

    /// Applies changes. Returns false if a value is not known any more: read the keys again.
    pub fn apply(&mut self, changes: &Changes) -> bool {
        let revision = changes.revision;
        changes.changes.iter().all(|change| match change {
            Change {
                key,
                kind: ChangeKind::Put,
                value,
            } => {
                let value = value.as_ref();
                value.is_some_and(|value| {
                    self.put(key, value, revision);
                    true
                })
            }
            Change { key, .. } => {
                self.delete(key);
                true
            }
        })
    }

    /// The live hosts.
    pub fn hosts(&self) -> &BTreeMap<HostId, Host> {
        &self.hosts
    }

    /// The owner of a cluster.
    pub fn owner(&self, cluster: &ClusterName) -> Option<&Owner> {
        self.owners.get(cluster)
    }

    /// The owners of all clusters that have one.
    pub fn owners(&self) -> &BTreeMap<ClusterName, Owner> {
        &self.owners
    }

    /// Returns whether every live host has the configuration with this digest.
    pub(crate) fn agrees(&self, digest: Digest) -> bool {
        let mut hosts = self.hosts.keys();
        hosts.all(|host| self.configured.get(host) == Some(&digest))
    }

    fn put(&mut self, key: &str, value: &[u8], revision: Revision) {
        let Some(name) = Name::of(key) else {
            return;
        };
        match name {
            Name::Host(id) => match Host::decode(value) {
                Some(host) => self.hosts.insert(id, host),
                // The other hosts cannot reach it.
                None => self.hosts.remove(&id),
            }
            .map_or((), drop),
            Name::Configured(id) => match Digest::decode(value) {
                Some(digest) => self.configured.insert(id, digest),
                None => self.configured.remove(&id),
            }
            .map_or((), drop),
            Name::Cluster(cluster) => {
                let process = Identity::decode(value);
                self.owners.insert(cluster, Owner { process, revision });
            }
        }
    }

    fn delete(&mut self, key: &str) {
        match Name::of(key) {
            Some(Name::Host(id)) => drop(self.hosts.remove(&id)),
            Some(Name::Configured(id)) => drop(self.configured.remove(&id)),
            Some(Name::Cluster(cluster)) => drop(self.owners.remove(&cluster)),
            None => {}
        }
    }
}

impl Host {
    fn decode(value: &[u8]) -> Option<Self> {
        let value: HostValue = decode(value)?;
        Some(Self {
            url: value.url.parse().ok()?,
            weight: value.weight(),
            release: value.release,
        })
    }
}

impl Identity {
    fn decode(value: &[u8]) -> Option<Self> {
        let value: OwnerValue = decode(value)?;
        Some(Self {
            host: value.host.parse().ok()?,
            started_ms: value.started_ms,
        })
    }
}

/// The name in a key.
enum Name {
    Host(HostId),
    Configured(HostId),
    Cluster(ClusterName),
}

impl Name {
    /// Reads a key; `None` for the keys of other leases and of later releases.
    fn of(key: &str) -> Option<Self> {
        let name = key.strip_prefix(LEASES_PREFIX)?.strip_suffix('/')?;
        if let Some(host) = name.strip_prefix(HOSTS) {
            return host.parse().ok().map(Self::Host);
        }
        if let Some(host) = name.strip_prefix(CONFIGURED) {
            return host.parse().ok().map(Self::Configured);
        }
        name.strip_prefix(CLUSTERS)?.parse().ok().map(Self::Cluster)
    }
}

#[cfg(test)]
mod tests;
