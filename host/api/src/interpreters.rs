//! Interpreters: the list, one in full, commands and their results.

mod detail;
mod refusal;
mod requests;
mod shadow;
mod versions;
mod words;

use jiff::Timestamp;
use kindsight_model::{CatalogAction, Digest, InterpreterName, LoadStep, Source};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use detail::{
    CallLimits, CallStatistics, DeclaredReason, DeclaredState, Faulting, HandledKind,
    InterpreterDetail, Latency,
};
pub use refusal::{LiveCondition, Refusal};
pub use requests::{LoadParameters, Promotion, RemovalParameters};
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
    /// The components that this server refused last, newest first. The oldest are forgotten, and all at
    /// a restart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedUpload>,
}

/// A component that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = RefusedComponent)]
pub struct RefusedUpload {
    /// Time of the refusal.
    #[schema(value_type = String, format = DateTime)]
    pub time: Timestamp,
    /// The name it was sent under; left out if it was sent under none. A file says nothing about the name of
    /// what is in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "apps")]
    pub name: Option<InterpreterName>,
    /// Source of the component.
    pub source: Source,
    /// Its file in the watched directory; left out if it was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub file: Option<String>,
    /// Digest of its bytes, `sha256:` and 64 hex digits.
    #[schema(value_type = String)]
    pub digest: Digest,
    /// The step of the load that refused it.
    pub step: LoadStep,
    /// The reason.
    pub why: String,
}

/// The names that were removed because nothing of them was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct RemovedNames {
    /// Sorted.
    #[schema(value_type = Vec<String>)]
    pub removed: Vec<InterpreterName>,
}

/// One interpreter, in short. Source, version and digest are those of the version that judges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct InterpreterSummary {
    /// Name of the interpreter.
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
    /// The reason why the live version, or the candidate, cannot be loaded on this server now, so that
    /// another version judges meanwhile; left out where both are loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub unavailable: Option<String>,
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
    /// The Kinds that it judges now instead of another interpreter, or that the candidate would; left out if
    /// there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub takes: Vec<Takeover>,
}

/// A Kind that an interpreter judges instead of another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Takeover {
    /// Pattern `group/version/Kind`, where `*` stands for all.
    #[schema(example = "apps/*/Deployment")]
    pub kind: String,
    /// Name of the other interpreter.
    #[schema(value_type = String, example = "apps")]
    pub name: InterpreterName,
    /// Version of the other interpreter.
    #[schema(example = "0.1.0")]
    pub version: String,
    /// Source of the other interpreter.
    pub source: Source,
}

#[cfg(test)]
mod tests;
