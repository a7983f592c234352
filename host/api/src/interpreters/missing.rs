//! Kinds without a rule of their own.

use kindsight_model::Phase;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The Kinds of known objects for which no live interpreter has a rule of their own. The conventions of all
/// controllers judge these objects.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct MissingRules {
    /// The Kinds, most objects first.
    pub kinds: Vec<KindWithoutRule>,
    /// Number of further Kinds, with fewer objects. Omitted if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted: u64,
}

/// A Kind for which no live interpreter has a rule of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct KindWithoutRule {
    /// The API group. Empty for the core group.
    #[schema(example = "cert-manager.io")]
    pub group: String,
    /// The Kind.
    #[schema(example = "Certificate")]
    pub kind: String,
    /// Number of objects that the user may see. An object of several applications counts once.
    #[schema(example = 12)]
    pub objects: u64,
    /// Number of clusters with these objects. Omitted for objects of files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u64, example = 3)]
    pub clusters: Option<u64>,
    /// The states that the objects have, most objects first.
    pub states: Vec<StateCount>,
    /// The project of the catalogue of rules that has a rule for the Kind. Omitted if none has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "cert-manager")]
    pub catalogue: Option<String>,
}

/// Number of objects in a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct StateCount {
    /// The state.
    #[schema(example = "Ready")]
    pub state: String,
    /// The phase as which the state counts.
    pub phase: Phase,
    /// Number of objects.
    #[schema(example = 11)]
    pub objects: u64,
}

/// Returns whether a number is omitted.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
