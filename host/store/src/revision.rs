//! The position of a store in its own history.

use std::fmt;

/// The number of batches that a store had applied at some moment.
///
/// A batch that changes something has a greater revision than every batch before it. Revisions
/// belong to one opened store: the embedded one counts anew when it is opened, so a revision must
/// not be stored. The default is the revision of a store that has applied nothing yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Revision(u64);

impl Revision {
    /// The revision of the next batch.
    #[must_use]
    pub(crate) fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
