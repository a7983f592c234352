//! Verdicts of interpreters, and of the host itself, on objects.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Declared, Digest, InterpreterName, Phase};

/// States in the host's own verdicts; an interpreter may declare the same words.
pub mod host_state {
    /// No report was received, or no interpreter gave a verdict.
    pub const UNKNOWN: &str = "Unknown";
    /// A report was received, and the object is not in it.
    pub const NOT_PRESENT: &str = "NotPresent";
    /// The object exists; its Kind has no status.
    pub const PRESENT: &str = "Present";
}

/// Reasons in the host's own verdicts.
pub mod host_reason {
    /// The cluster has not reported on this app yet.
    pub const NO_REPORT: &str = "NoReportYet";
    /// The cluster reported, and the object was not in the report.
    pub const NOT_IN_REPORT: &str = "NotInReport";
    /// The object existed and does not exist any more.
    pub const GONE: &str = "Gone";
    /// The cluster does not report on objects of its Kind.
    pub const NOT_REPORTED: &str = "NotReported";
    /// The item for the object in the report cannot be read.
    pub const UNREADABLE: &str = "Unreadable";
    /// No interpreter claims the Kind, not even with a wildcard.
    pub const NO_INTERPRETER: &str = "NoInterpreter";
    /// The host failed during the evaluation of the object.
    pub const NO_ANSWER: &str = "NoAnswer";
    /// The item is not a Kubernetes object.
    pub const NOT_AN_OBJECT: &str = "NotAnObject";
}

/// The verdict on one object: a phase for the roll-up, a state for users, the reason, and the interpreter
/// that gave it.
///
/// Cheap to clone: created once per change of an object, read by every query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The closed part: the phase for the roll-up.
    pub phase: Phase,
    /// The open part: one of the interpreter's declared states, or a [`host_state`] word.
    pub state: Arc<str>,
    /// `CamelCase`, at most 128 bytes, may be empty.
    pub reason: Arc<str>,
    /// For users, at most 4096 bytes, may be empty.
    pub message: Arc<str>,
    /// Start of the state according to the object's own transition times, in Unix milliseconds; not later
    /// than the time of the verdict.
    ///
    /// `None` if the object has no such time. Verdicts that differ only in this time are the same verdict to
    /// a reader: the state is the same, and its start is more precise.
    pub since_ms: Option<i64>,
    /// Time at which the verdict may change without a change of the object, in Unix milliseconds.
    ///
    /// `None` if the verdict is valid until the object changes.
    pub recheck_at_ms: Option<i64>,
    /// The interpreter that gave the verdict; `None` if the host itself gave it.
    pub by: Option<Arc<InterpretedBy>>,
}

impl Verdict {
    /// Returns whether both have the same phase and state; reasons, messages and times may differ.
    pub fn is_same_state(&self, other: &Self) -> bool {
        self.phase == other.phase && self.state == other.state
    }

    /// A verdict of the host itself: the state is the phase's own name.
    pub fn host(phase: Phase, reason: &str, message: impl Into<Arc<str>>) -> Self {
        Self {
            phase,
            state: phase.state().into(),
            reason: reason.into(),
            message: message.into(),
            since_ms: None,
            recheck_at_ms: None,
            by: None,
        }
    }

    /// `Unknown`, with the reason.
    pub fn unknown(reason: &str, message: impl Into<Arc<str>>) -> Self {
        Self::host(Phase::Unknown, reason, message)
    }

    /// `NotPresent`: a report was received, and the object is not in it.
    pub fn not_present() -> Self {
        Self::host(
            Phase::NotPresent,
            host_reason::NOT_IN_REPORT,
            "the cluster reported and this resource was not in the report",
        )
    }

    /// `Unknown`, because no report was received yet.
    pub fn no_report() -> Self {
        Self::unknown(
            host_reason::NO_REPORT,
            "the cluster has not reported on this app yet",
        )
    }

    /// The same verdict, attributed to this interpreter.
    #[must_use]
    pub fn given_by(mut self, by: &Arc<InterpretedBy>) -> Self {
        self.by = Some(Arc::clone(by));
        self
    }
}

/// The component that gave a verdict; part of the answer with `explain`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = Interpreter)]
pub struct InterpretedBy {
    /// The interpreter's name, as it declares it.
    #[schema(value_type = String, example = "apps")]
    pub name: InterpreterName,
    /// Its version, as it declares it.
    #[schema(value_type = String, example = "1.0.0")]
    pub version: Arc<str>,
    /// `sha256:` and 64 hex digits of the component's bytes.
    #[schema(
        value_type = String,
        example = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    )]
    pub digest: Digest,
    /// Declarations of its states and reasons, for explanations; empty if this value was parsed from an
    /// answer.
    #[serde(skip)]
    pub declared: Arc<Declared>,
}

impl InterpretedBy {
    /// An interpreter that explains no state or reason.
    pub fn new(name: InterpreterName, version: impl Into<Arc<str>>, digest: Digest) -> Self {
        Self {
            name,
            version: version.into(),
            digest,
            declared: Arc::default(),
        }
    }

    /// Name, version and short digest, as messages and logs name an interpreter.
    pub fn label(&self) -> String {
        format!("{} {} ({})", self.name, self.version, self.digest.short())
    }
}
