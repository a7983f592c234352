//! Parameters and bodies of commands.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

/// Parameters of a load. Any other parameter is an error.
// Only serialized: the server lists all errors of a query, which a derived deserializer cannot do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct LoadParameters {
    /// The expected digest of the body: `sha256:` and 64 hex digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(example = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")]
    pub digest: Option<String>,
    /// Stop before the component goes live, and keep it as the candidate.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[param(value_type = Option<bool>, default = false)]
    pub candidate: bool,
    /// Let the component use the name of a built-in interpreter although it does not judge all
    /// Kinds of that interpreter.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[param(value_type = Option<bool>, default = false)]
    pub replace: bool,
}

/// Parameters of the removal of many names. Any other parameter is an error.
// Only serialized, like the parameters of a load.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct RemovalParameters {
    /// Must be `true`. Removes the names that are not in use.
    pub unused: bool,
}

/// Body of a shadow run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ShadowRun {
    /// The version with which the candidate is compared.
    #[serde(default)]
    pub base: ShadowBase,
    /// Settings of the candidate for this run, instead of the present ones. They are not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub settings: Option<Map<String, Value>>,
}

/// Parameters of the comparison of a component in the body. Any other parameter is an error.
// Only serialized, like the parameters of a load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ComparisonParameters {
    /// The version with which the component is compared.
    #[param(value_type = Option<String>, default = "live", example = "live")]
    pub base: ShadowBase,
}

/// The version with which a candidate, or a component in the body, is compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShadowBase {
    /// The live version, or no version of the name if none is live.
    #[default]
    Live,
    /// The built-in version of the name, or no version of the name if there is none. The Kinds then
    /// have the verdicts of the other built-in interpreters. Without a candidate, the live version
    /// is compared with it.
    BuiltIn,
}

/// Body of a promotion.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Promotion {
    /// The digest of the candidate, `sha256:` and 64 hex digits. It ensures that the component that
    /// was inspected goes live. It can also be the digest of any other version that is kept, which
    /// then goes live again.
    // A text, because upper-case digits are accepted too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(
        value_type = String,
        example = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    )]
    pub digest: Option<String>,
    /// Promote the candidate although its last shadow run had faults.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
    /// The settings of the version. They replace the present settings in the same step. Omitted if
    /// the present settings remain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub settings: Option<Map<String, Value>>,
}
