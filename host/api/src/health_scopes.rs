//! Queries about health scopes.

use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

/// Parameters that select one of several health scopes of a name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ScopeParameters {
    /// The namespace of the scope. Needed if several namespaces have a scope of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(example = "web")]
    pub namespace: Option<String>,
    /// The cluster of the scope. Needed if several clusters have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(example = "kubeconfig+edge01")]
    pub cluster: Option<String>,
}

/// The reason why a query about a health scope has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScopeRefusal {
    /// There is no such scope, or the reader may not see it. As text for users.
    NotFound(String),
    /// Several scopes have the name.
    Several {
        /// The namespaces to choose from.
        namespaces: Vec<String>,
        /// The clusters to choose from.
        clusters: Vec<String>,
    },
}
