//! Names of ResourceBundleStates.

use std::fmt;
use std::sync::Arc;

use kindsight_clusters::StateMetadata;
use kindsight_model::DeploymentId;

/// The collection of ResourceBundleStates in all namespaces.
const NAMESPACES: &str = "/apis/k8splugin.io/v1alpha1/namespaces";
/// The namespace of the ResourceBundleStates that monitors and kindsight create.
const DEFAULT_NAMESPACE: &str = "default";

/// A ResourceBundleState by its namespace and name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct StateName {
    pub(crate) namespace: Arc<str>,
    pub(crate) name: Arc<str>,
}

impl StateName {
    /// The usual name of the object about a deployment: senders and monitors find it by this name.
    pub(crate) fn usual(deployment: &DeploymentId) -> Self {
        Self {
            namespace: DEFAULT_NAMESPACE.into(),
            name: deployment.to_string().into(),
        }
    }

    /// The path of the collection in its namespace. The API server accepts only names without special characters.
    pub(crate) fn collection(&self) -> String {
        let namespace = &self.namespace;
        format!("{NAMESPACES}/{namespace}/resourcebundlestates")
    }

    /// Its path.
    pub(crate) fn path(&self) -> String {
        format!("{}/{}", self.collection(), self.name)
    }
}

impl From<&StateMetadata> for StateName {
    fn from(state: &StateMetadata) -> Self {
        Self {
            namespace: Arc::clone(&state.namespace),
            name: Arc::clone(&state.name),
        }
    }
}

impl fmt::Display for StateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}
