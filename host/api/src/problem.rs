//! Errors, as RFC 9457 problem documents.

use kindsight_model::LoadStep;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An error, as an RFC 9457 problem document.
// A reader treats every member as optional, because a proxy on the way may answer with fewer
// members.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemDocument {
    /// Always `about:blank`: the status determines the kind of problem.
    #[serde(rename = "type", default)]
    #[schema(required = true, example = "about:blank")]
    pub kind: String,
    /// The text of the status.
    #[serde(default)]
    #[schema(required = true, example = "Bad Request")]
    pub title: String,
    /// The status code.
    #[serde(default)]
    #[schema(required = true, example = 400)]
    pub status: u16,
    /// The error, as a sentence.
    #[serde(default)]
    #[schema(required = true, example = "the query is not valid")]
    pub detail: String,
    /// All errors of the request, if they can be listed individually.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<PartialProblem>,
    /// The step of the load that refused a component or its settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = LoadStep)]
    pub step: Option<LoadStep>,
}

/// One error in a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PartialProblem {
    /// The query parameter, or the part of the path.
    #[serde(default)]
    #[schema(required = true, example = "type")]
    pub parameter: String,
    /// The error in this parameter or part.
    #[serde(default)]
    #[schema(required = true, example = "`Cluster` is not known")]
    pub detail: String,
    /// The valid values.
    #[serde(default)]
    #[schema(required = true, example = "one of `rsync`, `cluster`")]
    pub expected: String,
}

impl PartialProblem {
    /// Makes a problem with a parameter or a part of the path.
    pub fn new(
        parameter: impl Into<String>,
        detail: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self {
            parameter: parameter.into(),
            detail: detail.into(),
            expected: expected.into(),
        }
    }
}
