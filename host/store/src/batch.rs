//! Batches: changes that a store applies together, if all their conditions hold.

use std::collections::BTreeSet;

use crate::{Error, Result, Revision, StoreLimits};

mod condition;

pub use condition::Condition;

/// The bytes that each write and each condition adds to the size of a batch, besides its key and
/// value.
pub const OPERATION_BYTES: usize = 64;

/// A change of one key, or of all keys under a prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// Sets a key.
    Put {
        /// The key.
        key: String,
        /// Its new value.
        value: Vec<u8>,
    },
    /// Removes a key. If the key is absent, this is not an error.
    Delete {
        /// The key.
        key: String,
    },
    /// Removes every key that starts with the prefix.
    DeletePrefix {
        /// The prefix.
        prefix: String,
    },
}

impl Write {
    /// The key or prefix of the write.
    pub fn key(&self) -> &str {
        match self {
            Self::Put { key, .. } | Self::Delete { key } | Self::DeletePrefix { prefix: key } => {
                key
            }
        }
    }

    /// The size of the write, in bytes, as part of the size of the batch.
    pub fn bytes(&self) -> usize {
        let value = match self {
            Self::Put { value, .. } => value.len(),
            Self::Delete { .. } | Self::DeletePrefix { .. } => 0,
        };
        OPERATION_BYTES + self.key().len() + value
    }
}

/// Changes that a store applies all together or not at all, if all conditions hold.
///
/// A batch puts each key at most once and does not both put and delete a key. The order of the
/// writes therefore has no effect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    conditions: Vec<Condition>,
    writes: Vec<Write>,
}

impl Batch {
    /// Makes an empty batch. Applying it changes nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the condition that `key` is absent.
    #[must_use]
    pub fn absent(mut self, key: impl Into<String>) -> Self {
        self.conditions.push(Condition::Absent { key: key.into() });
        self
    }

    /// Adds the condition that `key` is present.
    #[must_use]
    pub fn present(mut self, key: impl Into<String>) -> Self {
        self.conditions.push(Condition::Present { key: key.into() });
        self
    }

    /// Adds the condition that `key` has exactly this value.
    #[must_use]
    pub fn equals(mut self, key: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        self.conditions.push(Condition::Equals {
            key: key.into(),
            value: value.into(),
        });
        self
    }

    /// Adds the condition that `key` is present and was last put by the batch of revision `since`.
    #[must_use]
    pub fn unchanged(mut self, key: impl Into<String>, since: Revision) -> Self {
        self.conditions.push(Condition::Unchanged {
            key: key.into(),
            since,
        });
        self
    }

    /// Adds a write that sets `key`.
    #[must_use]
    pub fn put(mut self, key: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        self.writes.push(Write::Put {
            key: key.into(),
            value: value.into(),
        });
        self
    }

    /// Adds a write that removes `key`.
    #[must_use]
    pub fn delete(mut self, key: impl Into<String>) -> Self {
        self.writes.push(Write::Delete { key: key.into() });
        self
    }

    /// Adds a write that removes every key under `prefix`.
    #[must_use]
    pub fn delete_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.writes.push(Write::DeletePrefix {
            prefix: prefix.into(),
        });
        self
    }

    /// The conditions, in insertion order.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// The writes, in insertion order.
    pub fn writes(&self) -> &[Write] {
        &self.writes
    }

    /// The size of the batch in bytes, as [`StoreLimits::batch_bytes`] counts it.
    pub fn bytes(&self) -> usize {
        let conditions: usize = self.conditions.iter().map(Condition::bytes).sum();
        conditions + self.writes.iter().map(Write::bytes).sum::<usize>()
    }

    /// Checks that a store with these limits may apply the batch. Every implementation of
    /// [`Store::apply`] calls this first, so that all stores reject the same batches.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for a value over the limit, [`Error::BatchTooLarge`] for too many
    /// writes, conditions or bytes, [`Error::DuplicateKey`] for a key that is put twice, or put and
    /// deleted.
    ///
    /// [`Store::apply`]: crate::Store::apply
    pub fn check(&self, limits: StoreLimits) -> Result<()> {
        let mut puts = BTreeSet::new();
        for write in &self.writes {
            if let Write::Put { key, value } = write {
                check_size(key, value.len(), limits.value_bytes)?;
                if !puts.insert(key.as_str()) {
                    return Err(Error::DuplicateKey { key: key.clone() });
                }
            }
        }
        for write in &self.writes {
            let overlap = match write {
                Write::Put { .. } => None,
                Write::Delete { key } => puts.get(key.as_str()),
                Write::DeletePrefix { prefix } => puts
                    .range(prefix.as_str()..)
                    .next()
                    .filter(|put| put.starts_with(prefix.as_str())),
            };
            if let Some(&key) = overlap {
                return Err(Error::DuplicateKey { key: key.into() });
            }
        }
        self.check_whole(limits)
    }

    fn check_whole(&self, limits: StoreLimits) -> Result<()> {
        let measures = [
            ("writes", self.writes.len(), limits.batch_writes),
            ("conditions", self.conditions.len(), limits.batch_writes),
            ("bytes", self.bytes(), limits.batch_bytes),
        ];
        let over = measures.into_iter().find(|(_, found, max)| found > max);
        let Some((what, found, max)) = over else {
            return Ok(());
        };
        Err(Error::BatchTooLarge {
            key: self.first_key().to_owned(),
            what,
            found,
            max,
        })
    }

    /// The key that errors about the batch name: the key of the first write, or else of the first
    /// condition.
    pub(crate) fn first_key(&self) -> &str {
        let written = self.writes.first().map(Write::key);
        let key = written.or_else(|| self.conditions.first().map(Condition::key));
        key.unwrap_or_default()
    }
}

/// Rejects a value that is larger than `max` bytes.
fn check_size(key: &str, bytes: usize, max: usize) -> Result<()> {
    if bytes <= max {
        return Ok(());
    }
    Err(Error::TooLarge {
        key: key.to_owned(),
        bytes,
        max,
    })
}
