//! The last-known state, which survives a restart: verdicts on found applications, all histories, the
//! statuses that were reported without a spec, and the inventories that list resources of other clusters.
//!
//! It has a store of its own, apart from the store of the contexts. A task writes the changes of the read model to it
//! after a few seconds, and the start reads it once. Objects are not kept, so a verdict is shown unchanged and marked
//! as stale until its cluster is heard.

mod contents;
mod format;
mod inventories;
mod keys;
mod pace;
mod pending;
mod statuses;
mod transitions;
mod values;
pub(crate) mod writer;

use std::collections::BTreeMap;
use std::sync::Arc;

use kindsight_clusters::RemoteInventory;
use kindsight_model::{ClusterName, Coverage, DigName};
use kindsight_status::{ApplicationHistory, ApplicationKey, ConnectionView, ResourceView};
use kindsight_store::{Batch, Error, Store};

use contents::{Contents, Entry};
use format::{StoredCluster, StoredPlacement, StoredVersion};
use inventories::StoredInventory;
use statuses::StoredStatuses;
pub(crate) use statuses::{RememberedStatus, RememberedStatuses};
use transitions::{StoredHistory, StoredTransition};

/// The version of the format that this release writes.
pub const REMEMBERED_VERSION: u64 = 1;

/// Maximum size of the last-known state, in bytes. Data above this size is not kept.
pub const REMEMBERED_BYTES_MAX: usize = 256 * 1024 * 1024;

/// The file of the last-known state.
pub struct RememberedFile {
    store: Arc<dyn Store>,
    /// Its content at the start. `None` after it was taken.
    remembered: Option<Remembered>,
    /// Its content now.
    contents: Contents,
}

/// The last-known state before the start.
#[derive(Default)]
pub(crate) struct Remembered {
    /// Apps of found applications in clusters.
    pub(crate) placements: Vec<RememberedPlacement>,
    pub(crate) histories: BTreeMap<ApplicationKey, ApplicationHistory>,
    pub(crate) clusters: BTreeMap<ClusterName, RememberedCluster>,
    /// The statuses that were reported without a spec.
    pub(crate) statuses: RememberedStatuses,
    /// The inventories of each cluster that list resources of other clusters.
    pub(crate) inventories: BTreeMap<Arc<ClusterName>, Vec<RemoteInventory>>,
}

/// A cluster, as it was when it was last heard.
pub(crate) struct RememberedCluster {
    /// Time until when what was known of it was current, in Unix milliseconds.
    pub(crate) current_until_ms: i64,
    /// The label selector that its objects were looked for by; none where all were.
    pub(crate) selector: Option<Arc<str>>,
    /// Its identity as text; none if it was not known.
    pub(crate) identity: Option<Arc<str>>,
    /// The states of its Kinds that were not covered; none if its source sent no coverage.
    pub(crate) coverage: Option<Coverage>,
}

/// An app of a found application in a cluster, as it was last known.
pub(crate) struct RememberedPlacement {
    pub(crate) application: DigName,
    pub(crate) app: Arc<str>,
    pub(crate) cluster: ClusterName,
    /// The instance of ONAP's Kubernetes plugin whose label an object had.
    pub(crate) instance: Option<Arc<str>>,
    /// Its resources, with the marks of the objects that they had.
    pub(crate) resources: Vec<(ResourceView, Option<Arc<str>>)>,
}

impl RememberedCluster {
    /// A cluster whose state is current until then.
    pub(crate) fn of(connection: &ConnectionView, current_until_ms: i64) -> Self {
        let facts = connection.facts.as_ref();
        Self {
            current_until_ms,
            selector: connection.selector().cloned(),
            identity: facts.and_then(|facts| facts.identity.clone()),
            coverage: connection.coverage.clone(),
        }
    }
}

