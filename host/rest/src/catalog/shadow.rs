//! What a candidate would change.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Latency;

/// What a candidate says beside the live version, over every object the host knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ShadowReport {
    /// The interpreter.
    #[schema(example = "apps")]
    pub name: String,
    /// What is live; left out if nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, value_type = ShadowedVersion)]
    pub live: Option<ShadowedVersion>,
    /// What may go live.
    pub candidate: ShadowedVersion,
    /// How many objects were judged by both.
    pub objects: u64,
    /// How many verdicts would change.
    pub changed: u64,
    /// How many calls ended in a fault.
    pub faults: ShadowFaults,
    /// How long calls took, in microseconds.
    pub latency_us: ShadowLatency,
    /// What would change, most first. At most 200.
    pub changes: Vec<VerdictChange>,
}

/// A version in a shadow report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ShadowedVersion {
    /// `sha256:` and 64 hex digits of the component's bytes.
    pub digest: String,
    /// Its version, in its own word.
    #[schema(example = "1.0.0")]
    pub version: String,
}

/// How many calls ended in a fault.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ShadowFaults {
    /// Of the live version.
    pub live: u64,
    /// Of the candidate.
    pub candidate: u64,
}

/// How long calls took.
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
    /// Their state as the live version has it.
    #[schema(example = "Ready")]
    pub from: String,
    /// Their state as the candidate has it; the same where only reason or message differ.
    #[schema(example = "Pending")]
    pub to: String,
    /// How many there are.
    pub count: u64,
    /// Some of them. At most 5.
    pub samples: Vec<ChangeSample>,
}

/// One object of which the verdict would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ChangeSample {
    /// Where it was reported: `context/app/provider+cluster`.
    #[schema(example = "7/sink/vfw-cluster-provider+edge01")]
    pub place: String,
    /// Its namespace; empty if it has none.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// What the live version says.
    pub from: SampledVerdict,
    /// What the candidate says.
    pub to: SampledVerdict,
}

/// What was said of an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct SampledVerdict {
    /// How it fares, in the interpreter's word.
    #[schema(example = "Pending")]
    pub state: String,
    /// Why, in one word; may be empty.
    pub reason: String,
    /// Why, for people; may be empty.
    pub message: String,
}
