//! Records of deployment intent groups and clusters: for each an append-only list of actions.
//!
//! Other orchestrators do not read them, so every value carries a version of our own. An action is
//! appended only if no other writer appended one in between, so two writers never lose one.

use std::sync::Arc;

use kindsight_model::{ClusterName, ContextId, DigName, LifecycleState};
use kindsight_store::{Batch, Error as StoreError, Revision, Store};
use serde::{Deserialize, Serialize};

use crate::{AppContextWatch, Error, Result, Unreadable, go_json, keys};

mod intent;
mod revisions;
#[cfg(test)]
mod tests;

pub use intent::{
    INTENT_VERSION, Intent, IntentApp, IntentCondition, IntentDependency, ResourceDependsOn,
};
pub use revisions::AskedWork;

/// The version of records that this release writes.
pub const RECORD_VERSION: u64 = 1;

/// An action on a deployment intent group or a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// The state that it led to.
    pub state: LifecycleState,
    /// The context that it was about, if any. Stored as the empty string if none.
    #[serde(with = "instance")]
    pub instance: Option<ContextId>,
    /// The time in RFC 3339, as it was written.
    pub time: String,
    /// The revision of the group after the action: 1 for its first instance. 0, which is not stored, if the action
    /// has no revision.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub revision: i64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference to the field"
)]
fn is_zero(revision: &i64) -> bool {
    *revision == 0
}

mod instance {
    use kindsight_model::ContextId;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(
        clippy::ref_option,
        reason = "serde calls it with a reference to the field"
    )]
    pub(super) fn serialize<S: Serializer>(
        id: &Option<ContextId>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.serialize_str(id.as_ref().map_or("", ContextId::as_str))
    }

    pub(super) fn deserialize<'d, D>(from: D) -> Result<Option<ContextId>, D::Error>
    where
        D: Deserializer<'d>,
    {
        let text = String::deserialize(from)?;
        if text.is_empty() {
            return Ok(None);
        }
        text.parse().map(Some).map_err(D::Error::custom)
    }
}

/// The record of a deployment intent group.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DigRecord {
    /// The composite profile that it is deployed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The actions, oldest first. The last one leads to the present state.
    pub actions: Vec<Action>,
}

/// The record of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ClusterRecord {
    /// The actions, oldest first. The last one leads to the present state.
    pub actions: Vec<Action>,
}

/// All records of deployment intent groups, or of clusters, at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed<N, R> {
    /// The records that could be read, in order of their keys.
    pub records: Vec<(N, R)>,
    /// The records that could not be read. They are left as they are.
    pub unreadable: Vec<Unreadable>,
    /// The names of those, where their keys tell them.
    pub unreadable_names: Vec<N>,
    /// The list contains all changes up to this revision, and may contain newer ones.
    pub revision: Revision,
}

/// A record as it is stored, with its version.
#[derive(Serialize, Deserialize)]
struct Versioned<R> {
    version: u64,
    #[serde(flatten)]
    record: R,
}

#[derive(Deserialize)]
struct VersionOnly {
    version: u64,
}

/// The records of a store. Cheap to clone; clones share the store.
#[derive(Clone)]
pub struct Records {
    store: Arc<dyn Store>,
}

impl Records {
    /// Opens the records of a store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// Reads the record of a deployment intent group; none when it does not exist.
    ///
    /// # Errors
    /// [`Error::UnknownVersion`] and [`Error::Unreadable`] for a record that cannot be used.
    pub fn dig(&self, name: &DigName) -> Result<Option<DigRecord>> {
        self.get(&keys::dig(name))
    }

    /// Lists all deployment intent groups. For the start: queries are answered from memory.
    pub fn digs(&self) -> Result<Listed<DigName, DigRecord>> {
        self.list(keys::DIGS, keys::dig_of)
    }

    /// Creates the record of a deployment intent group.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when there is one already.
    pub fn create_dig(&self, name: &DigName, record: &DigRecord) -> Result<()> {
        self.create(&keys::dig(name), record)
    }

    /// Appends an action that was decided on when the record was as `seen`, and answers the new
    /// record.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when the record is not as `seen` any more: read again, decide
    /// again.
    pub fn append_dig(
        &self,
        name: &DigName,
        seen: &DigRecord,
        action: Action,
    ) -> Result<DigRecord> {
        let mut next = seen.clone();
        next.actions.push(action);
        self.replace(&keys::dig(name), seen, next)
    }

    /// Deletes the record, the intent and the revisions of a deployment intent group, if the record is still as `seen`.
    /// The contexts stay.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when the record is not as `seen` any more: read again, decide
    /// again.
    pub fn delete_dig(&self, name: &DigName, seen: &DigRecord) -> Result<()> {
        let key = keys::dig(name);
        let stored = self.stored_as_seen(&key, seen)?;
        let batch = Batch::new().equals(&key, stored).delete(&key);
        let batch = batch.delete(keys::intent(name));
        self.store
            .apply(&batch.delete_prefix(keys::revisions(name)))?;
        Ok(())
    }

