//! A catalog with one interpreter. The name in a command determines the behaviour of the catalog.

use std::sync::Mutex;

use kindsight_api::interpreters::{
    CallLimits, CallStatistics, ChangeSample, ChangedBy, CommandAnswer, DeclaredReason,
    DeclaredState, Faulting, HandledKind, HistoryEntry, InterpreterDetail, InterpreterList,
    InterpreterStatus, InterpreterSummary, InterpreterVersion, Latency, LiveCondition,
    MissingRules, Outcome, OutcomeStatus, RecordRefusal, Recorded, RecordedObject, Refusal,
    RefusedUpload, RemovedNames, SampledVerdict, ShadowBase, ShadowFaults, ShadowLatency,
    ShadowReport, ShadowedApplication, ShadowedVersion, Takeover, VerdictChange,
};
use kindsight_model::{
    CatalogAction, ClusterName, Digest, InterpreterName, LoadStep, Source, SubjectSet,
    VersionOutcome,
};
use serde_json::{Map, Value, json};

use super::*;
use crate::{Command, InterpreterCatalog, Upload};

pub(super) const LIVE: &str =
    "sha256:1111111111111111111111111111111111111111111111111111111111111111";
pub(super) const CANDIDATE: &str =
    "sha256:2222222222222222222222222222222222222222222222222222222222222222";

/// A catalog that records its commands.
#[derive(Default)]
pub(super) struct SampleCatalog {
    asked: Mutex<Vec<(String, Command)>>,
    compared: Mutex<Vec<(Vec<u8>, ShadowBase, SubjectSet)>>,
    too_large: Mutex<Vec<(String, usize)>>,
}

impl SampleCatalog {
    /// The uploads that were too large, with their names.
    pub(super) fn too_large(&self) -> Vec<(String, usize)> {
        self.too_large.lock().unwrap().clone()
    }

    /// The comparisons, with the subjects that their senders may see.
    pub(super) fn compared(&self) -> Vec<(Vec<u8>, ShadowBase, SubjectSet)> {
        self.compared.lock().unwrap().clone()
    }

    /// The commands since the previous call.
    pub(super) fn asked(&self) -> Vec<(String, Command)> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

impl InterpreterCatalog for SampleCatalog {
    fn list(&self) -> InterpreterList {
        InterpreterList {
            generation: 7,
            interpreters: vec![summary()],
            refused: vec![refused()],
        }
    }

    fn inspect(&self, name: &InterpreterName) -> Option<InterpreterDetail> {
        (name.as_str() == "apps").then(detail)
    }

    fn run(
        &self,
        name: InterpreterName,
        command: Command,
        condition: LiveCondition,
        _: &SubjectSet,
    ) -> Pin<Box<dyn Future<Output = Result<CommandAnswer, Refusal>> + Send + '_>> {
        self.asked
            .lock()
            .unwrap()
            .push((name.to_string(), command.clone()));
        Box::pin(async move {
            if !condition.holds(Some(&digest(LIVE))) {
                return Err(Refusal::Changed(format!(
                    "the live version is 1.0.0 ({LIVE})"
                )));
            }
            match &*name {
                "conflict" => Err(Refusal::Conflict("nothing waits to be promoted".to_owned())),
                "refused" => Err(Refusal::Refused {
                    step: LoadStep::Tried,
                    why: "fixture `rolled out`: expected state Ready, got Pending".to_owned(),
                }),
                "failed" => Err(Refusal::Failed("the disk is on fire".to_owned())),
                "never" => std::future::pending().await,
                "nobody" => Err(Refusal::NotFound {
                    known: vec!["apps".to_owned(), "core".to_owned()],
                }),
                _ if matches!(command, Command::Shadow(_)) => Ok(CommandAnswer::Shadow(report())),
                _ => Ok(CommandAnswer::Outcome(outcome(name))),
            }
        })
    }

    fn load(
        &self,
        upload: Upload,
    ) -> Pin<Box<dyn Future<Output = Result<CommandAnswer, Refusal>> + Send + '_>> {
        let name = if upload.bytes == b"refused" {
            "refused"
        } else {
            "own-name"
        };
        let name: InterpreterName = name.parse().unwrap();
        self.run(
            name,
            Command::Load(upload),
            LiveCondition::Any,
            &SubjectSet::Nothing,
        )
    }

    fn compare(
        &self,
        component: Vec<u8>,
        base: ShadowBase,
        visible: &SubjectSet,
    ) -> Pin<Box<dyn Future<Output = Result<ShadowReport, Refusal>> + Send + '_>> {
        let compared = (component.clone(), base, visible.clone());
        self.compared.lock().unwrap().push(compared);
        Box::pin(async move {
            match &*component {
                b"refused" => Err(Refusal::Refused {
                    step: LoadStep::Validated,
                    why: "not a WebAssembly component".to_owned(),
                }),
                b"never" => std::future::pending().await,
                _ => Ok(report()),
            }
        })
    }

    fn record(
        &self,
        cluster: ClusterName,
        object: RecordedObject,
    ) -> Pin<Box<dyn Future<Output = Result<Recorded, RecordRefusal>> + Send + '_>> {
        Box::pin(async move {
            match &*object.name {
                "absent" => Err(RecordRefusal::NotFound),
                "faulting" => Err(RecordRefusal::Impossible("it is faulting".to_owned())),
                name => Ok(Recorded {
                    interpreter: "apps".parse().unwrap(),
                    version: "1.0.0".to_owned(),
                    digest: digest(LIVE),
                    fixture: settings(json!({"name": format!("{cluster} {name}")})),
                }),
            }
        })
    }

    fn missing_rules(
        &self,
        _: &SubjectSet,
    ) -> Pin<Box<dyn Future<Output = Result<MissingRules, Refusal>> + Send + '_>> {
        Box::pin(async { Ok(MissingRules::default()) })
    }

    fn note_too_large(&self, name: Option<InterpreterName>, bytes_max: usize) {
        let name = name.map_or_else(String::new, |name| name.to_string());
        self.too_large.lock().unwrap().push((name, bytes_max));
    }

    fn remove_unused(
        &self,
    ) -> Pin<Box<dyn Future<Output = Result<RemovedNames, Refusal>> + Send + '_>> {
        let removed = vec!["left".parse().unwrap()];
        Box::pin(async { Ok(RemovedNames { removed }) })
    }
}

