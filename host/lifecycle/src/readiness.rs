//! The interface to observations of clusters.

use std::collections::BTreeMap;
use std::time::Duration;

use kindsight_appcontext::{Deployed, Place};
use kindsight_model::{ClusterName, ContextId};

/// Observations that decide when dependent resources are sent, and the choice of a cluster of a group of clusters. The
/// server passes an implementation to [`Sequence`](crate::Sequence).
pub trait Readiness: Send + Sync {
    /// Returns whether each of these applied resources of an instance is ready. A verdict on an object before its last
    /// application does not count: the generation of the observed object must be the applied one or a later one.
    fn are_ready(&self, instance: &ContextId, resources: &BTreeMap<Place, Deployed>) -> bool;

    /// Returns whether a cluster answers.
    fn is_reachable(&self, cluster: &ClusterName) -> bool;

    /// The time since any fixed moment.
    fn now(&self) -> Duration;
}
