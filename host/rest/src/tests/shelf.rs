//! A catalog that knows one interpreter, and does what the name it is asked for says.

use std::sync::Mutex;

use serde_json::json;

use super::*;
use crate::{
    Action, Answer, CallLimits, CallStatistics, Catalog, ChangeSample, ChangedBy, Command,
    DeclaredState, HandledKind, HistoryEntry, InterpreterDetail, InterpreterList,
    InterpreterStatus, InterpreterSummary, InterpreterVersion, Latency, Outcome, OutcomeStatus,
    Refusal, SampledVerdict, ShadowFaults, ShadowLatency, ShadowReport, ShadowedVersion, Source,
    VerdictChange, VersionOutcome,
};

pub(super) const LIVE: &str =
    "sha256:1111111111111111111111111111111111111111111111111111111111111111";
pub(super) const CANDIDATE: &str =
    "sha256:2222222222222222222222222222222222222222222222222222222222222222";

/// Remembers what it was asked.
#[derive(Default)]
pub(super) struct Shelf {
    asked: Mutex<Vec<(String, Command)>>,
}

impl Shelf {
    /// What it was asked since it was last looked at.
    pub(super) fn asked(&self) -> Vec<(String, Command)> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

impl Catalog for Shelf {
    fn list(&self) -> InterpreterList {
        InterpreterList {
            generation: 7,
            interpreters: vec![summary()],
        }
    }

    fn inspect(&self, name: &str) -> Option<InterpreterDetail> {
        (name == "apps").then(detail)
    }

    fn run(
        &self,
        name: String,
        command: Command,
    ) -> Pin<Box<dyn Future<Output = Result<Answer, Refusal>> + Send + '_>> {
        self.asked
            .lock()
            .unwrap()
            .push((name.clone(), command.clone()));
        Box::pin(async move {
            match &*name {
                "conflict" => Err(Refusal::Conflict("nothing waits to be promoted".to_owned())),
                "refused" => Err(Refusal::Refused {
                    step: "tried".to_owned(),
                    why: "fixture `rolled out`: expected state Ready, got Pending".to_owned(),
                }),
                "failed" => Err(Refusal::Failed("the disk is on fire".to_owned())),
                "never" => std::future::pending().await,
                "nobody" => Err(Refusal::NotFound {
                    known: vec!["apps".to_owned(), "core".to_owned()],
                }),
                _ if command == Command::Shadow => Ok(Answer::Shadow(report())),
                _ => Ok(Answer::Outcome(outcome(name))),
            }
        })
    }
}

fn outcome(name: String) -> Outcome {
    Outcome {
        name,
        action: Action::Load,
        digest: Some(LIVE.to_owned()),
        version: Some("1.1.0".to_owned()),
        status: OutcomeStatus::Live,
        detail: "1.1.0 is live in place of 1.0.0".to_owned(),
    }
}

pub(super) fn summary() -> InterpreterSummary {
    InterpreterSummary {
        name: "apps".to_owned(),
        status: InterpreterStatus::Live,
        source: Some(Source::BuiltIn),
        version: Some("1.0.0".to_owned()),
        digest: Some(LIVE.to_owned()),
        kinds: vec!["apps/*/Deployment".to_owned()],
        candidate: Some(CANDIDATE.to_owned()),
        calls: 12,
        faults: 3,
    }
}

fn latency() -> Latency {
    Latency {
        p50: 40,
        p90: 60,
        p99: 200,
        max: 900,
    }
}

pub(super) fn detail() -> InterpreterDetail {
    InterpreterDetail {
        name: "apps".to_owned(),
        status: InterpreterStatus::Live,
        source: Some(Source::BuiltIn),
        version: Some("1.0.0".to_owned()),
        digest: Some(LIVE.to_owned()),
        summary: "Deployments and what is like them.".to_owned(),
        kinds: vec![HandledKind {
            pattern: "apps/*/Deployment".to_owned(),
            fields: vec!["/status".to_owned()],
            related: vec!["core v1 Pod owned".to_owned()],
        }],
        states: vec![DeclaredState {
            name: "Ready".to_owned(),
            phase: Phase::Ready,
            summary: "All replicas are there.".to_owned(),
        }],
        settings: Some(json!({"patience-s": 30})),
        settings_schema: Some(json!({"type": "object"})),
        limits: CallLimits {
            call_deadline_ms: 50,
            memory_bytes_max: 67_108_864,
            calls_max: 10_000,
            log_lines_max: 32,
        },
        statistics: CallStatistics {
            calls: 12,
            faults: [("InterpreterTrapped".to_owned(), 3)].into(),
            latency_us: latency(),
            memory_high_water_bytes: 1_048_576,
            instances: 2,
        },
        versions: vec![InterpreterVersion {
            digest: CANDIDATE.to_owned(),
            version: "1.1.0".to_owned(),
            source: Source::Upload,
            outcome: VersionOutcome::Bad,
            why: "12 of 20 calls ended in a fault".to_owned(),
            received: "2026-01-02T03:04:05Z".to_owned(),
        }],
        history: vec![HistoryEntry {
            time: "2026-01-02T03:05:05Z".to_owned(),
            action: Action::Breaker,
            source: ChangedBy::Host,
            digest: CANDIDATE.to_owned(),
            version: "1.1.0".to_owned(),
            outcome: "back to 1.0.0".to_owned(),
        }],
    }
}

pub(super) fn report() -> ShadowReport {
    let version = |digest: &str, version: &str| ShadowedVersion {
        digest: digest.to_owned(),
        version: version.to_owned(),
    };
    let verdict = |state: &str, reason: &str| SampledVerdict {
        state: state.to_owned(),
        reason: reason.to_owned(),
        message: "1 of 2 replicas are ready".to_owned(),
    };
    ShadowReport {
        name: "apps".to_owned(),
        live: Some(version(LIVE, "1.0.0")),
        candidate: version(CANDIDATE, "1.1.0"),
        objects: 40,
        changed: 1,
        faults: ShadowFaults {
            live: 0,
            candidate: 2,
        },
        latency_us: ShadowLatency {
            live: latency(),
            candidate: latency(),
        },
        changes: vec![VerdictChange {
            kind: "apps/v1/Deployment".to_owned(),
            from: "Ready".to_owned(),
            to: "Pending".to_owned(),
            count: 1,
            samples: vec![ChangeSample {
                place: "7/sink/vfw-cluster-provider+edge01".to_owned(),
                namespace: "default".to_owned(),
                name: "fw0-sink".to_owned(),
                from: verdict("Ready", ""),
                to: verdict("Pending", "Progressing"),
            }],
        }],
    }
}
