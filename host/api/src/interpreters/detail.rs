//! One interpreter in full.

use std::collections::BTreeMap;

use jiff::Timestamp;
use kindsight_model::{Digest, InterpreterName, Phase, Source};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{HistoryEntry, InterpreterStatus, InterpreterVersion};

/// One interpreter, in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct InterpreterDetail {
    /// Name of the interpreter.
    #[schema(value_type = String, example = "apps")]
    pub name: InterpreterName,
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
    /// Purpose of the interpreter, in its own words; may be empty.
    pub summary: String,
    /// The Kinds it judges, with the fields and related objects it is given.
    pub kinds: Vec<HandledKind>,
    /// The states it may give.
    pub states: Vec<DeclaredState>,
    /// The reasons it explains; left out if it explains none. It may give others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<DeclaredReason>,
    /// Members of its description and fixtures that this server does not know and ignores; left out if
    /// there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(example = json!(["licence: not a member of the contract, ignored"]))]
    pub warnings: Vec<String>,
    /// Its settings; left out if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub settings: Option<Map<String, Value>>,
    /// JSON Schema of its settings; left out if it takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub settings_schema: Option<Value>,
    /// Limits on one call.
    pub limits: CallLimits,
    /// Statistics of its calls since it went live on this server.
    pub statistics: CallStatistics,
    /// Set while too many of its calls end in a fault; left out otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faulting: Option<Faulting>,
    /// Number of times that it began to fail too often, since this server began.
    #[serde(default)]
    pub trips: u64,
    /// The versions that are known, newest first.
    pub versions: Vec<InterpreterVersion>,
    /// The changes that were made to it, newest first. The oldest are forgotten.
    pub history: Vec<HistoryEntry>,
}

/// Faults of the live version, more than it may have. It stays live where no other version of it does
/// better on what it failed on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Faulting {
    /// Number of different inputs that clusters reported within about the last minute.
    #[schema(example = 12)]
    pub calls: u64,
    /// Number of these that ended in a fault.
    #[schema(example = 12)]
    pub faults: u64,
    /// Begin of its failing too often.
    #[schema(value_type = String, format = DateTime)]
    pub since: Timestamp,
}

/// One sort of object that an interpreter judges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct HandledKind {
    /// Pattern `group/version/Kind`, where `*` stands for all.
    #[schema(example = "apps/*/Deployment")]
    pub pattern: String,
    /// JSON pointer of a field that objects must have; left out if it judges all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "/status/conditions")]
    pub when: Option<String>,
    /// `true` if its verdicts depend on the time; otherwise left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uses_now: bool,
    /// The fields that are passed, as JSON pointers.
    #[schema(example = json!(["/status"]))]
    pub fields: Vec<String>,
    /// Related objects that are passed, each in words.
    #[schema(example = json!(["core/*/Pod that it owns, at most 100"]))]
    pub related: Vec<String>,
}

/// A state that an interpreter may give.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct DeclaredState {
    /// The word.
    #[schema(example = "Draining")]
    pub name: String,
    /// The phase it is counted as.
    pub phase: Phase,
    /// Its meaning.
    #[schema(example = "It ends what it has begun and takes nothing new.")]
    pub summary: String,
    /// `true` if a resource in this state does not leave it by itself; otherwise left out.
    #[serde(default, rename = "final", skip_serializing_if = "std::ops::Not::not")]
    pub is_final: bool,
}

/// A reason that an interpreter explains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct DeclaredReason {
    /// The word.
    #[schema(example = "NoPorts")]
    pub name: String,
    /// Its meaning.
    #[schema(example = "No port is attached yet.")]
    pub summary: String,
    /// Page that says what to do about it; left out if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "https://example.com/help/no-ports")]
    pub help_url: Option<String>,
}

/// Limits on one call of an interpreter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct CallLimits {
    /// Processor time of one call, in milliseconds, with making an instance where there is none.
    #[schema(example = 50)]
    pub call_deadline_ms: u64,
    /// Processor time that is added for each MiB of input, in milliseconds.
    #[serde(default)]
    #[schema(example = 100)]
    pub call_deadline_per_mib_ms: u64,
    /// Largest input: the object and its related objects, trimmed, in bytes. Related objects that do not
    /// fit are left out.
    #[serde(default)]
    #[schema(example = 4_194_304)]
    pub input_bytes_max: u64,
    /// Memory of one instance, in bytes.
    #[schema(example = 67_108_864)]
    pub memory_bytes_max: u64,
    /// Calls after which an instance is replaced by a fresh one.
    pub calls_max: u64,
    /// Lines it may log in one call.
    #[schema(example = 32)]
    pub log_lines_max: u64,
}

/// Statistics of the calls of an interpreter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct CallStatistics {
    /// Number of calls.
    pub calls: u64,
    /// Number of calls that ended in a fault, by the name of the fault.
    #[schema(example = json!({"InterpreterTrapped": 3}))]
    pub faults: BTreeMap<String, u64>,
    /// Duration of the calls, in microseconds.
    pub latency_us: Latency,
    /// The most memory one instance took, in bytes.
    pub memory_high_water_bytes: u64,
    /// Number of instances now.
    pub instances: u64,
    /// Number of lines it logged above its limits, in a call or in 10 s: they are in no log.
    #[serde(default)]
    pub log_lines_dropped: u64,
}

/// Durations of calls, in microseconds, by percentile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Latency {
    /// The longest of the faster half.
    pub p50: u64,
    /// The longest of the fastest 90 %.
    pub p90: u64,
    /// The longest of the fastest 99 %.
    pub p99: u64,
    /// The longest of all.
    pub max: u64,
}
