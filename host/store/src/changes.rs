//! Changes, as a watch reports them.

use std::sync::Arc;

use crate::Revision;

/// The changes of one batch under the prefix of a watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// The revision of the batch, as [`Store::apply`](crate::Store::apply) returned it.
    pub revision: Revision,
    /// The changed keys, each of them once. Never empty.
    pub changes: Vec<Change>,
}

/// A change of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The key.
    pub key: String,
    /// The kind of the change.
    pub kind: ChangeKind,
    /// The value that was written. `None` for a deleted key, and for a value that the store no
    /// longer keeps for its watches, see [`VALUES_KEPT_BYTES_MAX`](crate::VALUES_KEPT_BYTES_MAX):
    /// read the key.
    pub value: Option<Arc<[u8]>>,
}

/// The kinds of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// The key was written; its value may be the same as before.
    Put,
    /// The key was present and was removed.
    Delete,
}

impl Changes {
    /// The changes under `prefix`, or `None` if no key under it changed.
    pub(crate) fn under(&self, prefix: &str) -> Option<Self> {
        let changes = self.changes.iter();
        let changes: Vec<Change> = changes
            .filter(|change| change.key.starts_with(prefix))
            .cloned()
            .collect();
        (!changes.is_empty()).then_some(Self {
            revision: self.revision,
            changes,
        })
    }

    /// The bytes of all values.
    pub(crate) fn value_bytes(&self) -> usize {
        let values = self
            .changes
            .iter()
            .filter_map(|change| change.value.as_ref());
        values.map(|value| value.len()).sum()
    }

    /// Drops all values.
    pub(crate) fn drop_values(&mut self) {
        for change in &mut self.changes {
            change.value = None;
        }
    }
}
