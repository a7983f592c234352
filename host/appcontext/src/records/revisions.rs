//! The contents of the revisions of a subject, and the work that is asked for on single contexts.

use kindsight_model::{ContextId, RecordSubject};
use kindsight_store::{Batch, Error as StoreError};
use serde::{Deserialize, Serialize};

use super::{Action, Intent, Record, Records, VersionedValue, encode};
use crate::{Result, keys};

/// Work that is asked for on a context that no record names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum AskedWork {
    /// Send its resources.
    Instantiate,
    /// Remove its resources.
    Terminate,
    /// Read the live objects into it.
    Read,
}

#[derive(PartialEq, Serialize, Deserialize)]
struct Asked {
    work: AskedWork,
}

impl VersionedValue for Asked {}

impl Records {
    /// Appends actions that were decided on when the record was as `seen`, and stores the content of the revision that
    /// they create: both or neither. Returns the new record.
    ///
    /// # Errors
    /// As [`Records::append`], and [`StoreError::TooLarge`].
    pub fn append_revision(
        &self,
        subject: impl Into<RecordSubject>,
        seen: &Record,
        actions: Vec<Action>,
        (revision, content): (i64, &Intent),
    ) -> Result<Record> {
        let subject = subject.into();
        let key = keys::record(&subject);
        let stored = self.stored_as_seen(&key, seen)?;
        let mut next = seen.clone();
        next.actions.extend(actions);
        let batch = Batch::new().equals(&key, stored).put(&key, encode(&next)?);
        let batch = batch.put(keys::revision(&subject, revision), encode(content)?);
        self.store.apply(&batch)?;
        Ok(next)
    }

    /// Reads the content of a revision; none if the revision does not exist or was deleted.
    ///
    /// # Errors
    /// As [`Records::get`].
    pub fn revision(
        &self,
        subject: impl Into<RecordSubject>,
        revision: i64,
    ) -> Result<Option<Intent>> {
        self.read(&keys::revision(&subject.into(), revision))
    }

    /// The numbers of the stored revisions of a subject, in ascending order.
    pub fn revisions(&self, subject: impl Into<RecordSubject>) -> Result<Vec<i64>> {
        let subject = subject.into();
        let prefix = keys::revisions(&subject);
        let stored = self.store.keys(&prefix)?.keys;
        let numbers = stored.iter().filter_map(|key| {
            let number = key.strip_prefix(&prefix)?.strip_suffix('/')?;
            number.parse().ok()
        });
        let mut numbers: Vec<i64> = numbers.collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Deletes the content of a revision.
    pub fn delete_revision(&self, subject: impl Into<RecordSubject>, revision: i64) -> Result<()> {
        let batch = Batch::new().delete(keys::revision(&subject.into(), revision));
        self.store.apply(&batch)?;
        Ok(())
    }

    /// Asks for work on a context. Work that was asked for before is replaced.
    pub fn ask(&self, context: &ContextId, work: AskedWork) -> Result<()> {
        let batch = Batch::new().put(keys::asked(context), encode(&Asked { work })?);
        self.store.apply(&batch)?;
        Ok(())
    }

    /// The work that is asked for on a context.
    ///
    /// # Errors
    /// As [`Records::get`].
    pub fn asked(&self, context: &ContextId) -> Result<Option<AskedWork>> {
        let asked: Option<Asked> = self.read(&keys::asked(context))?;
        Ok(asked.map(|asked| asked.work))
    }

    /// The contexts that work is asked for on.
    pub fn all_asked(&self) -> Result<Vec<ContextId>> {
        let stored = self.store.keys(keys::ASKED)?.keys;
        Ok(stored
            .iter()
            .filter_map(|key| keys::asked_of(key))
            .collect())
    }

    /// Removes completed work, unless other work was asked for since.
    pub fn forget_asked(&self, context: &ContextId, work: AskedWork) -> Result<()> {
        let key = keys::asked(context);
        let batch = Batch::new().equals(&key, encode(&Asked { work })?);
        match self.store.apply(&batch.delete(&key)) {
            Ok(_) | Err(StoreError::Conflict { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kindsight_model::{DigName, LifecycleState};
    use kindsight_store::RedbStore;

    use super::*;

    fn name() -> DigName {
        DigName::new("p", "shop", "v1", "prod").unwrap()
    }

    fn action() -> Action {
        Action {
            state: LifecycleState::Instantiated,
            instance: Some("7".parse().unwrap()),
            time: String::new(),
            revision: 2,
        }
    }

    #[test]
    fn a_revision_is_stored_with_its_actions_and_deleted_with_its_group() {
        let records = Records::new(Arc::new(RedbStore::in_memory().unwrap()));
        let (record, intent) = (Record::default(), Intent::default());
        records
            .create_with_intent(&name(), &record, &intent)
            .unwrap();
        let append = |revision| {
            let seen = records.get(&name()).unwrap().unwrap();
            records.append_revision(&name(), &seen, vec![action()], (revision, &intent))
        };
        append(2).unwrap();
        let next = append(10).unwrap();
        assert_eq!(next.actions.len(), 2);
        assert_eq!(records.revisions(&name()).unwrap(), [2, 10]);
        records.delete_revision(&name(), 2).unwrap();
        assert!(records.revision(&name(), 2).unwrap().is_none());
        assert!(records.revision(&name(), 10).unwrap().is_some());
        let late = records.append_revision(&name(), &record, vec![action()], (11, &intent));
        assert!(late.unwrap_err().is_conflict());
        records.delete(&name(), &next).unwrap();
        assert!(records.revisions(&name()).unwrap().is_empty());
    }

    #[test]
    fn an_intent_that_changed_meanwhile_is_not_replaced() {
        let records = Records::new(Arc::new(RedbStore::in_memory().unwrap()));
        let (record, intent) = (Record::default(), Intent::default());
        records
            .create_with_intent(&name(), &record, &intent)
            .unwrap();
        let next = Intent {
            unapproved: true,
            ..Intent::default()
        };
        let replace = |seen: &Intent| records.approve(&name(), (&record, seen), (&record, &next));
        replace(&intent).unwrap();
        assert!(replace(&intent).unwrap_err().is_conflict());
        replace(&next).unwrap();
    }

    #[test]
    fn only_completed_work_is_forgotten() {
        let records = Records::new(Arc::new(RedbStore::in_memory().unwrap()));
        let id: ContextId = "7".parse().unwrap();
        assert_eq!(records.asked(&id).unwrap(), None);
        records.ask(&id, AskedWork::Instantiate).unwrap();
        records.ask(&id, AskedWork::Terminate).unwrap();
        records.forget_asked(&id, AskedWork::Instantiate).unwrap();
        assert_eq!(records.asked(&id).unwrap(), Some(AskedWork::Terminate));
        assert_eq!(records.all_asked().unwrap(), std::slice::from_ref(&id));
        records.forget_asked(&id, AskedWork::Terminate).unwrap();
        assert!(records.all_asked().unwrap().is_empty());
    }
}