fn refused() -> RefusedUpload {
    RefusedUpload {
        time: "2026-01-02T03:04:05Z".parse().unwrap(),
        name: Some("junk".parse().unwrap()),
        source: Source::Directory,
        file: Some("Junk.wasm".to_owned()),
        digest: Some(digest(CANDIDATE)),
        step: LoadStep::Validated,
        why: "not a WebAssembly component".to_owned(),
    }
}

pub(super) fn digest(text: &str) -> Digest {
    text.parse().unwrap()
}

pub(super) fn settings(object: Value) -> Map<String, Value> {
    serde_json::from_value(object).unwrap()
}

fn outcome(name: InterpreterName) -> Outcome {
    Outcome {
        name,
        action: CatalogAction::Load,
        digest: Some(digest(LIVE)),
        version: Some("1.1.0".to_owned()),
        status: OutcomeStatus::Live,
        detail: "1.1.0 is live in place of 1.0.0".to_owned(),
        takes: vec![Takeover {
            kind: "apps/*/Deployment".to_owned(),
            name: "apps".parse().unwrap(),
            version: "0.1.0".to_owned(),
            source: Source::BuiltIn,
        }],
    }
}

pub(super) fn summary() -> InterpreterSummary {
    InterpreterSummary {
        name: "apps".to_owned(),
        status: InterpreterStatus::Live,
        source: Some(Source::BuiltIn),
        version: Some("1.0.0".to_owned()),
        digest: Some(digest(LIVE)),
        kinds: vec!["apps/*/Deployment".to_owned()],
        candidate: Some(digest(CANDIDATE)),
        unavailable: Some("received: too large".to_owned()),
        calls: Some(12),
        faults: Some(3),
        faulting: Some(faulting()),
        trips: Some(0),
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

fn faulting() -> Faulting {
    Faulting {
        calls: 12,
        faults: 11,
        since: "2026-01-02T03:04:05Z".parse().unwrap(),
    }
}

pub(super) fn detail() -> InterpreterDetail {
    InterpreterDetail {
        name: "apps".parse().unwrap(),
        status: InterpreterStatus::Live,
        source: Some(Source::BuiltIn),
        version: Some("1.0.0".to_owned()),
        digest: Some(digest(LIVE)),
        summary: "Deployments and what is like them.".to_owned(),
        kinds: vec![HandledKind {
            pattern: "apps/*/Deployment".to_owned(),
            when: Some("/status".to_owned()),
            uses_now: true,
            fields: vec!["/status".to_owned()],
            related: vec!["core v1 Pod owned".to_owned()],
        }],
        states: vec![DeclaredState {
            name: "Ready".to_owned(),
            phase: Phase::Ready,
            summary: "All replicas are there.".to_owned(),
            is_final: true,
        }],
        reasons: vec![DeclaredReason {
            name: "NoPorts".to_owned(),
            summary: "No port is attached yet.".to_owned(),
            help_url: Some("https://example.com/no-ports".to_owned()),
        }],
        warnings: vec!["licence: not a member of the contract".to_owned()],
        settings: Some(settings(json!({"patience-s": 30}))),
        settings_declared_in: Some("the configuration of the server".to_owned()),
        settings_schema: Some(json!({"type": "object"})),
        limits: CallLimits {
            call_deadline_per_mib_ms: 100,
            input_bytes_max: 4_194_304,
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
            log_lines_dropped: 4,
        },
        faulting: Some(faulting()),
        trips: 0,
        versions: vec![InterpreterVersion {
            digest: digest(CANDIDATE),
            version: "1.1.0".to_owned(),
            source: Source::Upload,
            outcome: VersionOutcome::RolledBack,
            why: "12 of 20 calls ended in a fault".to_owned(),
            received: "2026-01-02T03:04:05Z".parse().unwrap(),
        }],
        history: vec![HistoryEntry {
            time: "2026-01-02T03:05:05Z".parse().unwrap(),
            action: CatalogAction::Breaker,
            source: ChangedBy::Host,
            digest: Some(digest(CANDIDATE)),
            version: "1.1.0".to_owned(),
            outcome: "back to 1.0.0".to_owned(),
        }],
    }
}

pub(super) fn report() -> ShadowReport {
    let version = |text: &str, version: &str| ShadowedVersion {
        digest: digest(text),
        version: version.to_owned(),
    };
    let verdict = |state: &str, reason: &str| SampledVerdict {
        state: state.to_owned(),
        reason: reason.to_owned(),
        message: "1 of 2 replicas are ready".to_owned(),
    };
    ShadowReport {
        name: "apps".parse().unwrap(),
        live: Some(version(LIVE, "1.0.0")),
        candidate: version(CANDIDATE, "1.1.0"),
        objects: 40,
        changed: 1,
        phases_changed: 1,
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
        applications_changed: 1,
        applications: vec![ShadowedApplication {
            name: "testvfw/compositevfw/v1/vfw_deployment_intent_group".to_owned(),
            changed: 1,
            phases_changed: 1,
        }],
    }
}
