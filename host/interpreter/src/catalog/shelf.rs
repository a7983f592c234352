//! Where the catalog keeps what it must not forget.

use crate::Digest;

/// What keeps the catalog's book and the components of its versions; the wiring makes one over the
/// store. Every call blocks until it is kept durably.
pub trait Shelf: Send + Sync {
    /// The book as it was written last; none in a new store. Read once, at the start.
    fn book(&self) -> Result<Option<Vec<u8>>, ShelfError>;

    /// Replaces the book, whole or not at all: this is the moment from which a change holds, also
    /// over a crash.
    fn write_book(&self, book: &[u8]) -> Result<(), ShelfError>;

    /// The digests of all components that are kept.
    fn components(&self) -> Result<Vec<String>, ShelfError>;

    /// The bytes of a component, unchecked.
    fn component(&self, digest: &Digest) -> Result<Option<Vec<u8>>, ShelfError>;

    /// Keeps a component. Called before the book speaks of it; a component of which no book speaks
    /// is dropped at the next occasion.
    fn keep(&self, digest: &Digest, component: &[u8]) -> Result<(), ShelfError>;

    /// Forgets a component; one that is not there is fine.
    fn drop_component(&self, digest: &Digest) -> Result<(), ShelfError>;
}

/// The store's own words on why something could not be kept or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ShelfError(pub String);
