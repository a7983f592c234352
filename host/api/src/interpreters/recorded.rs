//! Fixtures of reported objects.

use kindsight_model::{Digest, InterpreterName};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

/// The object of which a fixture is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RecordedObject {
    /// The Kind, or `Kind.group` if several groups have it.
    #[param(example = "Deployment")]
    pub kind: String,
    /// The name.
    #[param(example = "front")]
    pub name: String,
    /// The namespace. Omitted for an object without one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[param(required = false, example = "web")]
    pub namespace: String,
}

/// A fixture of a reported object, and the interpreter for which it is one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Recorded {
    /// The name of the interpreter that gave the verdict.
    #[schema(value_type = String, example = "apps")]
    pub interpreter: InterpreterName,
    /// Its version.
    #[schema(example = "1.0.0")]
    pub version: String,
    /// The digest of its component.
    #[schema(value_type = String)]
    pub digest: Digest,
    /// The fixture, as the contract defines it: the object and its related objects with the
    /// requested fields, their coverage, the time, the settings, and the verdict as the promise.
    #[schema(value_type = Object, example = json!({"name": "Widget left", "object": {}, "expect": {"state": "Ready"}}))]
    pub fixture: Map<String, Value>,
}

/// The reason why no fixture was recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordRefusal {
    /// No application has such an object in that cluster.
    #[error("no application has such an object in this cluster")]
    NotFound,
    /// Several groups have the Kind; contains them.
    #[error("several groups have this Kind: add one of them, as in `{}`", .0.join("`, `"))]
    Ambiguous(Vec<String>),
    /// The object cannot be a fixture; contains the reason.
    #[error("the object cannot be a fixture: {0}")]
    Impossible(String),
    /// The server cannot answer now; contains the reason.
    #[error("{0}")]
    Busy(String),
}
