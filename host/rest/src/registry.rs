//! The interface to the clusters that operators register.

use kindsight_api::registration::{ClusterRegistration, RegisteredCluster, RegistrationRefusal};
use kindsight_model::ClusterName;

/// The clusters, as far as the REST API registers them. The server passes an implementation in
/// [`AppState`](crate::AppState), if the registration of clusters is enabled.
///
/// Calls block until the store and the place of a kubeconfig have answered, and do not wait for the registered cluster.
/// They are made on blocking threads, and complete also if the client disconnects.
pub trait ClusterRegistry: Send + Sync {
    /// Reads a cluster.
    ///
    /// # Errors
    /// See [`RegistrationRefusal`].
    fn get(&self, name: &ClusterName) -> Result<RegisteredCluster, RegistrationRefusal>;

    /// Registers a cluster, or replaces its registration, and begins to watch the cluster. True in the result means that
    /// the cluster is new.
    ///
    /// # Errors
    /// See [`RegistrationRefusal`].
    fn put(
        &self,
        name: &ClusterName,
        registration: ClusterRegistration,
    ) -> Result<(bool, RegisteredCluster), RegistrationRefusal>;

    /// Removes the registration of a cluster, and ends its watch.
    ///
    /// # Errors
    /// See [`RegistrationRefusal`].
    fn delete(&self, name: &ClusterName) -> Result<(), RegistrationRefusal>;
}
