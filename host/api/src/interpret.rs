//! Verdicts on objects that are sent to be judged, or read from files.

use std::sync::Arc;

use jiff::Timestamp;
use kindsight_model::{InterpretedBy, Object, Phase, Verdict, host_reason};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Verdicts on the objects of one request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Verdicts {
    /// One for each object, in the order in which they were sent.
    pub verdicts: Vec<ObjectVerdict>,
}

/// The verdict on one object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectVerdict {
    /// `apiVersion` of the object; empty if it has none.
    #[schema(example = "apps/v1")]
    pub api_version: String,
    /// Kind of the object; empty if it has none.
    #[schema(value_type = String, example = "Deployment")]
    pub kind: Arc<str>,
    /// Namespace of the object; left out if it has none.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    #[schema(value_type = String, example = "default")]
    pub namespace: Arc<str>,
    /// Name of the object; empty if it has none.
    #[schema(value_type = String, example = "fw0-sink")]
    pub name: Arc<str>,
    /// The phase of its state.
    pub phase: Phase,
    /// Its state, in the word of the interpreter.
    #[schema(value_type = String, example = "Pending")]
    pub state: Arc<str>,
    /// Reason of the state, in one word; may be empty.
    #[schema(value_type = String, example = "Progressing")]
    pub reason: Arc<str>,
    /// Reason of the state, in a sentence; may be empty.
    #[schema(value_type = String, example = "1 of 2 replicas are ready")]
    pub message: Arc<str>,
    /// Time since when it is in this state, by the object itself; left out where its interpreter does not
    /// tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime)]
    pub since: Option<Timestamp>,
    /// The interpreter that judged it; left out where the host itself did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = InterpretedBy)]
    pub interpreter: Option<Arc<InterpretedBy>>,
}

impl ObjectVerdict {
    /// The verdict on an object.
    pub fn new(object: &Object, verdict: Verdict) -> Self {
        Self {
            api_version: object.gvk.api_version(),
            kind: Arc::clone(&object.gvk.kind),
            namespace: Arc::clone(&object.namespace),
            name: Arc::clone(&object.name),
            ..Self::of_nothing(verdict)
        }
    }

    /// The verdict on something that is not a Kubernetes object: `Unknown`, and the reason.
    pub fn not_an_object(why: impl Into<Arc<str>>) -> Self {
        Self::of_nothing(Verdict::unknown(host_reason::NOT_AN_OBJECT, why))
    }

    fn of_nothing(verdict: Verdict) -> Self {
        Self {
            api_version: String::new(),
            kind: "".into(),
            namespace: "".into(),
            name: "".into(),
            phase: verdict.phase,
            state: verdict.state,
            reason: verdict.reason,
            message: verdict.message,
            since: verdict
                .since_ms
                .and_then(|ms| Timestamp::from_millisecond(ms).ok()),
            interpreter: verdict.by,
        }
    }
}
