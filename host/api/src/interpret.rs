//! Verdicts on objects from a request or from files.

use std::sync::Arc;

use jiff::Timestamp;
use kindsight_model::{InterpretedBy, Object, Phase, Verdict, host_reason};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Verdicts on the objects of one request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Verdicts {
    /// One verdict for each object, in the order of the request.
    pub verdicts: Vec<ObjectVerdict>,
}

/// The verdict on one object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectVerdict {
    /// The `apiVersion` of the object. Empty if it has none.
    #[schema(example = "apps/v1")]
    pub api_version: String,
    /// The Kind of the object. Empty if it has none.
    #[schema(value_type = String, example = "Deployment")]
    pub kind: Arc<str>,
    /// The namespace of the object. Omitted if it has none.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    #[schema(value_type = String, example = "default")]
    pub namespace: Arc<str>,
    /// The name of the object. Empty if it has none.
    #[schema(value_type = String, example = "fw0-sink")]
    pub name: Arc<str>,
    /// The phase of its state.
    pub phase: Phase,
    /// The state, as the interpreter names it.
    #[schema(value_type = String, example = "Pending")]
    pub state: Arc<str>,
    /// The reason of the state, as one word. Can be empty.
    #[schema(value_type = String, example = "Progressing")]
    pub reason: Arc<str>,
    /// The reason of the state, as a sentence. Can be empty.
    #[schema(value_type = String, example = "1 of 2 replicas are ready")]
    pub message: Arc<str>,
    /// Start time of the state according to the object. Omitted if the interpreter does not provide
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime)]
    pub since: Option<Timestamp>,
    /// The interpreter that judged the object. Omitted if the host itself did.
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
            ..Self::without_object(verdict)
        }
    }

    /// The verdict on an item that is not a Kubernetes object: `Unknown`, with the reason.
    pub fn not_an_object(why: impl Into<Arc<str>>) -> Self {
        Self::without_object(Verdict::unknown(host_reason::NOT_AN_OBJECT, why))
    }

    fn without_object(verdict: Verdict) -> Self {
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
