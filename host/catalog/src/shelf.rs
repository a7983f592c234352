//! Where the catalog keeps what it must not forget.

use kindsight_model::Digest;

/// What keeps the catalog's book and the components of its versions; the wiring makes one over the
/// store. Every call blocks until it is kept durably. Several hosts may share what lies behind it.
pub trait Shelf: Send + Sync {
    /// The book as it was written last; none in a new store. Read before every change, and once a
    /// second by a host that serves.
    fn book(&self) -> Result<Option<Vec<u8>>, ShelfError>;

    /// Replaces the book and drops components of which it does not speak any more, all or nothing:
    /// this is the moment from which a change holds, also over a crash. Answers whether it was done:
    /// it is not where the book is no longer the one `before`, because another host changed it.
    fn exchange_book(
        &self,
        before: Option<&[u8]>,
        book: &[u8],
        dropped: &[Digest],
    ) -> Result<bool, ShelfError>;

    /// The digests of all components that are kept.
    fn components(&self) -> Result<Vec<Digest>, ShelfError>;

    /// The bytes of a component, unchecked.
    fn component(&self, digest: &Digest) -> Result<Option<Vec<u8>>, ShelfError>;

    /// Keeps a component. Called before the book speaks of it; a component of which no book speaks
    /// is dropped at the next occasion.
    fn keep(&self, digest: &Digest, component: &[u8]) -> Result<(), ShelfError>;
}

/// The store's own words on why something could not be kept or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ShelfError(pub String);
