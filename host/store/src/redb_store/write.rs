//! The transaction of a batch.

use std::sync::Arc;

use redb::{AccessGuard, Database, Durability, ReadableTable, Table, WriteTransaction};

use super::tables::{COUNTER, LATEST, REVISIONS, VALUES};
use crate::{Batch, Change, ChangeKind, Revision, Write};

/// The outcome of a batch in redb.
pub(super) enum Outcome {
    /// The batch is on disk at this revision, and changed these keys.
    Applied(Revision, Vec<Change>),
    /// The condition on this key does not hold. Nothing was written.
    Conflict(String),
    /// The commit failed, and it is uncertain whether the batch is on disk.
    InDoubt(redb::Error),
}

/// Writes a batch in one transaction. If the batch changes something, its revision is greater than
/// `latest`.
///
/// An error means that nothing was written, regardless of the state of the file.
pub(super) fn write(
    database: &Database,
    batch: &Batch,
    latest: Revision,
) -> Result<Outcome, redb::Error> {
    let mut transaction = database.begin_write()?;
    transaction.set_durability(Durability::Immediate)?;
    let next = latest.next();
    let mut tables = Tables::open(&transaction, next)?;
    if let Some(key) = tables.conflict(batch)? {
        drop(tables);
        transaction.abort()?;
        return Ok(Outcome::Conflict(key));
    }
    tables.change(batch)?;
    let changes = tables.into_changes();
    let revision = if changes.is_empty() { latest } else { next };
    if !changes.is_empty() {
        let mut counter = transaction.open_table(COUNTER)?;
        counter.insert(LATEST, revision.number())?;
    }
    Ok(match transaction.commit() {
        Ok(()) => Outcome::Applied(revision, changes),
        Err(error) => Outcome::InDoubt(error.into()),
    })
}

/// The tables that a batch changes.
struct Tables<'t> {
    values: Table<'t, &'static str, &'static [u8]>,
    revisions: Table<'t, &'static str, (u64, u64)>,
    /// The revision of the batch.
    revision: u64,
    changes: Vec<Change>,
}

impl<'t> Tables<'t> {
    fn open(transaction: &'t WriteTransaction, revision: Revision) -> Result<Self, redb::Error> {
        Ok(Self {
            values: transaction.open_table(VALUES)?,
            revisions: transaction.open_table(REVISIONS)?,
            revision: revision.number(),
            changes: Vec::new(),
        })
    }

    /// The key of the first condition that does not hold.
    fn conflict(&self, batch: &Batch) -> Result<Option<String>, redb::Error> {
        for condition in batch.conditions() {
            let key = condition.key();
            let stored = self.values.get(key)?;
            let (_, changed) = self.revisions(key)?.unwrap_or_default();
            let value = stored.as_ref().map(AccessGuard::value);
            if !condition.holds(value.map(|value| (value, Revision::new(changed)))) {
                return Ok(Some(key.to_owned()));
            }
        }
        Ok(None)
    }

    /// Applies the writes of a batch.
    fn change(&mut self, batch: &Batch) -> Result<(), redb::Error> {
        for write in batch.writes() {
            match write {
                Write::Put { key, value } => self.put(key, value)?,
                Write::Delete { key } => self.delete(key)?,
                Write::DeletePrefix { prefix } => {
                    for key in self.under(prefix)? {
                        self.delete(&key)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), redb::Error> {
        let was_there = self.values.insert(key, value)?.is_some();
        let created = match self.revisions(key)? {
            Some((created, _)) => created,
            // An earlier release created the key.
            None if was_there => 0,
            None => self.revision,
        };
        self.revisions.insert(key, (created, self.revision))?;
        self.changed(key, ChangeKind::Put, Some(value.into()));
        Ok(())
    }

    fn delete(&mut self, key: &str) -> Result<(), redb::Error> {
        if self.values.remove(key)?.is_some() {
            self.revisions.remove(key)?;
            self.changed(key, ChangeKind::Delete, None);
        }
        Ok(())
    }

    fn into_changes(self) -> Vec<Change> {
        self.changes
    }

    fn changed(&mut self, key: &str, kind: ChangeKind, value: Option<Arc<[u8]>>) {
        self.changes.push(Change {
            key: key.to_owned(),
            kind,
            value,
        });
    }

    fn revisions(&self, key: &str) -> Result<Option<(u64, u64)>, redb::Error> {
        Ok(self.revisions.get(key)?.map(|stored| stored.value()))
    }

    fn under(&self, prefix: &str) -> Result<Vec<String>, redb::Error> {
        let mut keys = Vec::new();
        for entry in self.values.range(prefix..)? {
            let (key, _) = entry?;
            if !key.value().starts_with(prefix) {
                break;
            }
            keys.push(key.value().to_owned());
        }
        Ok(keys)
    }
}
