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
    /// The name of the interpreter.
    #[schema(value_type = String, example = "apps")]
    pub name: InterpreterName,
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
    /// The purpose of the interpreter, from its own description. Can be empty.
    pub summary: String,
    /// The Kinds that it judges, with the fields and related objects that it receives.
    pub kinds: Vec<HandledKind>,
    /// The states that its verdicts can contain.
    pub states: Vec<DeclaredState>,
    /// The reasons that it explains. Omitted if it explains none. Its verdicts can contain other
    /// reasons too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<DeclaredReason>,
    /// Members of its description and fixtures that this server does not know and ignores. Omitted
    /// if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(example = json!(["licence: not a member of the contract, ignored"]))]
    pub warnings: Vec<String>,
    /// Its settings. Omitted if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub settings: Option<Map<String, Value>>,
    /// The place that declares the settings; a command cannot change them. Omitted if a command set
    /// them, or there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "the configuration of the server")]
    pub settings_declared_in: Option<String>,
    /// The JSON Schema of its settings. Omitted if it has no settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub settings_schema: Option<Value>,
    /// Limits on one call.
    pub limits: CallLimits,
    /// Statistics of its calls since it went live on this server.
    pub statistics: CallStatistics,
    /// Present while too many of its calls end in a fault. Omitted otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faulting: Option<Faulting>,
    /// Number of times that it began to fail too frequently since this server started.
    #[serde(default)]
    pub trips: u64,
    /// The known versions, newest first.
    pub versions: Vec<InterpreterVersion>,
    /// The changes of the interpreter, newest first. The oldest are dropped.
    pub history: Vec<HistoryEntry>,
}

/// Faults of the live version beyond the permitted number. The version stays live if no other
/// version of the interpreter gives better results on the failed inputs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Faulting {
    /// Number of different inputs, or of objects, that clusters reported within about the last
    /// minute.
    #[schema(example = 12)]
    pub calls: u64,
    /// Number of these inputs, or objects, whose call ended in a fault.
    #[schema(example = 12)]
    pub faults: u64,
    /// The time at which it began to fail too frequently.
    #[schema(value_type = String, format = DateTime)]
    pub since: Timestamp,
}

/// A pattern of objects that an interpreter judges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct HandledKind {
    /// Pattern `group/version/Kind`, in which `*` matches everything.
    #[schema(example = "apps/*/Deployment")]
    pub pattern: String,
    /// JSON pointer of a field that objects must have. Omitted if the interpreter judges all
    /// objects of the pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "/status/conditions")]
    pub when: Option<String>,
    /// `true` if its verdicts depend on the time. Omitted otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uses_now: bool,
    /// The fields that are passed, as JSON pointers.
    #[schema(example = json!(["/status"]))]
    pub fields: Vec<String>,
    /// The related objects that are passed, each as text.
    #[schema(example = json!(["core/*/Pod that it owns, at most 100"]))]
    pub related: Vec<String>,
}

/// A state that an interpreter's verdicts can contain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct DeclaredState {
    /// The name of the state.
    #[schema(example = "Draining")]
    pub name: String,
    /// The phase as which it counts.
    pub phase: Phase,
    /// Its meaning.
    #[schema(example = "It ends what it has begun and takes nothing new.")]
    pub summary: String,
    /// `true` if a resource does not leave this state without an external cause. Omitted otherwise.
    #[serde(default, rename = "final", skip_serializing_if = "std::ops::Not::not")]
    pub is_final: bool,
}

/// A reason that an interpreter explains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct DeclaredReason {
    /// The name of the reason.
    #[schema(example = "NoPorts")]
    pub name: String,
    /// Its meaning.
    #[schema(example = "No port is attached yet.")]
    pub summary: String,
    /// Page with advice about the reason. Omitted if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "https://example.com/help/no-ports")]
    pub help_url: Option<String>,
}

/// Limits on one call of an interpreter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct CallLimits {
    /// Processor time of one call, in milliseconds, including the time for making an instance if
    /// needed.
    #[schema(example = 50)]
    pub call_deadline_ms: u64,
    /// Additional processor time for each MiB of input, in milliseconds.
    #[serde(default)]
    #[schema(example = 100)]
    pub call_deadline_per_mib_ms: u64,
    /// Maximum size of the input: the object and its related objects, reduced to the requested
    /// fields, in bytes. Related objects that do not fit are omitted.
    #[serde(default)]
    #[schema(example = 4_194_304)]
    pub input_bytes_max: u64,
    /// Maximum memory of one instance, in bytes.
    #[schema(example = 67_108_864)]
    pub memory_bytes_max: u64,
    /// Number of calls after which an instance is replaced by a new one.
    pub calls_max: u64,
    /// Maximum number of lines that it can log in one call.
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
    /// The duration of the calls, in microseconds.
    pub latency_us: Latency,
    /// The largest memory of one instance, in bytes.
    pub memory_high_water_bytes: u64,
    /// The present number of instances.
    pub instances: u64,
    /// Number of dropped log lines above its limits, in a call or in 10 s.
    #[serde(default)]
    pub log_lines_dropped: u64,
}

/// Durations of calls, in microseconds, by percentile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Latency {
    /// The longest duration of the faster half of the calls.
    pub p50: u64,
    /// The longest duration of the fastest 90 % of the calls.
    pub p90: u64,
    /// The longest duration of the fastest 99 % of the calls.
    pub p99: u64,
    /// The longest duration of all calls.
    pub max: u64,
}
