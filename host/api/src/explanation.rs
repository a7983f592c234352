//! Explanations of verdicts by their interpreters.

use std::sync::Arc;

use kindsight_model::Verdict;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Words of the interpreter of a verdict on its state and its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Explanation {
    /// `true` for a state that the object does not leave by itself; otherwise left out.
    #[serde(rename = "final", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_final: bool,
    /// The meaning of the reason, in a sentence; left out where none is declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "The pod was killed because the node had no memory left")]
    pub summary: Option<Arc<str>>,
    /// Page that says what to do about the reason; left out where none is declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "https://example.com/widgets#no-ports")]
    pub help_url: Option<Arc<str>>,
}

impl Explanation {
    /// The explanation of a verdict, where its interpreter declares anything of its state or reason.
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
