//! The state of the work on resources, kept per status context.
//!
//! A resource has an entry from the first attempt to send it until its status context is deleted. So the entries of a
//! status context name everything that any instance of a group may have left in a cluster.

use std::collections::{BTreeMap, BTreeSet};

use kindsight_model::{ClusterName, ContextId, Digest, RsyncStatus};
use kindsight_store::{Batch, Error as StoreError};
use serde::{Deserialize, Serialize};

use crate::context::{AppContexts, Recorded};
use crate::keys::{self, ContextKeys, ResourceName};
use crate::status::StatusValue;
use crate::{Error, Result, go_json};

/// The version of entries that this release writes.
const VERSION: u64 = 1;
/// Maximum number of changes of [`AppContexts::record_deployed`]. A change is up to four writes, and three for its cluster;
/// etcd accepts 128.
pub const DEPLOYED_CHANGES_MAX: usize = 16;
/// Maximum length of a stored reason, in characters.
pub const WHY_CHARS_MAX: usize = 500;
/// The manifest of a resource that another context names, in the words of rsync.
const ELSEWHERE: &str = "nil";

/// A resource of an app in a cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The name of the app.
    pub app: String,
    /// The cluster.
    pub cluster: ClusterName,
    /// The name and Kind.
    pub resource: ResourceName,
}

/// The state of the work on a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deployed {
    /// The status, as it is in the status context.
    pub status: RsyncStatus,
    /// The context that named the resource last. It has the manifest.
    #[serde(with = "id")]
    pub acting: ContextId,
    /// The position among the resources of the app in the cluster. It never changes.
    pub position: usize,
    /// The digest of the manifest that was applied last, or a digest that no manifest has if the answer of the cluster was
    /// lost. `None` if nothing was applied, and after the removal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<Digest>,
    /// The uid of the applied object, if the cluster gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// `metadata.generation` of the object after its last application, if the cluster gave one. An earlier release stores
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<i64>,
    /// The reason of the status, as text for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

mod id {
    use kindsight_model::ContextId;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(id: &ContextId, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(id.as_str())
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<ContextId, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// An entry as it is stored, with its version.
#[derive(Serialize, Deserialize)]
struct Versioned {
    version: u64,
    #[serde(flatten)]
    entry: Deployed,
}

impl AppContexts {
    /// Reads all entries of a status context. One range, without manifests and reports.
    ///
    /// # Errors
    /// [`Error::UnknownVersion`] and [`Error::Unreadable`] for an entry that cannot be used.
    pub fn deployed(&self, status_context: &ContextId) -> Result<BTreeMap<Place, Deployed>> {
        let prefix = keys::deployed(status_context);
        let mut found = BTreeMap::new();
        for entry in self.store().range(&prefix)?.entries {
            let Some(place) = place(&prefix, &entry.key) else {
                continue;
            };
            found.insert(place, decode(&entry.key, &entry.value)?);
        }
        Ok(found)
    }

    /// Records the state of the work on resources: the entries, and the statuses in the status context. All of them or
    /// none. If another context than the status context acts, the status context gets the missing apps, clusters and
    /// resources, and references to the acting context, as rsync writes them.
    ///
    /// [`Recorded::NotFound`] if the status context does not exist, or it acts itself and has no such resource.
    ///
    /// # Errors
    /// [`StoreError::BatchTooLarge`] for more than [`DEPLOYED_CHANGES_MAX`] changes, [`StoreError::DuplicateKey`] if a
    /// resource is named twice.
    pub fn record_deployed(
        &self,
        status_context: &ContextId,
        changes: &[(Place, Deployed)],
    ) -> Result<Recorded> {
        if changes.is_empty() {
            return Ok(Recorded::Unchanged);
        }
        let keys = ContextKeys::new(status_context);
        let mut batch = Batch::new().present(keys.root());
        let mut levels = BTreeSet::new();
        for (place, deployed) in changes {
            let app = keys.app(&place.app)?;
            let cluster = app.cluster(&place.cluster);
            let resource = cluster.resource(&place.resource);
            if deployed.acting == *status_context {
                batch = batch.present(resource.root());
            } else {
                let acting = go_json::encode(deployed.acting.as_str())?;
                batch = self.add_level(batch, &mut levels, app.root(), &place.app)?;
                let name = place.cluster.to_string();
                batch = self.add_level(batch, &mut levels, cluster.root(), &name)?;
                if levels.insert(cluster.reference()) {
                    batch = batch.put(cluster.reference(), acting.clone());
                }
                batch = self.add_level(batch, &mut levels, resource.root(), ELSEWHERE)?;
                batch = batch.put(resource.reference(), acting);
            }
            let status = StatusValue {
                status: deployed.status,
            };
            batch = batch.put(resource.status(), go_json::encode(&status)?);
            batch = batch.put(key(status_context, place), encode(deployed)?);
        }
        match self.store().apply(&batch) {
            Ok(revision) => Ok(Recorded::Written(revision)),
            Err(StoreError::Conflict { .. }) => Ok(Recorded::NotFound),
            Err(error) => Err(error.into()),
        }
    }

    /// Adds the root key of a level of the status context, if the level does not exist.
    fn add_level(
        &self,
        batch: Batch,
        levels: &mut BTreeSet<String>,
        root: &str,
        value: &str,
    ) -> Result<Batch> {
        if !levels.insert(root.to_owned()) || self.store().get(root)?.is_some() {
            return Ok(batch);
        }
        Ok(batch.put(root, go_json::encode(value)?))
    }
}

fn key(status_context: &ContextId, place: &Place) -> String {
    let Place {
        app,
        cluster,
        resource,
    } = place;
    let prefix = keys::deployed(status_context);
    format!("{prefix}{app}/{cluster}/{resource}/")
}

fn place(prefix: &str, key: &str) -> Option<Place> {
    let parts: Vec<&str> = key.strip_prefix(prefix)?.split('/').collect();
    let [app, cluster, resource, ""] = *parts.as_slice() else {
        return None;
    };
    Some(Place {
        app: app.to_owned(),
        cluster: cluster.parse().ok()?,
        resource: resource.parse().ok()?,
    })
}

fn encode(deployed: &Deployed) -> Result<String> {
    let mut entry = deployed.clone();
    let why = entry.why.take();
    entry.why = why.map(|why| why.chars().take(WHY_CHARS_MAX).collect());
    go_json::encode(&Versioned {
        version: VERSION,
        entry,
    })
}

fn decode(key: &str, stored: &[u8]) -> Result<Deployed> {
    let read: serde_json::Result<Versioned> = serde_json::from_slice(stored);
    match read {
        Ok(read) if read.version == VERSION => Ok(read.entry),
        Ok(read) => Err(Error::UnknownVersion {
            key: key.to_owned(),
            found: read.version,
            known: VERSION,
        }),
        Err(error) => Err(Error::Unreadable {
            key: key.to_owned(),
            why: error.to_string(),
        }),
    }
}

#[cfg(test)]
mod tests;
