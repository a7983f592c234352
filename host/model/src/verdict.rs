//! What an interpreter, or the host itself, says of one object.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Phase;

/// State names the host itself uses; an interpreter may declare the same words.
pub mod host_state {
    /// No bundle has come, or no interpreter could say.
    pub const UNKNOWN: &str = "Unknown";
    /// The bundle came and the object is not in it.
    pub const NOT_PRESENT: &str = "NotPresent";
    /// It is there and nothing more can be said.
    pub const PRESENT: &str = "Present";
}

/// Reasons the host itself gives beside [`host_state`] words.
pub mod host_reason {
    /// The cluster has not reported on this app yet.
    pub const NO_REPORT: &str = "NoReportYet";
    /// The cluster reported and the object was not in the report.
    pub const NOT_IN_REPORT: &str = "NotInReport";
    /// No interpreter, not even a wildcard one, speaks for the Kind.
    pub const NO_INTERPRETER: &str = "NoInterpreter";
    /// The host broke while it was judged.
    pub const NO_ANSWER: &str = "NoAnswer";
    /// The item is not a Kubernetes object.
    pub const NOT_AN_OBJECT: &str = "NotAnObject";
}

/// What is said of one object: a phase the host counts with, a state people read, and why.
///
/// Cheap to clone: made once per change of an object, handed out on every query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Verdict {
    /// The closed half.
    pub phase: Phase,
    /// The open half: one of the interpreter's declared states, or a [`host_state`] word.
    pub state: Arc<str>,
    /// `CamelCase`, at most 128 bytes, may be empty.
    pub reason: Arc<str>,
    /// For people, at most 4096 bytes, may be empty.
    pub message: Arc<str>,
    /// When the verdict may change although the object does not, in Unix milliseconds.
    ///
    /// `None`: never, so the verdict is good for as long as the object stays as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look_again_at_ms: Option<i64>,
}

impl Verdict {
    /// A verdict in the host's own words: the state is the phase's own name.
    pub fn host(phase: Phase, reason: &str, message: impl Into<Arc<str>>) -> Self {
        Self {
            phase,
            state: phase.state().into(),
            reason: reason.into(),
            message: message.into(),
            look_again_at_ms: None,
        }
    }

    /// `Unknown`, with the reason why nobody can say.
    pub fn unknown(reason: &str, message: impl Into<Arc<str>>) -> Self {
        Self::host(Phase::Unknown, reason, message)
    }

    /// `NotPresent`: the bundle came and the object is not in it.
    pub fn not_present() -> Self {
        Self::host(
            Phase::NotPresent,
            host_reason::NOT_IN_REPORT,
            "the cluster reported and this resource was not in the report",
        )
    }

    /// `Unknown`, because no bundle has come yet.
    pub fn no_report() -> Self {
        Self::unknown(
            host_reason::NO_REPORT,
            "the cluster has not reported on this app yet",
        )
    }
}

/// Which component gave a verdict; shown by `explain`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct InterpretedBy {
    /// The interpreter's name, as it describes itself.
    pub name: Arc<str>,
    /// Its version, as it describes itself.
    pub version: Arc<str>,
    /// `sha256:` and 64 hex digits of the component's bytes.
    pub digest: Arc<str>,
}
