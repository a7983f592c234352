//! Errors, as RFC 9457 problem documents.

use kindsight_model::LoadStep;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An error, as an RFC 9457 problem document.
// A reader takes every member as optional: a proxy on the way may answer with less.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemDocument {
    /// Always `about:blank`: the status says which kind of problem it is.
    #[serde(rename = "type", default)]
    #[schema(required = true, example = "about:blank")]
    pub kind: String,
    /// The status in words.
    #[serde(default)]
    #[schema(required = true, example = "Bad Request")]
    pub title: String,
    /// The status code.
    #[serde(default)]
    #[schema(required = true, example = 400)]
    pub status: u16,
    /// The error in a sentence.
    #[serde(default)]
    #[schema(required = true, example = "the query is not valid")]
    pub detail: String,
    /// Everything that is wrong, where that can be told one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<PartialProblem>,
    /// The step of the load that refused a component, or its settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = LoadStep)]
    pub step: Option<LoadStep>,
}

/// One thing that is wrong with a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PartialProblem {
    /// The query parameter, or the part of the path.
    #[serde(default)]
    #[schema(required = true, example = "type")]
    pub parameter: String,
    /// The error in it.
    #[serde(default)]
    #[schema(required = true, example = "`Cluster` is not known")]
    pub detail: String,
    /// The values that would be right.
    #[serde(default)]
    #[schema(required = true, example = "one of `rsync`, `cluster`")]
    pub expected: String,
}

impl PartialProblem {
    /// Of a parameter, or a part of the path.
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
