//! What is said of interpreters: all in a list, one in full.

use std::collections::BTreeMap;

use kindsight_model::Phase;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{Action, ChangedBy, InterpreterStatus, Source, VersionOutcome};

/// Every interpreter there is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct InterpreterList {
    /// Which published set this is; each publish counts one up.
    #[schema(example = 7)]
    pub generation: u64,
    /// Sorted by name.
    pub interpreters: Vec<InterpreterSummary>,
}

/// One interpreter, in short. Source, version and digest are those of the effective slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct InterpreterSummary {
    /// Its name.
    #[schema(example = "apps")]
    pub name: String,
    /// Where it stands.
    pub status: InterpreterStatus,
    /// Where it came from; left out if no version of it is live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, value_type = Source)]
    pub source: Option<Source>,
    /// Its version, in its own word; left out if no version of it is live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, value_type = String, example = "1.0.0")]
    pub version: Option<String>,
    /// `sha256:` and 64 hex digits; left out if no version of it is live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, value_type = String)]
    pub digest: Option<String>,
    /// What it judges, as patterns `group/version/Kind`.
    #[schema(example = json!(["apps/*/Deployment"]))]
    pub kinds: Vec<String>,
    /// The digest of what waits to be promoted; left out if nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, value_type = String)]
    pub candidate: Option<String>,
    /// How often it was called since it went live here.
    pub calls: u64,
    /// How many of these calls ended in a fault.
    pub faults: u64,
}

/// One interpreter, in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct InterpreterDetail {
    /// Its name.
    #[schema(example = "apps")]
    pub name: String,
    /// Where it stands.
    pub status: InterpreterStatus,
    /// Where it came from; left out if no version of it is live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, value_type = Source)]
    pub source: Option<Source>,
    /// Its version, in its own word; left out if no version of it is live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, value_type = String, example = "1.0.0")]
    pub version: Option<String>,
    /// `sha256:` and 64 hex digits; left out if no version of it is live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, value_type = String)]
    pub digest: Option<String>,
    /// What it says it is for; may be empty.
    pub summary: String,
    /// What it judges, and what it is given for that.
    pub kinds: Vec<HandledKind>,
    /// Every state it may answer with.
    pub states: Vec<DeclaredState>,
    /// What it was set to; left out if nothing was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, value_type = Object)]
    pub settings: Option<Value>,
    /// The JSON Schema of its settings; left out if it takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, value_type = Object)]
    pub settings_schema: Option<Value>,
    /// What one call may take.
    pub limits: CallLimits,
    /// What its calls took since it went live here.
    pub statistics: CallStatistics,
    /// The versions that are known, newest first.
    pub versions: Vec<InterpreterVersion>,
    /// What was done to it, newest first. The oldest are forgotten.
    pub history: Vec<HistoryEntry>,
}

/// One sort of object an interpreter judges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct HandledKind {
    /// Which: `group/version/Kind`, where `*` stands for all.
    #[schema(example = "apps/*/Deployment")]
    pub pattern: String,
    /// The fields that are passed, as JSON pointers.
    #[schema(example = json!(["/status"]))]
    pub fields: Vec<String>,
    /// Other objects that are passed, each in words.
    #[schema(example = json!(["core v1 Pod owned"]))]
    pub related: Vec<String>,
}

/// A state an interpreter may answer with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct DeclaredState {
    /// The word.
    #[schema(example = "Draining")]
    pub name: String,
    /// What it is counted as.
    pub phase: Phase,
    /// What it means.
    #[schema(example = "It ends what it has begun and takes nothing new.")]
    pub summary: String,
}

/// What one call of an interpreter may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct CallLimits {
    /// Processor time of one call, in milliseconds.
    #[schema(example = 50)]
    pub call_deadline_ms: u64,
    /// Memory of one instance, in bytes.
    #[schema(example = 67_108_864)]
    pub memory_bytes_max: u64,
    /// Calls after which an instance is replaced by a fresh one.
    pub calls_max: u64,
    /// Lines it may log in one call.
    #[schema(example = 32)]
    pub log_lines_max: u64,
}

/// What the calls of an interpreter took.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct CallStatistics {
    /// How many there were.
    pub calls: u64,
    /// How many ended in a fault, by its name.
    #[schema(example = json!({"InterpreterTrapped": 3}))]
    pub faults: BTreeMap<String, u64>,
    /// How long they took.
    pub latency_us: Latency,
    /// The most memory one instance took, in bytes.
    pub memory_high_water_bytes: u64,
    /// Instances that are there now.
    pub instances: u64,
}

/// How long calls took, in microseconds: so many of a hundred were no longer than this.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Latency {
    /// The half of them.
    pub p50: u64,
    /// 90 of a hundred.
    pub p90: u64,
    /// 99 of a hundred.
    pub p99: u64,
    /// All of them.
    pub max: u64,
}

/// One version of an interpreter: one component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct InterpreterVersion {
    /// `sha256:` and 64 hex digits of the component's bytes.
    pub digest: String,
    /// Its version, in its own word; empty if it was refused before it could say.
    #[schema(example = "1.0.0")]
    pub version: String,
    /// Where it came from.
    pub source: Source,
    /// What became of it.
    pub outcome: VersionOutcome,
    /// Why; left out where there is nothing to say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schema(required = false)]
    pub why: String,
    /// When it came.
    #[schema(format = DateTime)]
    pub received: String,
}

/// One thing that was done to an interpreter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct HistoryEntry {
    /// When.
    #[schema(format = DateTime)]
    pub time: String,
    /// What.
    pub action: Action,
    /// Who or what did it.
    pub source: ChangedBy,
    /// The component it was about; empty if it was about none.
    pub digest: String,
    /// Its version, in its own word; may be empty.
    pub version: String,
    /// What came of it, for people.
    #[schema(example = "live in place of 1.0.0")]
    pub outcome: String,
}
