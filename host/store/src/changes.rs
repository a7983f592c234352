//! Changes, as a watch reports them.

use crate::Revision;

/// The changes of one batch, as far as they are under the prefix of a watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// The revision of the batch, as [`Store::apply`](crate::Store::apply) answered it.
    pub revision: Revision,
    /// The changed keys, each of them once. At least one.
    pub changes: Vec<Change>,
}

/// One key that was changed.
///
/// It carries no value: values are large, and a reader that reads the key again sees the newest
/// one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The key.
    pub key: String,
    /// The kind of the change.
    pub kind: ChangeKind,
}

/// The kinds of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// The key was written; its value may be the same as before.
    Put,
    /// The key was there and is removed.
    Delete,
}

impl Changes {
    /// Keeps the changes under `prefix`; none when there are none.
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
}
