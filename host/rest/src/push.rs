//! The interface to the clusters whose agents push their reports.

use std::pin::Pin;

use kindsight_api::push::{AgentNeeds, NeedsParameters, PushAnswer, PushParameters, PushRefusal};
use kindsight_model::ClusterName;

/// The pushed clusters. The server passes an implementation in [`AppState`](crate::AppState).
pub trait TakePush: Send + Sync {
    /// Takes a body, or a heartbeat without one. Decodes the body, so it is called on a blocking thread.
    ///
    /// # Errors
    /// See [`PushRefusal`].
    fn accept(
        &self,
        cluster: &ClusterName,
        parameters: &PushParameters,
        body: &[u8],
    ) -> Result<PushAnswer, PushRefusal>;

    /// The needs for the agent of a cluster, once they differ from the revision that the agent has; `None` if they do
    /// not for some seconds.
    ///
    /// The future is dropped when the client disconnects.
    fn needs<'t>(
        &'t self,
        cluster: &'t ClusterName,
        parameters: &'t NeedsParameters,
    ) -> Pin<Box<dyn Future<Output = Result<Option<AgentNeeds>, PushRefusal>> + Send + 't>>;
}
