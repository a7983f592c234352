//! Records of deployment intent groups and clusters: for each an append-only list of actions.
//!
//! Other orchestrators do not read them, so every value carries a version of our own. An action is
//! appended only if no other writer appended one in between, so two writers never lose one.

use std::sync::Arc;

use kindsight_model::{ContextId, LifecycleState, RecordSubject};
use kindsight_store::{Batch, Error as StoreError, Revision, Store};
use serde::{Deserialize, Serialize};

use crate::{AppContextWatch, Error, Result, Unreadable, go_json, keys};

mod approval;
mod intent;
mod revisions;
#[cfg(test)]
mod tests;

pub use intent::{
    INTENT_VERSION, Intent, IntentApp, IntentCondition, IntentDependency, NETWORK_INTENTS,
    ResourceDependsOn,
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

/// The record of a deployment intent group or a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Record {
    /// The composite profile that a group is deployed with. `None` for a cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The actions, oldest first. The last one leads to the present state.
    pub actions: Vec<Action>,
}

/// All records at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The records that could be read: of groups, then of clusters, each in order of their keys.
    pub records: Vec<(RecordSubject, Record)>,
    /// The records that could not be read. They are left as they are.
    pub unreadable: Vec<Unreadable>,
    /// The subjects of those, where their keys tell them.
    pub unreadable_subjects: Vec<RecordSubject>,
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

/// The records of a store: of deployment intent groups, and of clusters. Cheap to clone; clones share the store.
#[derive(Clone)]
pub struct Records {
    store: Arc<dyn Store>,
}

impl Records {
    /// Opens the records of a store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// Reads the record of a subject; none when it does not exist.
    ///
    /// # Errors
    /// [`Error::UnknownVersion`] and [`Error::Unreadable`] for a record that cannot be used.
    pub fn get(&self, subject: impl Into<RecordSubject>) -> Result<Option<Record>> {
        self.read(&keys::record(&subject.into()))
    }

    /// Lists all records. For the start: queries are answered from memory.
    pub fn list(&self) -> Result<Listed> {
        let (groups, clusters) = (
            self.store.range(keys::DIGS)?,
            self.store.range(keys::CLUSTERS)?,
        );
        let mut listed = Listed {
            records: Vec::new(),
            unreadable: Vec::new(),
            unreadable_subjects: Vec::new(),
            revision: groups.revision,
        };
        for entry in groups.entries.into_iter().chain(clusters.entries) {
            let (key, stored) = (entry.key, entry.value);
            let Some(subject) = keys::record_of(&key) else {
                let why = "the key is not one of a record".to_owned();
                listed.unreadable.push(Unreadable { key, why });
                continue;
            };
            match decode(&key, &stored) {
                Ok(record) => listed.records.push((subject, record)),
                Err(error) => {
                    let why = match error {
                        Error::Unreadable { why, .. } => why,
                        error => error.to_string(),
                    };
                    listed.unreadable.push(Unreadable { key, why });
                    listed.unreadable_subjects.push(subject);
                }
            }
        }
        Ok(listed)
    }

    /// Creates the record of a subject.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when there is one already.
    pub fn create(&self, subject: impl Into<RecordSubject>, record: &Record) -> Result<()> {
        let key = keys::record(&subject.into());
        let batch = Batch::new().absent(&key).put(&key, encode(record)?);
        self.store.apply(&batch)?;
        Ok(())
    }

    /// Appends an action that was decided on when the record was as `seen`, and answers the new
    /// record.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when the record is not as `seen` any more: read again, decide
    /// again.
    pub fn append(
        &self,
        subject: impl Into<RecordSubject>,
        seen: &Record,
        action: Action,
    ) -> Result<Record> {
        let mut next = seen.clone();
        next.actions.push(action);
        self.replace(subject, seen, next)
    }

    /// Replaces the record of a subject, if it is still as `seen`, and returns the new record.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] if it changed since: read again, decide again.
    pub fn replace(
        &self,
        subject: impl Into<RecordSubject>,
        seen: &Record,
        next: Record,
    ) -> Result<Record> {
        let key = keys::record(&subject.into());
        let stored = self.stored_as_seen(&key, seen)?;
        let batch = Batch::new().equals(&key, stored).put(&key, encode(&next)?);
        self.store.apply(&batch)?;
        Ok(next)
    }

    /// Deletes the record, the intent and the revisions of a subject, if the record is still as `seen`. The contexts
    /// stay.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when the record is not as `seen` any more: read again, decide
    /// again.
    pub fn delete(&self, subject: impl Into<RecordSubject>, seen: &Record) -> Result<()> {
        let subject = subject.into();
        let key = keys::record(&subject);
        let stored = self.stored_as_seen(&key, seen)?;
        let batch = Batch::new().equals(&key, stored).delete(&key);
        let batch = batch.delete(keys::intent(&subject));
        self.store
            .apply(&batch.delete_prefix(keys::revisions(&subject)))?;
        Ok(())
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

    fn read<V: VersionedValue>(&self, key: &str) -> Result<Option<V>> {
        let stored = self.store.get(key)?;
        stored.map(|stored| decode(key, &stored)).transpose()
    }

    /// Reads the bytes of a record, if it is still as `seen`.
    fn stored_as_seen(&self, key: &str, seen: &Record) -> Result<Vec<u8>> {
        let conflict = || StoreError::Conflict {
            key: key.to_owned(),
        };
        let stored = self.store.get(key)?.ok_or_else(conflict)?;
        if decode::<Record>(key, &stored)? == *seen {
            Ok(stored)
        } else {
            Err(conflict().into())
        }
    }
}

/// A value that is stored with its version.
trait VersionedValue: Serialize + serde::de::DeserializeOwned {
    /// The version that this release writes and reads.
    const VERSION: u64 = RECORD_VERSION;
}

impl VersionedValue for Record {}

fn encode<V: VersionedValue>(value: &V) -> Result<String> {
    go_json::encode(&Versioned {
        version: V::VERSION,
        record: value,
    })
}

/// Decodes a record. The version is read first and by itself, because a newer record may have any
/// other form.
fn decode<V: VersionedValue>(key: &str, stored: &[u8]) -> Result<V> {
    let unreadable = |error: serde_json::Error| Error::Unreadable {
        key: key.to_owned(),
        why: error.to_string(),
    };
    let VersionOnly { version } = serde_json::from_slice(stored).map_err(unreadable)?;
    if version != V::VERSION {
        return Err(Error::UnknownVersion {
            key: key.to_owned(),
            found: version,
            known: V::VERSION,
        });
    }
    let versioned: Versioned<V> = serde_json::from_slice(stored).map_err(unreadable)?;
    Ok(versioned.record)
}
