//! The tables of the embedded store, and the functions that read them.

use redb::{
    Database, ReadOnlyTable, ReadTransaction, ReadableDatabase, TableDefinition, TableError,
};

use crate::{Entry, Revision};

/// Values by key.
pub(super) const VALUES: TableDefinition<'static, &str, &[u8]> = TableDefinition::new("kindsight");

/// Revisions by key: the revision of the batch that created the key, and of the batch that last
/// changed it. A key that an earlier release wrote last has no entry.
pub(super) const REVISIONS: TableDefinition<'static, &str, (u64, u64)> =
    TableDefinition::new("kindsight-revisions");

/// The revision of the store, under [`LATEST`].
pub(super) const COUNTER: TableDefinition<'static, &str, u64> =
    TableDefinition::new("kindsight-counter");

/// The only key of [`COUNTER`].
pub(super) const LATEST: &str = "latest";

type Values = ReadOnlyTable<&'static str, &'static [u8]>;
type Revisions = ReadOnlyTable<&'static str, (u64, u64)>;

/// The tables at one moment. A table is `None` before its first write.
pub(super) struct Tables {
    values: Option<Values>,
    revisions: Option<Revisions>,
}

impl Tables {
    pub(super) fn read(database: &Database) -> Result<Self, redb::Error> {
        let transaction = database.begin_read()?;
        Ok(Self {
            values: opened(transaction.open_table(VALUES))?,
            revisions: opened(transaction.open_table(REVISIONS))?,
        })
    }

    /// Reads one key.
    pub(super) fn entry(&self, key: &str) -> Result<Option<Entry>, redb::Error> {
        let stored = self.values.as_ref().map(|values| values.get(key));
        let Some(value) = stored.transpose()?.flatten() else {
            return Ok(None);
        };
        self.with_revisions(key, value.value()).map(Some)
    }

    /// Reads the keys that start with `prefix`.
    pub(super) fn entries(&self, prefix: &str) -> Result<Vec<Entry>, redb::Error> {
        let mut entries = Vec::new();
        self.scan(prefix, |key, value| {
            entries.push(self.with_revisions(key, value)?);
            Ok(())
        })?;
        Ok(entries)
    }

    /// Reads the keys that start with `prefix`, without their values.
    pub(super) fn keys(&self, prefix: &str) -> Result<Vec<String>, redb::Error> {
        let mut keys = Vec::new();
        self.scan(prefix, |key, _| {
            keys.push(key.to_owned());
            Ok(())
        })?;
        Ok(keys)
    }

    fn with_revisions(&self, key: &str, value: &[u8]) -> Result<Entry, redb::Error> {
        let stored = self.revisions.as_ref().map(|table| table.get(key));
        let (created, changed) = stored
            .transpose()?
            .flatten()
            .map_or((0, 0), |guard| guard.value());
        Ok(Entry {
            key: key.to_owned(),
            value: value.to_vec(),
            created: Revision::new(created),
            changed: Revision::new(changed),
        })
    }

    fn scan(
        &self,
        prefix: &str,
        mut visit: impl FnMut(&str, &[u8]) -> Result<(), redb::Error>,
    ) -> Result<(), redb::Error> {
        let Some(values) = &self.values else {
            return Ok(());
        };
        for entry in values.range(prefix..)? {
            let (key, value) = entry?;
            if !key.value().starts_with(prefix) {
                break;
            }
            visit(key.value(), value.value())?;
        }
        Ok(())
    }
}

/// The revision of the store: the revision of the last batch that changed something.
pub(super) fn latest(database: &Database) -> Result<Revision, redb::Error> {
    let transaction: ReadTransaction = database.begin_read()?;
    let Some(table) = opened(transaction.open_table(COUNTER))? else {
        return Ok(Revision::default());
    };
    let number = table.get(LATEST)?.map_or(0, |guard| guard.value());
    Ok(Revision::new(number))
}

fn opened<T>(table: Result<T, TableError>) -> Result<Option<T>, redb::Error> {
    match table {
        Ok(table) => Ok(Some(table)),
        Err(TableError::TableDoesNotExist(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
