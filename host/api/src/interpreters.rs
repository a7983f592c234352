//! Interpreters: the list, one interpreter in full, commands and their results.

mod detail;
mod missing;
mod recorded;
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
pub use missing::{KindWithoutRule, MissingRules, StateCount};
pub use recorded::{RecordRefusal, Recorded, RecordedObject};
pub use refusal::{LiveCondition, Refusal};
pub use requests::{
    ComparisonParameters, LoadParameters, Promotion, RemovalParameters, ShadowBase, ShadowRun,
};
pub use shadow::{
    ChangeSample, SampledVerdict, ShadowFaults, ShadowLatency, ShadowReport, ShadowedApplication,
    ShadowedVersion, VerdictChange,
};
pub use versions::{HistoryEntry, InterpreterVersion};
pub use words::{ChangedBy, InterpreterStatus, OutcomeStatus};

/// All interpreters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct InterpreterList {
    /// Number of the published set. It increases by one with each publication.
    #[schema(example = 7)]
    pub generation: u64,
    /// The interpreters, sorted by name.
    pub interpreters: Vec<InterpreterSummary>,
    /// The components that this server refused last, newest first. The oldest are dropped, and a
    /// restart drops all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedUpload>,
}

/// A component that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = RefusedComponent)]
pub struct RefusedUpload {
    /// The time of the refusal.
    #[schema(value_type = String, format = DateTime)]
    pub time: Timestamp,
    /// The name under which it was uploaded. Omitted if it was uploaded without a name. A file does
    /// not determine the name of its component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "apps")]
    pub name: Option<InterpreterName>,
    /// The source of the component.
    pub source: Source,
    /// Its file in the watched directory. Omitted if it was uploaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub file: Option<String>,
    /// The digest of its bytes, `sha256:` and 64 hex digits. Omitted if the bytes were not read,
    /// because the file is too large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub digest: Option<Digest>,
    /// The step of the load that refused it.
    pub step: LoadStep,
    /// The reason.
    pub why: String,
}

/// The names that were removed because they are not in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct RemovedNames {
    /// The names, sorted.
    #[schema(value_type = Vec<String>)]
    pub removed: Vec<InterpreterName>,
}

/// One interpreter, in short form. Source, version and digest describe the live version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct InterpreterSummary {
    /// The name of the interpreter.
    #[schema(example = "apps")]
    pub name: String,
    /// The state of the interpreter.
    pub status: InterpreterStatus,
    /// The source of the live version. Omitted if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Source)]
    pub source: Option<Source>,
    /// The live version, as the component names it. Omitted if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "1.0.0")]
    pub version: Option<String>,
    /// The digest of the live version, `sha256:` and 64 hex digits. Omitted if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub digest: Option<Digest>,
    /// The Kinds that it judges, as patterns `group/version/Kind`.
    #[schema(example = json!(["apps/*/Deployment"]))]
    pub kinds: Vec<String>,
    /// The digest of the candidate that can be promoted. Omitted if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub candidate: Option<Digest>,
    /// The reason why this server cannot load the live version or the candidate at present, so that
    /// another version judges instead. Omitted if both are loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub unavailable: Option<String>,
    /// Number of calls since it went live on this server. Omitted if the user may not see every application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u64)]
    pub calls: Option<u64>,
    /// Number of these calls that ended in a fault. Omitted if the user may not see every application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u64)]
    pub faults: Option<u64>,
    /// Present while too many of its calls end in a fault. Omitted otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faulting: Option<Faulting>,
    /// Number of times that it began to fail too frequently since this server started. Omitted if the user may not see
    /// every application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u64)]
    pub trips: Option<u64>,
}

/// The answer to a command, written as its content.
// Not for deserialization: the client's command determines the type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum CommandAnswer {
    /// The answer to every command except a shadow run.
    Outcome(Outcome),
    /// The answer to a shadow run.
    Shadow(ShadowReport),
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Outcome {
    /// Name of the interpreter.
    #[schema(value_type = String, example = "apps")]
    pub name: InterpreterName,
    /// The change that was made.
    pub action: CatalogAction,
    /// The digest of the component that the command concerned, `sha256:` and 64 hex digits. Omitted
    /// if it concerned none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(
        value_type = String,
        example = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    )]
    pub digest: Option<Digest>,
    /// The version of that component, as it names it. Omitted if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "1.1.0")]
    pub version: Option<String>,
    /// The state of the interpreter after the command.
    pub status: OutcomeStatus,
    /// The result as a sentence.
    #[schema(example = "1.1.0 is live in place of 1.0.0")]
    pub detail: String,
    /// The Kinds that it now judges instead of another interpreter, or that the candidate would
    /// judge. Omitted if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub takes: Vec<Takeover>,
}

/// A Kind that an interpreter judges instead of another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Takeover {
    /// Pattern `group/version/Kind`, in which `*` matches everything.
    #[schema(example = "apps/*/Deployment")]
    pub kind: String,
    /// The name of the other interpreter.
    #[schema(value_type = String, example = "apps")]
    pub name: InterpreterName,
    /// The version of the other interpreter.
    #[schema(example = "0.1.0")]
    pub version: String,
    /// The source of the other interpreter.
    pub source: Source,
}

#[cfg(test)]
mod tests;
