//! Reports of shadow runs, with the verdicts that a candidate would change.

use kindsight_model::{Digest, InterpreterName, Verdict};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Latency;

/// The comparison of a candidate with the live version, on every object that the server knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ShadowReport {
    /// Name of the interpreter.
    #[schema(value_type = String, example = "apps")]
    pub name: InterpreterName,
    /// The live version. Omitted if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ShadowedVersion)]
    pub live: Option<ShadowedVersion>,
    /// The candidate.
    pub candidate: ShadowedVersion,
    /// Number of objects that both versions judged.
    pub objects: u64,
    /// Number of verdicts that would change.
    pub changed: u64,
    /// Number of these verdicts whose phase would change. Of the others, the state, the reason or
    /// only the message would change.
    #[serde(default)]
    pub phases_changed: u64,
    /// Numbers of calls that ended in a fault.
    pub faults: ShadowFaults,
    /// Durations of calls, in microseconds.
    pub latency_us: ShadowLatency,
    /// The changes, most frequent first, at most 200.
    pub changes: Vec<VerdictChange>,
    /// Number of applications with verdicts that would change.
    #[serde(default)]
    pub applications_changed: u64,
    /// The applications with verdicts that would change, most changed phases first, at most 200.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub applications: Vec<ShadowedApplication>,
}

/// An application with verdicts that would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ShadowedApplication {
    /// Its name, as the status query accepts it.
    #[schema(example = "testvfw/compositevfw/v1/vfw_deployment_intent_group")]
    pub name: String,
    /// Number of its verdicts that would change.
    pub changed: u64,
    /// Number of its verdicts whose phase would change.
    pub phases_changed: u64,
}

/// A version in a shadow report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ShadowedVersion {
    /// The digest of the component, `sha256:` and 64 hex digits.
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
    /// Number of faults of the live version.
    pub live: u64,
    /// Number of faults of the candidate.
    pub candidate: u64,
}

/// Durations of calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ShadowLatency {
    /// Durations of the live version's calls. All 0 if there is no live version.
    pub live: Latency,
    /// Durations of the candidate's calls.
    pub candidate: Latency,
}

/// Objects of one Kind whose state would change in the same way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct VerdictChange {
    /// Their Kind, as `group/version/Kind`.
    #[schema(example = "apps/v1/Deployment")]
    pub kind: String,
    /// Their state according to the live version.
    #[schema(example = "Ready")]
    pub from: String,
    /// Their state according to the candidate. It is the same if only the reason or message
    /// differs.
    #[schema(example = "Pending")]
    pub to: String,
    /// Number of objects.
    pub count: u64,
    /// Some of these objects, at most 5.
    pub samples: Vec<ChangeSample>,
}

/// One object whose verdict would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ChangeSample {
    /// The report that contains the object: `context/app/provider+cluster`.
    #[schema(example = "7/sink/vfw-cluster-provider+edge01")]
    pub place: String,
    /// The namespace of the object. Empty if it has none.
    pub namespace: String,
    /// The name of the object.
    pub name: String,
    /// The verdict of the live version.
    pub from: SampledVerdict,
    /// The verdict of the candidate.
    pub to: SampledVerdict,
}

/// A verdict in a shadow report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct SampledVerdict {
    /// The state.
    #[schema(example = "Pending")]
    pub state: String,
    /// The reason of the state, as one word. Can be empty.
    pub reason: String,
    /// The reason of the state, as a sentence. Can be empty.
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
