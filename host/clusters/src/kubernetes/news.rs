//! News of watches, and what is asked of them.

use std::sync::Arc;

use super::connection::ApiError;
use super::decode::{Decoded, Detail, Labels};

/// The number of a watch among those of its cluster.
pub(super) type WatchId = usize;

/// News of one watch, by its number.
#[derive(Debug)]
pub(super) struct WatchNews {
    pub(super) watch: WatchId,
    pub(super) what: News,
}

/// The objects that a watch is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    /// The amount of each of them. More is followed from where the watch is, without a list.
    pub(super) detail: Detail,
    /// The labels that are kept.
    pub(super) labels: Labels,
    /// The part of a query that leaves out objects; empty where there is none. Another one needs another list.
    pub(super) filter: Arc<str>,
    /// Number of the list of all of them that is asked for; a greater one begins a new list.
    pub(super) list: u64,
}

/// News of one watch.
#[derive(Debug)]
pub(super) enum News {
    /// A list begins, of this number: what is not in it is not there.
    ListBegins(u64),
    /// Some objects of the list.
    Listed(Vec<Decoded>),
    /// The list is whole.
    ListEnds,
    /// Some objects of the list of a part, which may be older than what the watch told.
    PartListed(Vec<Decoded>),
    /// The list of a part ended.
    PartEnds {
        /// Its namespace; empty for cluster-scoped objects.
        namespace: Arc<str>,
        /// Outcome of the part: an error where it is not whole.
        result: Result<(), ApiError>,
    },
    /// An object was added or changed.
    Applied(Box<Decoded>),
    /// An object was deleted.
    Deleted(Box<Decoded>),
    /// The watch is followed, after it was listed or could not be.
    Following,
    /// It cannot be listed or followed, and is tried again.
    Failed(ApiError),
}

impl News {
    /// The error that the credentials are not accepted, where it tells that.
    pub(super) fn unauthorized(&self) -> Option<&ApiError> {
        let error = match self {
            Self::PartEnds { result, .. } => result.as_ref().err(),
            Self::Failed(error) => Some(error),
            _ => None,
        };
        error.filter(|it| matches!(it, ApiError::Unauthorized(_)))
    }
}
