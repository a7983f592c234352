//! Claims of several applications on one object.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The claims of several applications on one object. An object belongs to one application.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Claims {
    /// The mark or the inventory that assigns the object to its application.
    #[schema(value_type = String, example = "label kustomize.toolkit.fluxcd.io/name")]
    pub evidence: Arc<str>,
    /// The claims of other applications, one for each, at most 16.
    pub others: Vec<OtherClaim>,
}

/// The claim of an application that the object does not belong to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct OtherClaim {
    /// The application.
    #[schema(value_type = String, example = "-/shop/-/web")]
    pub application: Arc<str>,
    /// The mark or the inventory that makes the claim.
    #[schema(value_type = String, example = "label app.kubernetes.io/instance")]
    pub evidence: Arc<str>,
}

/// Claims on the objects of a report, by the position of the object. An object that one application claims has none.
pub type ClaimsByPosition = Arc<BTreeMap<usize, Arc<Claims>>>;
