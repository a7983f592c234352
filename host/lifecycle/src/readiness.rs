//! The interface to observations of clusters.

use std::time::Duration;

use kindsight_appcontext::ResourceName;
use kindsight_model::{ClusterName, ContextId};

/// Observations that decide when dependent resources are sent, and the choice of a cluster of a group of clusters. The
/// server passes an implementation to [`Sequence`](crate::Sequence).
pub trait Readiness: Send + Sync {
    /// Returns whether an app of an instance is ready in each of its clusters.
    fn is_app_ready(&self, instance: &ContextId, app: &str) -> bool;

    /// Returns whether a resource of an instance is ready in a cluster.
    fn is_resource_ready(
        &self,
        instance: &ContextId,
        app: &str,
        cluster: &ClusterName,
        resource: &ResourceName,
    ) -> bool;

    /// Returns whether a cluster answers.
    fn is_reachable(&self, cluster: &ClusterName) -> bool;

    /// The time since any fixed moment.
    fn now(&self) -> Duration;
}
