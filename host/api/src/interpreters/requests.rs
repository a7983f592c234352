//! Parameters and bodies of commands.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Parameters of a load. Any other parameter is an error.
// Written only: the server names everything that is wrong, which no derived reader does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct LoadParameters {
    /// Expected digest of the body: `sha256:` and 64 hex digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(example = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")]
    pub digest: Option<String>,
    /// Stop before the component goes live, and keep it as candidate.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[param(value_type = Option<bool>, default = false)]
    pub candidate: bool,
    /// Let the component take the name of a built-in interpreter although it does not judge all of its Kinds.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[param(value_type = Option<bool>, default = false)]
    pub replace: bool,
}

/// Parameters of the removal of many names. Any other parameter is an error.
// Written only, as those of a load.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct RemovalParameters {
    /// Has to be `true`: the names of which nothing is used.
    pub unused: bool,
}

/// Body of a promotion.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Promotion {
    /// Digest of the candidate, `sha256:` and 64 hex digits: what was looked at is what goes live. Or
    /// that of any other version that is kept: it is live again.
    // Text, because upper-case digits are accepted too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(
        value_type = String,
        example = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    )]
    pub digest: Option<String>,
}