    /// Reads the record of a cluster; none when there never was an action on it.
    ///
    /// # Errors
    /// As [`Records::dig`].
    pub fn cluster(&self, name: &ClusterName) -> Result<Option<ClusterRecord>> {
        self.get(&keys::cluster(name))
    }

    /// Lists all clusters that have a record.
    pub fn clusters(&self) -> Result<Listed<ClusterName, ClusterRecord>> {
        self.list(keys::CLUSTERS, keys::cluster_of)
    }

    /// Creates the record of a cluster.
    ///
    /// # Errors
    /// As [`Records::create_dig`].
    pub fn create_cluster(&self, name: &ClusterName, record: &ClusterRecord) -> Result<()> {
        self.create(&keys::cluster(name), record)
    }

    /// Appends an action that was decided on when the record was as `seen`, and answers the new
    /// record.
    ///
    /// # Errors
    /// As [`Records::append_dig`].
    pub fn append_cluster(
        &self,
        name: &ClusterName,
        seen: &ClusterRecord,
        action: Action,
    ) -> Result<ClusterRecord> {
        let mut next = seen.clone();
        next.actions.push(action);
        self.replace(&keys::cluster(name), seen, next)
    }

    /// Watches the records of the store from the revision `after` on, and no contexts. As
    /// [`AppContexts::watch`](crate::AppContexts::watch); each list of records has its revision.
    ///
    /// # Errors
    /// [`StoreError::Compacted`] when the store does not keep changes that far back: read
    /// everything again.
    pub fn watch(&self, after: Revision) -> Result<AppContextWatch> {
        Ok(AppContextWatch::new(self.store.watch(keys::OWN, after)?))
    }

    fn get<R: Record>(&self, key: &str) -> Result<Option<R>> {
        let stored = self.store.get(key)?;
        stored.map(|stored| decode(key, &stored)).transpose()
    }

    fn list<N, R: Record>(
        &self,
        prefix: &str,
        name_of: fn(&str) -> Option<N>,
    ) -> Result<Listed<N, R>> {
        let range = self.store.range(prefix)?;
        let mut listed = Listed {
            records: Vec::new(),
            unreadable: Vec::new(),
            unreadable_names: Vec::new(),
            revision: range.revision,
        };
        for entry in range.entries {
            let (key, stored) = (entry.key, entry.value);
            let Some(name) = name_of(&key) else {
                let why = "the key is not one of a record".to_owned();
                listed.unreadable.push(Unreadable { key, why });
                continue;
            };
            match decode(&key, &stored) {
                Ok(record) => listed.records.push((name, record)),
                Err(error) => {
                    let why = match error {
                        Error::Unreadable { why, .. } => why,
                        error => error.to_string(),
                    };
                    listed.unreadable.push(Unreadable { key, why });
                    listed.unreadable_names.push(name);
                }
            }
        }
        Ok(listed)
    }

    fn create<R: Record>(&self, key: &str, record: &R) -> Result<()> {
        let batch = Batch::new().absent(key).put(key, encode(record)?);
        self.store.apply(&batch)?;
        Ok(())
    }

    fn replace<R: Record>(&self, key: &str, seen: &R, next: R) -> Result<R> {
        let stored = self.stored_as_seen(key, seen)?;
        let batch = Batch::new().equals(key, stored).put(key, encode(&next)?);
        self.store.apply(&batch)?;
        Ok(next)
    }

    /// Reads the bytes of a record, if it is still as `seen`.
    fn stored_as_seen<R: Record>(&self, key: &str, seen: &R) -> Result<Vec<u8>> {
        let conflict = || StoreError::Conflict {
            key: key.to_owned(),
        };
        let stored = self.store.get(key)?.ok_or_else(conflict)?;
        if decode::<R>(key, &stored)? == *seen {
            Ok(stored)
        } else {
            Err(conflict().into())
        }
    }
}

/// A record that can be stored and compared.
trait Record: Serialize + serde::de::DeserializeOwned + PartialEq {
    /// The version that this release writes and reads.
    const VERSION: u64 = RECORD_VERSION;
}

impl Record for DigRecord {}
impl Record for ClusterRecord {}

fn encode<R: Record>(record: &R) -> Result<String> {
    go_json::encode(&Versioned {
        version: R::VERSION,
        record,
    })
}

/// Decodes a record. The version is read first and by itself, because a newer record may have any
/// other form.
fn decode<R: Record>(key: &str, stored: &[u8]) -> Result<R> {
    let unreadable = |error: serde_json::Error| Error::Unreadable {
        key: key.to_owned(),
        why: error.to_string(),
    };
    let VersionOnly { version } = serde_json::from_slice(stored).map_err(unreadable)?;
    if version != R::VERSION {
        return Err(Error::UnknownVersion {
            key: key.to_owned(),
            found: version,
            known: R::VERSION,
        });
    }
    let versioned: Versioned<R> = serde_json::from_slice(stored).map_err(unreadable)?;
    Ok(versioned.record)
}
