//! Approvals of the content of a group.

use kindsight_model::RecordSubject;
use kindsight_store::{Batch, Error as StoreError};

use super::{Intent, Record, Records, decode, encode};
use crate::{Result, keys};

impl Records {
    /// Replaces the record and the intent of a group, if both are still as seen. The content of a Created group changes
    /// without a change of the record, so the condition on the record alone is not sufficient.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] if one of them changed since: read again, decide again.
    pub fn approve(
        &self,
        subject: impl Into<RecordSubject>,
        seen: (&Record, &Intent),
        next: (&Record, &Intent),
    ) -> Result<()> {
        let subject = subject.into();
        let (record_key, key) = (keys::record(&subject), keys::intent(&subject));
        let stored = self.stored_as_seen(&record_key, seen.0)?;
        let conflict = || StoreError::Conflict { key: key.clone() };
        let entry = self.store.entry(&key)?.ok_or_else(conflict)?;
        if decode::<Intent>(&key, &entry.value)? != *seen.1 {
            return Err(conflict().into());
        }
        let batch = Batch::new().equals(&record_key, stored);
        let batch = crate::value::unchanged(batch, &key, Some(&entry));
        let batch = batch.put(record_key, encode(next.0)?);
        self.store.apply(&batch.put(&key, encode(next.1)?))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kindsight_model::DigName;
    use kindsight_store::RedbStore;

    use super::*;

    #[test]
    fn content_that_changed_under_an_equal_record_is_not_approved() {
        let records = Records::new(Arc::new(RedbStore::in_memory().unwrap()));
        let name = DigName::new("p", "shop", "v1", "prod").unwrap();
        let (record, seen) = (Record::default(), Intent::default());
        records.create_with_intent(&name, &record, &seen).unwrap();
        let changed = Intent {
            tag: "2".to_owned(),
            ..Intent::default()
        };
        records
            .replace_with_intent(&name, &record, &record, &changed)
            .unwrap();
        let approve = |seen: &Intent| records.approve(&name, (&record, seen), (&record, seen));
        assert!(approve(&seen).unwrap_err().is_conflict());
        approve(&changed).unwrap();
    }
}
