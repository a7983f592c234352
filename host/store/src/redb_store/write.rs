//! The transaction of a batch.

use redb::{AccessGuard, Database, Durability, ReadableTable, Table};

use super::TABLE;
use crate::{Batch, Change, ChangeKind, Write};

type Contents<'t> = Table<'t, &'static str, &'static [u8]>;

/// The outcome of a batch that redb took.
pub(super) enum Outcome {
    /// It is on disk, and changed these keys.
    Applied(Vec<Change>),
    /// The condition on this key does not hold. Nothing was written.
    Conflict(String),
    /// The commit failed, so the batch may be on disk or not.
    InDoubt(redb::Error),
}

/// Writes a batch in one transaction.
///
/// An error means that nothing was written, whatever happened to the file.
pub(super) fn write(database: &Database, batch: &Batch) -> Result<Outcome, redb::Error> {
    let mut transaction = database.begin_write()?;
    transaction.set_durability(Durability::Immediate)?;
    let mut table = transaction.open_table(TABLE)?;
    if let Some(key) = conflict(&table, batch)? {
        drop(table);
        transaction.abort()?;
        return Ok(Outcome::Conflict(key));
    }
    let changes = change(&mut table, batch)?;
    drop(table);
    Ok(match transaction.commit() {
        Ok(()) => Outcome::Applied(changes),
        Err(error) => Outcome::InDoubt(error.into()),
    })
}

/// The key of the first condition that does not hold.
fn conflict(table: &Contents<'_>, batch: &Batch) -> Result<Option<String>, redb::Error> {
    for condition in batch.conditions() {
        let stored = table.get(condition.key())?;
        if !condition.holds(stored.as_ref().map(AccessGuard::value)) {
            return Ok(Some(condition.key().to_owned()));
        }
    }
    Ok(None)
}

/// Makes the writes of a batch and answers which keys they changed.
fn change(table: &mut Contents<'_>, batch: &Batch) -> Result<Vec<Change>, redb::Error> {
    let mut changes = Vec::new();
    for write in batch.writes() {
        match write {
            Write::Put { key, value } => {
                table.insert(key.as_str(), value.as_slice())?;
                changes.push(Change {
                    key: key.clone(),
                    kind: ChangeKind::Put,
                });
            }
            Write::Delete { key } => delete(table, key, &mut changes)?,
            Write::DeletePrefix { prefix } => {
                for key in under(table, prefix)? {
                    delete(table, &key, &mut changes)?;
                }
            }
        }
    }
    Ok(changes)
}

fn delete(
    table: &mut Contents<'_>,
    key: &str,
    changes: &mut Vec<Change>,
) -> Result<(), redb::Error> {
    if table.remove(key)?.is_some() {
        changes.push(Change {
            key: key.to_owned(),
            kind: ChangeKind::Delete,
        });
    }
    Ok(())
}

fn under(table: &Contents<'_>, prefix: &str) -> Result<Vec<String>, redb::Error> {
    let mut keys = Vec::new();
    for entry in table.range(prefix..)? {
        let (key, _) = entry?;
        if !key.value().starts_with(prefix) {
            break;
        }
        keys.push(key.value().to_owned());
    }
    Ok(keys)
}
