//! Explanations of verdicts by their interpreters.

use std::sync::Arc;

use kindsight_model::Verdict;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The interpreter's explanation of a verdict's state and reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Explanation {
    /// `true` for a state that does not change without an external cause. Omitted otherwise.
    #[serde(rename = "final", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_final: bool,
    /// The meaning of the reason, as a sentence. Omitted if the interpreter declares none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "The pod was killed because the node had no memory left")]
    pub summary: Option<Arc<str>>,
    /// Page with advice about the reason. Omitted if the interpreter declares none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "https://example.com/widgets#no-ports")]
    pub help_url: Option<Arc<str>>,
}

/// The origin of the spec that an interpreter received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpecSource {
    /// The manifest that was sent, because the report of the cluster has no spec.
    Manifest,
}

impl Explanation {
    /// The explanation of a verdict, if its interpreter declares its state or reason.
    pub fn of(verdict: &Verdict) -> Option<Self> {
        let declared = &verdict.by.as_ref()?.declared;
        let reason = declared.reason(&verdict.reason);
        let explanation = Self {
            is_final: declared.is_final(&verdict.state),
            summary: reason.map(|reason| Arc::clone(&reason.summary)),
            help_url: reason.and_then(|reason| reason.help_url.clone()),
        };
        (explanation.is_final || reason.is_some()).then_some(explanation)
    }
}
