//! News of watches, and the requests to them.

use std::sync::Arc;

use kindsight_cluster_index::Labels;

use super::connection::ApiError;
use super::decode::{Detail, Item};

/// The number of a watch in its cluster.
pub(super) type WatchId = usize;

/// The news of one watch, with its number.
#[derive(Debug)]
pub(super) struct WatchNews {
    pub(super) watch: WatchId,
    pub(super) what: News,
}

/// The objects that a watch requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WatchRequest {
    /// The requested part of each object. For a larger part, the watch continues at the same version, without a
    /// list.
    pub(super) detail: Detail,
    /// The labels that the index keeps.
    pub(super) labels: Labels,
    /// The part of a query that leaves out objects; empty if there is none. A changed part needs a new list.
    pub(super) filter: Arc<str>,
    /// Number of the requested list of all objects. A greater number begins a new list.
    pub(super) list: u64,
}

/// The news of one watch.
#[derive(Debug)]
pub(super) enum News {
    /// A list waits, for this reason. Changes before the list are not known.
    Waiting(&'static str),
    /// A list with this number begins. Objects that are not in it do not exist.
    ListBegins(u64),
    /// Some objects of the list.
    Listed(Vec<Item>),
    /// The list is complete.
    ListEnds,
    /// Some objects of the list of a part. They may be older than objects that the watch sent.
    PartListed(Vec<Item>),
    /// The list of a part ended.
    PartEnds {
        /// Its namespace; empty for cluster-scoped objects.
        namespace: Arc<str>,
        /// The result of the list: an error if it is incomplete.
        result: Result<(), ApiError>,
    },
    /// An object was added or changed.
    Applied(Box<Item>),
    /// An object was deleted.
    Deleted(Box<Item>),
    /// An event cannot be decoded, for this reason. Its object is unknown.
    Undecodable(String),
    /// The watch is open, after a list or after a failure.
    Following,
    /// The list or the watch failed, and is requested again.
    Failed(ApiError),
    /// The server refuses the Kind, and no repeated request has confirmed that yet.
    Refused(ApiError),
}

impl News {
    /// Returns whether the news may change the state of its Kind. Objects do not change it, and are most of the
    /// news.
    pub(super) fn may_change_coverage(&self) -> bool {
        !matches!(
            self,
            Self::Listed(_) | Self::PartListed(_) | Self::Applied(_) | Self::Deleted(_)
        )
    }

    /// Returns whether the list or the watch of a Kind failed.
    pub(super) fn is_failure(&self) -> bool {
        matches!(self, Self::Failed(_) | Self::Refused(_))
    }

    /// The error, if the server does not accept the credentials.
    pub(super) fn unauthorized(&self) -> Option<&ApiError> {
        let error = match self {
            Self::PartEnds { result, .. } => result.as_ref().err(),
            Self::Failed(error) => Some(error),
            _ => None,
        };
        error.filter(|error| matches!(error, ApiError::Unauthorized(_)))
    }
}
