//! What was done to deployment intent groups and clusters: an append-only list of actions each.
//!
//! Ours alone, so every value carries a version. An action is appended only if nobody else appended
//! one in between, so two writers can never lose one.

use std::sync::Arc;

use kindsight_model::{ClusterName, ContextId, DigName, LifecycleState};
use kindsight_store::{Batch, Error as StoreError, Revision, Store};
use serde::{Deserialize, Serialize};

use crate::{Error, Result, Unreadable, go_json, keys};

#[cfg(test)]
mod tests;

/// The version of records that this release writes.
pub const RECORD_VERSION: u64 = 1;

/// One step in the life of a deployment intent group or a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// What it led to.
    pub state: LifecycleState,
    /// The context it concerned, if any. Stored as the empty string if none.
    #[serde(with = "instance")]
    pub instance: Option<ContextId>,
    /// When, in RFC 3339; kept as it was written.
    pub time: String,
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

/// The life of a deployment intent group.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DigRecord {
    /// The composite profile it is deployed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// What was done, oldest first. The last one is its state.
    pub actions: Vec<Action>,
}

/// The life of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ClusterRecord {
    /// What was done, oldest first. The last one is its state.
    pub actions: Vec<Action>,
}

/// All records of one sort.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed<N, R> {
    /// Those that could be read, in order of their keys.
    pub records: Vec<(N, R)>,
    /// Those that could not. They are left as they are.
    pub unreadable: Vec<Unreadable>,
    /// The revision up to which all changes are in the list. Newer ones may be in it too.
    pub revision: Revision,
}

/// A record as it is stored.
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
    /// The records of this store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// The record of a deployment intent group; none when it does not exist.
    ///
    /// # Errors
    /// [`Error::UnknownVersion`] and [`Error::Unreadable`] for a record that cannot be used.
    pub fn dig(&self, name: &DigName) -> Result<Option<DigRecord>> {
        self.get(&keys::dig(name))
    }

    /// All deployment intent groups. For the start: queries are answered from memory.
    pub fn digs(&self) -> Result<Listed<DigName, DigRecord>> {
        self.list(keys::DIGS, keys::dig_of)
    }

    /// Makes a deployment intent group known.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when it is known already.
    pub fn create_dig(&self, name: &DigName, record: &DigRecord) -> Result<()> {
        self.create(&keys::dig(name), record)
    }

    /// Appends an action, decided on when the record was as `seen`, and returns the new record.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when the record is not as `seen` any more: read again, decide again.
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

    /// Forgets a deployment intent group, if it is still as `seen`. Its contexts stay.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when the record is not as `seen` any more: read again, decide again.
    pub fn delete_dig(&self, name: &DigName, seen: &DigRecord) -> Result<()> {
        let key = keys::dig(name);
        let stored = self.stored_as_seen(&key, seen)?;
        let batch = Batch::new().equals(&key, stored).delete(&key);
        self.store.apply(&batch)?;
        Ok(())
    }

    /// The record of a cluster; none when nothing was ever done to it.
    ///
    /// # Errors
    /// As [`Records::dig`].
    pub fn cluster(&self, name: &ClusterName) -> Result<Option<ClusterRecord>> {
        self.get(&keys::cluster(name))
    }

    /// All clusters that have a record.
    pub fn clusters(&self) -> Result<Listed<ClusterName, ClusterRecord>> {
        self.list(keys::CLUSTERS, keys::cluster_of)
    }

    /// Makes a cluster known.
    ///
    /// # Errors
    /// As [`Records::create_dig`].
    pub fn create_cluster(&self, name: &ClusterName, record: &ClusterRecord) -> Result<()> {
        self.create(&keys::cluster(name), record)
    }

    /// Appends an action, decided on when the record was as `seen`, and returns the new record.
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
            revision: range.revision,
        };
        for (key, stored) in range.entries {
            match (name_of(&key), decode(&key, &stored)) {
                (Some(name), Ok(record)) => listed.records.push((name, record)),
                (None, _) => listed.unreadable.push(Unreadable {
                    key,
                    why: "the key names nothing that is known".to_owned(),
                }),
                (_, Err(Error::Unreadable { key, why })) => {
                    listed.unreadable.push(Unreadable { key, why });
                }
                (_, Err(error)) => listed.unreadable.push(Unreadable {
                    key,
                    why: error.to_string(),
                }),
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

    /// The bytes of a record that says what the caller has `seen`.
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

/// What a record must be able to do.
trait Record: Serialize + serde::de::DeserializeOwned + PartialEq {}

impl Record for DigRecord {}
impl Record for ClusterRecord {}

fn encode<R: Record>(record: &R) -> Result<String> {
    go_json::encode(&Versioned {
        version: RECORD_VERSION,
        record,
    })
}

/// The version is read first, by itself: what a newer one looks like is not known here.
fn decode<R: Record>(key: &str, stored: &[u8]) -> Result<R> {
    let unreadable = |error: serde_json::Error| Error::Unreadable {
        key: key.to_owned(),
        why: error.to_string(),
    };
    let VersionOnly { version } = serde_json::from_slice(stored).map_err(unreadable)?;
    if version != RECORD_VERSION {
        return Err(Error::UnknownVersion {
            key: key.to_owned(),
            found: version,
            known: RECORD_VERSION,
        });
    }
    let versioned: Versioned<R> = serde_json::from_slice(stored).map_err(unreadable)?;
    Ok(versioned.record)
}
