//! Conditions of a batch.

use super::OPERATION_BYTES;
use crate::Revision;

/// A condition on one key, under which a batch is applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// The key is absent.
    Absent {
        /// The key.
        key: String,
    },
    /// The key is present, whatever its value.
    Present {
        /// The key.
        key: String,
    },
    /// The key has exactly this value.
    Equals {
        /// The key.
        key: String,
        /// The value.
        value: Vec<u8>,
    },
    /// The key is present and was last put by the batch of this revision. It takes no room in a
    /// batch, where [`Condition::Equals`] takes as much as the value.
    Unchanged {
        /// The key.
        key: String,
        /// The revision, from [`Entry::changed`](crate::Entry::changed).
        since: Revision,
    },
}

impl Condition {
    /// The key of the condition.
    pub fn key(&self) -> &str {
        match self {
            Self::Absent { key }
            | Self::Present { key }
            | Self::Equals { key, .. }
            | Self::Unchanged { key, .. } => key,
        }
    }

    /// Checks the condition against what the store has under its key: the value, and the revision
    /// of the batch that put it last.
    pub fn holds(&self, stored: Option<(&[u8], Revision)>) -> bool {
        match self {
            Self::Absent { .. } => stored.is_none(),
            Self::Present { .. } => stored.is_some(),
            Self::Equals { value, .. } => stored.is_some_and(|it| it.0 == value),
            Self::Unchanged { since, .. } => stored.is_some_and(|it| it.1 == *since),
        }
    }

    /// The bytes it counts in a batch.
    pub(super) fn bytes(&self) -> usize {
        let value = match self {
            Self::Equals { value, .. } => value.len(),
            Self::Absent { .. } | Self::Present { .. } | Self::Unchanged { .. } => 0,
        };
        OPERATION_BYTES + self.key().len() + value
    }
}
