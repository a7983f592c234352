//! The interface to instances in the form of ONAP's Kubernetes plugin.

use kindsight_api::k8splugin::{
    RbInstance, RbInstanceParameters, RbInstanceRefusal, RbInstanceStatus, RbInstanceSummary,
};
use kindsight_read_model::VisibleModel;

/// Applications as instances. The server passes an implementation in [`AppState`](crate::AppState), if the routes of
/// the plugin are enabled.
///
/// Calls read objects, so they are made on blocking threads.
pub trait RbInstances: Send + Sync {
    /// The instances that the parameters select and that a reader may see, in order of their IDs.
    fn list(
        &self,
        model: &VisibleModel,
        parameters: &RbInstanceParameters,
    ) -> Vec<RbInstanceSummary>;

    /// An instance with the identities of its resources.
    ///
    /// # Errors
    /// See [`RbInstanceRefusal`].
    fn get(&self, model: &VisibleModel, id: &str) -> Result<RbInstance, RbInstanceRefusal>;

    /// The status of an instance, and the reason why it may be out of date.
    ///
    /// # Errors
    /// See [`RbInstanceRefusal`].
    fn status(
        &self,
        model: &VisibleModel,
        id: &str,
    ) -> Result<(RbInstanceStatus, Option<String>), RbInstanceRefusal>;
}
