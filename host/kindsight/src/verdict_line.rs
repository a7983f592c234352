//! One verdict as programs read it: the line of `interpret -o jsonl`. The REST room has its own shape
//! for `POST /v2/interpret`.

use std::sync::Arc;

use kindsight_model::{InterpretedBy, Object, Phase, Verdict, host_reason};
use serde::Serialize;

/// One verdict, about one input object.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VerdictLine {
    pub(crate) api_version: String,
    pub(crate) kind: Arc<str>,
    pub(crate) namespace: Arc<str>,
    pub(crate) name: Arc<str>,
    pub(crate) phase: Phase,
    pub(crate) state: Arc<str>,
    pub(crate) reason: Arc<str>,
    pub(crate) message: Arc<str>,
    /// `null` where nobody could be asked.
    pub(crate) interpreter: Option<Arc<InterpretedBy>>,
}

impl VerdictLine {
    pub(crate) fn new(object: &Object, verdict: Verdict) -> Self {
        Self {
            api_version: object.gvk.api_version(),
            kind: Arc::clone(&object.gvk.kind),
            namespace: Arc::clone(&object.namespace),
            name: Arc::clone(&object.name),
            phase: verdict.phase,
            state: verdict.state,
            reason: verdict.reason,
            message: verdict.message,
            interpreter: verdict.by,
        }
    }

    /// For an input that is not a Kubernetes object.
    pub(crate) fn not_an_object(why: &str) -> Self {
        let verdict = Verdict::unknown(host_reason::NOT_AN_OBJECT, why);
        let nothing: Arc<str> = "".into();
        Self {
            api_version: String::new(),
            kind: Arc::clone(&nothing),
            namespace: Arc::clone(&nothing),
            name: nothing,
            phase: verdict.phase,
            state: verdict.state,
            reason: verdict.reason,
            message: verdict.message,
            interpreter: None,
        }
    }
}
