//! Judging objects that are sent, as far as this room knows of it.

use std::pin::Pin;
use std::sync::Arc;

use kindsight_model::{InterpretedBy, Object, ObjectError, Phase, Verdict, host_reason};
use serde::Serialize;
use utoipa::ToSchema;

/// Judges objects. The wiring gives this room one, so that it does not know interpreters.
pub trait Judge: Send + Sync {
    /// Says of each object how it fares at `now_ms`, in Unix milliseconds; in the same order, one
    /// each. Never fails: what cannot be judged is `Unknown`, with the reason.
    ///
    /// The future is dropped when the client goes away or the request takes too long.
    fn judge(
        &self,
        objects: Vec<Object>,
        now_ms: i64,
    ) -> Pin<Box<dyn Future<Output = Vec<Judged>> + Send + '_>>;
}

/// Everything that was said of the objects of one request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Verdicts {
    /// One for each object, in the order in which they were sent.
    pub verdicts: Vec<Judged>,
}

/// What is said of one object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Judged {
    /// The object's own; empty if it does not say.
    #[schema(example = "apps/v1")]
    pub api_version: String,
    /// The object's own; empty if it does not say.
    #[schema(example = "Deployment")]
    pub kind: String,
    /// The object's own; left out if it has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schema(required = false, example = "default")]
    pub namespace: String,
    /// The object's own; empty if it does not say.
    #[schema(example = "fw0-sink")]
    pub name: String,
    /// How it fares, in one of eight words.
    pub phase: Phase,
    /// How it fares, in the interpreter's word.
    #[schema(example = "Pending")]
    pub state: String,
    /// Why, in one word; may be empty.
    #[schema(example = "Progressing")]
    pub reason: String,
    /// Why, for people; may be empty.
    #[schema(example = "1 of 2 replicas are ready")]
    pub message: String,
    /// Who said so; left out if the host itself did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, value_type = InterpretedBy)]
    pub interpreter: Option<Arc<InterpretedBy>>,
}

impl Judged {
    /// The verdict on an object.
    pub fn new(object: &Object, verdict: &Verdict) -> Self {
        Self {
            api_version: object.gvk.api_version(),
            kind: object.gvk.kind.to_string(),
            namespace: object.namespace.to_string(),
            name: object.name.to_string(),
            phase: verdict.phase,
            state: verdict.state.to_string(),
            reason: verdict.reason.to_string(),
            message: verdict.message.to_string(),
            interpreter: verdict.by.clone(),
        }
    }

    /// Of something that is not a Kubernetes object: `Unknown`, and why.
    pub fn not_an_object(error: &ObjectError) -> Self {
        Self::unknown(host_reason::NOT_AN_OBJECT, error.to_string())
    }

    /// Of an object that nobody said anything of.
    pub(crate) fn unanswered() -> Self {
        Self::unknown(
            host_reason::NO_ANSWER,
            "no verdict came for this object".to_owned(),
        )
    }

    fn unknown(reason: &str, message: String) -> Self {
        Self {
            api_version: String::new(),
            kind: String::new(),
            namespace: String::new(),
            name: String::new(),
            phase: Phase::Unknown,
            state: Phase::Unknown.state().to_owned(),
            reason: reason.to_owned(),
            message,
            interpreter: None,
        }
    }
}
