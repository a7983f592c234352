//! The interface to the clusters, which confirm that a status includes everything that they have.

use std::collections::BTreeMap;
use std::pin::Pin;

use kindsight_model::{ClusterName, InvolvedKinds};

/// The clusters, as far as confirmations need them. The server passes an implementation in
/// [`AppState`](crate::AppState).
pub trait Confirm: Send + Sync {
    /// Asks each cluster whether everything that these Kinds have now was reported. If it was, the read model has
    /// the reports when the future returns `Ok`. Otherwise the error is the text of the reason.
    ///
    /// The future is dropped when the client disconnects or the request takes too long.
    fn confirm(
        &self,
        clusters: BTreeMap<ClusterName, InvolvedKinds>,
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>>;
}
