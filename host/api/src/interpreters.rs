//! Interpreters: the list, one in full, commands and their results.

mod detail;
mod refusal;
mod requests;
mod shadow;
mod versions;
mod words;

use kindsight_model::{CatalogAction, Digest, InterpreterName, Source};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use detail::{
    CallLimits, CallStatistics, DeclaredState, Faulting, HandledKind, InterpreterDetail, Latency,
};
pub use refusal::Refusal;
pub use requests::{LoadParameters, Promotion};
pub use shadow::{
    ChangeSample, SampledVerdict, ShadowFaults, ShadowLatency, ShadowReport, ShadowedVersion,
    VerdictChange,
};
pub use versions::{HistoryEntry, InterpreterVersion};
pub use words::{ChangedBy, InterpreterStatus, OutcomeStatus};

/// All interpreters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct InterpreterList {
    /// Number of the published set; each publish counts one up.
    #[schema(example = 7)]
    pub generation: u64,
    /// Sorted by name.
    pub interpreters: Vec<InterpreterSummary>,
}

/// One interpreter, in short. Source, version and digest are those of the version that judges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct InterpreterSummary {
    /// Name of the interpreter, or of a refused file that did not get as far as to name one.
    #[schema(example = "apps")]
    pub name: String,
    /// State of the interpreter.
    pub status: InterpreterStatus,
    /// Source of the live version; left out if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Source)]
    pub source: Option<Source>,
    /// The live version, as the component names it; left out if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "1.0.0")]
    pub version: Option<String>,
    /// Digest of the live version, `sha256:` and 64 hex digits; left out if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub digest: Option<Digest>,
    /// The Kinds it judges, as patterns `group/version/Kind`.
    #[schema(example = json!(["apps/*/Deployment"]))]
    pub kinds: Vec<String>,
    /// Digest of the candidate that waits to be promoted; left out if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub candidate: Option<Digest>,
    /// Number of calls since it went live on this server.
    pub calls: u64,
    /// Number of these calls that ended in a fault.
    pub faults: u64,
    /// Set while too many of its calls end in a fault; left out otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faulting: Option<Faulting>,
    /// Number of times that it began to fail too often, since this server began.
    #[serde(default)]
    pub trips: u64,
}

/// The answer to a command, written as the one that it holds.
// Not to be read: a client knows by its command which of the two it gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum CommandAnswer {
    /// To every command but a shadow run.
    Outcome(Outcome),
    /// To a shadow run.
    Shadow(ShadowReport),
}

/// Result of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Outcome {
    /// Name of the interpreter.
    #[schema(value_type = String, example = "apps")]
    pub name: InterpreterName,
    /// The change that was made.
    pub action: CatalogAction,
    /// Digest of the component it was about, `sha256:` and 64 hex digits; left out if it was about
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(
        value_type = String,
        example = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    )]
    pub digest: Option<Digest>,
    /// Version of that component, as it names it; left out if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "1.1.0")]
    pub version: Option<String>,
    /// State of the interpreter after the command.
    pub status: OutcomeStatus,
    /// The same in a sentence.
    #[schema(example = "1.1.0 is live in place of 1.0.0")]
    pub detail: String,
}

#[cfg(test)]
mod tests;
