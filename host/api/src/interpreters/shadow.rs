//! Reports of shadow runs: the verdicts that a candidate would change.

use kindsight_model::{Digest, InterpreterName, Verdict};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Latency;

/// Comparison of a candidate with the live version, over every object the server knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ShadowReport {
    /// Name of the interpreter.
    #[schema(value_type = String, example = "apps")]
    pub name: InterpreterName,
    /// The live version; left out if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ShadowedVersion)]
    pub live: Option<ShadowedVersion>,
    /// The candidate.
    pub candidate: ShadowedVersion,
    /// Number of objects that were judged by both.
    pub objects: u64,
    /// Number of verdicts that would change.
    pub changed: u64,
    /// Numbers of calls that ended in a fault.
    pub faults: ShadowFaults,
    /// Durations of calls, in microseconds.
    pub latency_us: ShadowLatency,
    /// The changes, most frequent first. At most 200.
    pub changes: Vec<VerdictChange>,
}

/// A version in a shadow report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ShadowedVersion {
    /// Digest of the component, `sha256:` and 64 hex digits.
    #[schema(value_type = String)]
    pub digest: Digest,
    /// The version, as the component names it.
    #[schema(example = "1.0.0")]
    pub version: String,
}

/// Numbers of calls that ended in a fault.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ShadowFaults {
    /// Of the live version.
    pub live: u64,
    /// Of the candidate.
    pub candidate: u64,
}

/// Durations of calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ShadowLatency {
    /// Of the live version; all 0 if there is none.
    pub live: Latency,
    /// Of the candidate.
    pub candidate: Latency,
}

/// Objects of one Kind of which the state would change in the same way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct VerdictChange {
    /// Their Kind, as `group/version/Kind`.
    #[schema(example = "apps/v1/Deployment")]
    pub kind: String,
    /// Their state by the live version.
    #[schema(example = "Ready")]
    pub from: String,
    /// Their state by the candidate; the same where only reason or message differ.
    #[schema(example = "Pending")]
    pub to: String,
    /// Number of objects.
    pub count: u64,
    /// Some of them. At most 5.
    pub samples: Vec<ChangeSample>,
}

/// One object of which the verdict would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ChangeSample {
    /// The report that holds it: `context/app/provider+cluster`.
    #[schema(example = "7/sink/vfw-cluster-provider+edge01")]
    pub place: String,
    /// Namespace of the object; empty if it has none.
    pub namespace: String,
    /// Name of the object.
    pub name: String,
    /// The verdict by the live version.
    pub from: SampledVerdict,
    /// The verdict by the candidate.
    pub to: SampledVerdict,
}

/// A verdict in a shadow report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct SampledVerdict {
    /// The state.
    #[schema(example = "Pending")]
    pub state: String,
    /// Reason of the state, in one word; may be empty.
    pub reason: String,
    /// Reason of the state, in a sentence; may be empty.
    pub message: String,
}

impl From<&Verdict> for SampledVerdict {
    fn from(verdict: &Verdict) -> Self {
        Self {
            state: verdict.state.to_string(),
            reason: verdict.reason.to_string(),
            message: verdict.message.to_string(),
        }
    }
}
