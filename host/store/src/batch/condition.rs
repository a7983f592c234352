//! Conditions of a batch.

use super::OPERATION_BYTES;
use crate::Revision;

/// A condition on one key. A store applies a batch only if all conditions hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// The key is absent.
    Absent {
        /// The key.
        key: String,
    },
    /// The key is present, with any value.
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
    /// The key is present and was last put by the batch of this revision. The condition adds almost
    /// nothing to the size of a batch, while [`Condition::Equals`] adds the size of the value.
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

    /// Checks the condition against the stored value of its key and the revision of the batch that
    /// last put the key.
    pub fn holds(&self, stored: Option<(&[u8], Revision)>) -> bool {
        match self {
            Self::Absent { .. } => stored.is_none(),
            Self::Present { .. } => stored.is_some(),
            Self::Equals { value, .. } => stored.is_some_and(|stored| stored.0 == value),
            Self::Unchanged { since, .. } => stored.is_some_and(|stored| stored.1 == *since),
        }
    }

    /// The size of the condition, in bytes, as part of the size of the batch.
    pub(super) fn bytes(&self) -> usize {
        let value = match self {
            Self::Equals { value, .. } => value.len(),
            Self::Absent { .. } | Self::Present { .. } | Self::Unchanged { .. } => 0,
        };
        OPERATION_BYTES + self.key().len() + value
    }
}
