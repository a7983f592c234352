//! Interpreters while the host serves, as far as this room knows of them: what can be asked of
//! them, what is answered, and why not.
//!
//! The shapes are those of the wire: JSON members in `kebab-case`, left out where they do not
//! apply, never null.

mod inspect;
mod shadow;
mod words;

use std::fmt;
use std::pin::Pin;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use inspect::{
    CallLimits, CallStatistics, DeclaredState, HandledKind, HistoryEntry, InterpreterDetail,
    InterpreterList, InterpreterSummary, InterpreterVersion, Latency,
};
pub use shadow::{
    ChangeSample, SampledVerdict, ShadowFaults, ShadowLatency, ShadowReport, ShadowedVersion,
    VerdictChange,
};
pub use words::{Action, ChangedBy, InterpreterStatus, OutcomeStatus, Source, VersionOutcome};

/// Who knows the interpreters and changes them. The wiring gives this room one.
///
/// Names are checked before they come here: 1 to 63 lower-case letters, digits, `-` or `.`.
pub trait Catalog: Send + Sync {
    /// Every interpreter there is, sorted by name. Asked on requests, so it answers from memory.
    fn list(&self) -> InterpreterList;

    /// Everything that is known of one; `None` for a name nobody knows. Answers from memory.
    fn inspect(&self, name: &str) -> Option<InterpreterDetail>;

    /// Carries out a command on the interpreter of this name, for as long as it takes; what blocks
    /// is moved off the executor by the implementor.
    ///
    /// The future is dropped when the client goes away or the command takes longer than
    /// [`CATALOG_TIME_MAX`](crate::CATALOG_TIME_MAX). What it has begun must then end whole or leave
    /// no trace. This room counts only the commands that are waited for; how many go on without a
    /// client is for the implementor to bound.
    ///
    /// # Errors
    /// Why nothing was changed; see [`Refusal`].
    fn run(
        &self,
        name: String,
        command: Command,
    ) -> Pin<Box<dyn Future<Output = Result<Answer, Refusal>> + Send + '_>>;
}

/// What can be done to an interpreter.
#[derive(Clone, PartialEq, Eq)]
pub enum Command {
    /// Take a component through the pipeline, into the upload slot.
    Load {
        /// The component; at most [`Limits::component_bytes_max`](crate::Limits) bytes, otherwise
        /// unchecked.
        bytes: Vec<u8>,
        /// What they must hash to: `sha256:` and 64 lower-case hex digits.
        digest: Option<String>,
        /// Whether to stop at candidate, and not go live.
        is_candidate: bool,
    },
    /// Empty the upload slot.
    Remove,
    /// Run the candidate beside the live version over everything that is known.
    Shadow,
    /// Make the candidate live.
    Promote {
        /// Which candidate it must be; written as in `Load`.
        digest: Option<String>,
    },
    /// Go back to the previous version.
    Rollback,
    /// Leave the name out of what is published.
    Disable,
    /// Take it in again.
    Enable,
    /// Give it these settings, always a JSON object; `None` takes them away.
    Settings(Option<serde_json::Value>),
}

/// Components are long and settings may be private: neither is shown.
impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Load {
                bytes,
                digest,
                is_candidate,
            } => f
                .debug_struct("Load")
                .field("bytes", &bytes.len())
                .field("digest", digest)
                .field("is_candidate", is_candidate)
                .finish(),
            Self::Remove => f.write_str("Remove"),
            Self::Shadow => f.write_str("Shadow"),
            Self::Promote { digest } => f.debug_struct("Promote").field("digest", digest).finish(),
            Self::Rollback => f.write_str("Rollback"),
            Self::Disable => f.write_str("Disable"),
            Self::Enable => f.write_str("Enable"),
            Self::Settings(Some(_)) => f.write_str("Settings(Some(…))"),
            Self::Settings(None) => f.write_str("Settings(None)"),
        }
    }
}

/// What a command answers with. It is written as what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// To every command but [`Command::Shadow`].
    Outcome(Outcome),
    /// To [`Command::Shadow`].
    Shadow(ShadowReport),
}

/// What a command led to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Outcome {
    /// The interpreter.
    #[schema(example = "apps")]
    pub name: String,
    /// What was done.
    pub action: Action,
    /// The component it was about: `sha256:` and 64 hex digits; left out if it was about none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, value_type = String, example = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")]
    pub digest: Option<String>,
    /// The version of that component, in its own word; left out if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, value_type = String, example = "1.1.0")]
    pub version: Option<String>,
    /// Where it stands now.
    pub status: OutcomeStatus,
    /// The same for people.
    #[schema(example = "1.1.0 is live in place of 1.0.0")]
    pub detail: String,
}

/// Why a command changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no interpreter of this name.
    #[error("there is no such interpreter")]
    NotFound {
        /// The names there are, sorted.
        known: Vec<String>,
    },
    /// It does not fit what there is now; in words for people. Asking again later may succeed.
    #[error("{0}")]
    Conflict(String),
    /// A step of the pipeline refused what was sent. Sending it again does not help.
    #[error("refused when it was to be {step}: {why}")]
    Refused {
        /// The step, by name: `received`, `validated`, `compiled`, `tried` or `published`.
        step: String,
        /// Why, in words the author can act on.
        why: String,
    },
    /// The store or the host failed. The reader is told no more than that, the text is logged.
    #[error("{0}")]
    Failed(String),
}