impl RememberedFile {
    /// Reads what a store holds, or marks a new one as a file of this version. Nobody else may use the store.
    ///
    /// A value that cannot be read is logged, left out, and deleted with the next write.
    ///
    /// # Errors
    /// [`Error::UnknownVersion`] where a later release wrote it, [`Error::Unreadable`] where the mark of its
    /// version is damaged, and any other where the store fails.
    pub fn open(store: Arc<dyn Store>) -> Result<Self, Error> {
        check_version(&*store)?;
        let mut file = Self {
            store,
            remembered: None,
            contents: Contents::default(),
        };
        let mut reader = Reader::default();
        for stored in file.store.range(keys::PREFIX)?.entries {
            let (key, value) = (stored.key, stored.value);
            if key != keys::VERSION {
                reader.read(&key, &value);
                let entry = Entry::of(&key, &value);
                file.contents.set(key, Some(entry));
            }
        }
        if let Some(key) = reader.unreadable.first() {
            tracing::warn!(
                key,
                values = reader.unreadable.len(),
                "a part of the last-known state cannot be read; it is left out"
            );
        }
        file.remembered = Some(reader.remembered);
        Ok(file)
    }

    /// Takes what was in it at the start.
    pub(crate) fn take(&mut self) -> Remembered {
        self.remembered.take().unwrap_or_default()
    }
}

fn check_version(store: &dyn Store) -> Result<(), Error> {
    let Some(mark) = store.get(keys::VERSION)? else {
        let mark = StoredVersion {
            version: REMEMBERED_VERSION,
        };
        let batch = Batch::new().put(keys::VERSION, format::written(&mark));
        return store.apply(&batch).map(drop);
    };
    let mark: StoredVersion = serde_json::from_slice(&mark).map_err(|error| Error::Unreadable {
        key: keys::VERSION.to_owned(),
        why: error.to_string(),
    })?;
    if mark.version == REMEMBERED_VERSION {
        return Ok(());
    }
    Err(Error::UnknownVersion {
        key: keys::VERSION.to_owned(),
        found: mark.version,
        known: REMEMBERED_VERSION,
    })
}

/// The values read so far.
#[derive(Default)]
struct Reader {
    remembered: Remembered,
    unreadable: Vec<String>,
}

impl Reader {
    fn read(&mut self, key: &str, value: &[u8]) {
        if self.try_read(key, value).is_none() {
            self.unreadable.push(key.to_owned());
        }
    }

    fn try_read(&mut self, key: &str, value: &[u8]) -> Option<()> {
        match keys::kind_of(key)? {
            keys::Kind::Cluster => {
                let stored: StoredCluster = serde_json::from_slice(value).ok()?;
                let (name, cluster) = stored.read()?;
                self.remembered.clusters.insert(name, cluster);
            }
            keys::Kind::Placement => {
                let stored: StoredPlacement = serde_json::from_slice(value).ok()?;
                self.remembered.placements.push(stored.read()?);
            }
            keys::Kind::History => {
                let stored: StoredHistory = serde_json::from_slice(value).ok()?;
                let of = transitions::application(&stored.of)?;
                let history = self.remembered.histories.entry(of).or_default();
                history.dropped = stored.dropped;
            }
            keys::Kind::Statuses => {
                let stored: StoredStatuses = serde_json::from_slice(value).ok()?;
                self.remembered.statuses.add(stored)?;
            }
            keys::Kind::Inventory => {
                let stored: StoredInventory = serde_json::from_slice(value).ok()?;
                let (cluster, inventory) = stored.read()?;
                let inventories = &mut self.remembered.inventories;
                inventories.entry(cluster).or_default().push(inventory);
            }
            keys::Kind::Transition => {
                let stored: StoredTransition = serde_json::from_slice(value).ok()?;
                let of = transitions::application(&stored.of)?;
                let history = self.remembered.histories.entry(of).or_default();
                // The keys have the order of the ids.
                history.transitions.push(stored.read()?);
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests;
