//! The position of a store in its own history.

use std::fmt;

/// The number of changes that a store had applied at some moment.
///
/// A batch that changes something has a greater revision than every earlier batch, also across
/// restarts. Revisions of two stores are not comparable. The default is the revision of a store
/// that has applied nothing yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Revision(u64);

impl Revision {
    /// The revision with a number that a store assigned.
    pub(crate) fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number, for storage and for display.
    pub fn number(self) -> u64 {
        self.0
    }

    /// The preceding revision, or `None` before the first.
    pub(crate) fn previous(self) -> Option<Self> {
        self.0.checked_sub(1).map(Self)
    }

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
