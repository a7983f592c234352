//! The interface of a store: ordered keys and atomic, conditional batches.
//!
//! A trait, because there are two: the embedded one and the etcd that an orchestrator shares.
//! `contract.rs` holds the tests that each of them must pass.

use std::collections::BTreeSet;

use crate::{Error, Result};

#[cfg(test)]
pub(crate) mod contract;

/// A key-value store with keys in bytewise order.
///
/// Every call blocks until the store has answered, so it belongs on a thread that may block. Shared
/// by all threads; each call sees the result of every batch that was acknowledged before it began.
pub trait Store: Send + Sync {
    /// The value of one key.
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>>;

    /// All keys that start with `prefix`, with their values, in bytewise order of the key, as they
    /// were at one moment.
    fn list(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>>;

    /// As [`Store::list`], without moving the values.
    fn keys(&self, prefix: &str) -> Result<Vec<String>>;

    /// Writes all of `batch` or nothing, durably, if all its conditions hold. They are judged by
    /// what was there before the batch.
    ///
    /// # Errors
    /// [`Error::Conflict`] names the first condition that does not hold, [`Error::TooLarge`] and
    /// [`Error::DuplicateKey`] what makes the batch itself impossible.
    fn apply(&self, batch: &Batch) -> Result<()>;

    /// The largest value this store takes, in bytes.
    fn value_bytes_max(&self) -> usize;
}

/// What must be so for a batch to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// The key is not there.
    Absent {
        /// The key.
        key: String,
    },
    /// The key is there, whatever its value.
    Present {
        /// The key.
        key: String,
    },
    /// The key has exactly this value.
    Equals {
        /// The key.
        key: String,
        /// Its value.
        value: Vec<u8>,
    },
}

impl Condition {
    /// The key it speaks of.
    pub fn key(&self) -> &str {
        match self {
            Self::Absent { key } | Self::Present { key } | Self::Equals { key, .. } => key,
        }
    }

    /// Whether it holds when `stored` is what the store has under its key.
    pub fn holds(&self, stored: Option<&[u8]>) -> bool {
        match self {
            Self::Absent { .. } => stored.is_none(),
            Self::Present { .. } => stored.is_some(),
            Self::Equals { value, .. } => stored == Some(value),
        }
    }
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// Sets a key.
    Put {
        /// The key.
        key: String,
        /// Its new value.
        value: Vec<u8>,
    },
    /// Removes a key; one that is not there is fine.
    Delete {
        /// The key.
        key: String,
    },
    /// Removes every key that starts with this.
    DeletePrefix {
        /// The prefix.
        prefix: String,
    },
}

/// Changes that are made together, under conditions.
///
/// A key is written at most once in a batch, so the order of its writes carries no meaning.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    conditions: Vec<Condition>,
    writes: Vec<Write>,
}

impl Batch {
    /// One that does nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only if `key` is not there.
    #[must_use]
    pub fn absent(mut self, key: impl Into<String>) -> Self {
        self.conditions.push(Condition::Absent { key: key.into() });
        self
    }

    /// Only if `key` is there.
    #[must_use]
    pub fn present(mut self, key: impl Into<String>) -> Self {
        self.conditions.push(Condition::Present { key: key.into() });
        self
    }

    /// Only if `key` has exactly this value.
    #[must_use]
    pub fn equals(mut self, key: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        self.conditions.push(Condition::Equals {
            key: key.into(),
            value: value.into(),
        });
        self
    }

    /// Sets `key`.
    #[must_use]
    pub fn put(mut self, key: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        self.writes.push(Write::Put {
            key: key.into(),
            value: value.into(),
        });
        self
    }

    /// Removes `key`.
    #[must_use]
    pub fn delete(mut self, key: impl Into<String>) -> Self {
        self.writes.push(Write::Delete { key: key.into() });
        self
    }

    /// Removes everything under `prefix`.
    #[must_use]
    pub fn delete_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.writes.push(Write::DeletePrefix {
            prefix: prefix.into(),
        });
        self
    }

    /// What must hold.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// What is written.
    pub fn writes(&self) -> &[Write] {
        &self.writes
    }

    /// Refuses what no store must take. Every [`Store::apply`] calls this before anything else, so
    /// that all stores refuse alike.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for a value over `value_bytes_max`, [`Error::DuplicateKey`] for a key that is
    /// put and put again or put and deleted.
    pub fn check(&self, value_bytes_max: usize) -> Result<()> {
        let mut puts = BTreeSet::new();
        for write in &self.writes {
            if let Write::Put { key, value } = write {
                check_size(key, value.len(), value_bytes_max)?;
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
        Ok(())
    }
}

/// Refuses a value of so many `bytes`.
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
