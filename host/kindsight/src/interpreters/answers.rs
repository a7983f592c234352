//! From what the catalog knows to what the API says.

use kindsight_catalog::{self as catalog, Activation, Catalog, Entry, Event, Report, Shadow};
use kindsight_interpreter::{
    CallSnapshot, Comparison, Interpreter, KindPattern, LOG_LINES_MAX, Limits, RelatedRule,
    Relation,
};
use kindsight_model::{CatalogAction, Digest, InterpreterName, Source, VersionOutcome};
use kindsight_rest as rest;
use serde_json::Value;

use crate::comparison;

/// Every interpreter, in short.
pub(super) fn list(catalog: &Catalog) -> rest::InterpreterList {
    let entrys = catalog.entries();
    rest::InterpreterList {
        generation: catalog.interpreters().published().generation(),
        interpreters: entrys
            .iter()
            .map(|(name, entry)| summary(catalog, name, entry))
            .collect(),
    }
}

fn summary(catalog: &Catalog, name: &InterpreterName, entry: &Entry) -> rest::InterpreterSummary {
    let effective = entry.effective();
    let interpreter = effective.and_then(|(_, version)| catalog.loaded(&version.digest));
    let kinds = interpreter.iter().flat_map(|it| &it.description().kinds);
    let counted = counted(catalog, name, entry);
    rest::InterpreterSummary {
        name: name.to_string(),
        status: status(entry),
        source: effective.map(|(from, _)| source(from)),
        version: effective.map(|(_, version)| version.version.clone()),
        digest: effective.map(|(_, version)| version.digest.to_string()),
        kinds: kinds.map(|kind| pattern(&kind.pattern)).collect(),
        candidate: entry
            .candidate()
            .map(|(_, version)| version.digest.to_string()),
        calls: counted.calls,
        faults: counted.faults_total(),
    }
}

/// Everything that is known of one.
pub(super) fn detail(
    catalog: &Catalog,
    limits: &Limits,
    name: &InterpreterName,
) -> Option<rest::InterpreterDetail> {
    let entry = catalog.entry(name)?;
    let effective = entry.effective();
    let interpreter = effective.and_then(|(_, version)| catalog.loaded(&version.digest));
    let description = interpreter.as_deref().map(Interpreter::description);
    let schema = description.and_then(|it| it.settings_schema.as_deref());
    Some(rest::InterpreterDetail {
        name: name.to_string(),
        status: status(&entry),
        source: effective.map(|(from, _)| source(from)),
        version: effective.map(|(_, version)| version.version.clone()),
        digest: effective.map(|(_, version)| version.digest.to_string()),
        summary: description.map(|it| it.summary.clone()).unwrap_or_default(),
        kinds: description.map(kinds).unwrap_or_default(),
        states: description.map(states).unwrap_or_default(),
        settings: entry.settings.clone().map(Value::Object),
        settings_schema: schema.and_then(|schema| serde_json::from_str(schema).ok()),
        limits: rest::CallLimits {
            call_deadline_ms: number(limits.call_deadline.as_millis()),
            memory_bytes_max: number(limits.memory_bytes_max),
            calls_max: u64::from(limits.calls_max),
            log_lines_max: u64::from(LOG_LINES_MAX),
        },
        statistics: statistics(counted(catalog, name, &entry)),
        versions: versions(&entry),
        history: entry.history.iter().rev().map(event).collect(),
    })
}

fn kinds(description: &kindsight_interpreter::Description) -> Vec<rest::HandledKind> {
    let kinds = description.kinds.iter();
    kinds
        .map(|kind| rest::HandledKind {
            pattern: pattern(&kind.pattern),
            fields: kind.fields.pointers(),
            related: kind.related.iter().map(related).collect(),
        })
        .collect()
}

/// `group/version/Kind`; the core group, which has no name, is called `core`.
fn pattern(pattern: &KindPattern) -> String {
    let group = match &*pattern.group {
        "" => "core",
        group => group,
    };
    format!("{group}/{}/{}", pattern.version, pattern.kind)
}

fn related(rule: &RelatedRule) -> String {
    let how = match &rule.relation {
        Relation::Owned => "that it owns".to_owned(),
        Relation::SelectedBy(pointer) => format!("selected by {pointer}"),
    };
    format!("{} {how}, at most {}", pattern(&rule.pattern), rule.limit)
}

fn states(description: &kindsight_interpreter::Description) -> Vec<rest::DeclaredState> {
    let states = description.states.iter();
    states
        .map(|state| rest::DeclaredState {
            name: state.name.to_string(),
            phase: state.phase,
            summary: state.summary.clone(),
        })
        .collect()
}

/// What its calls came to, where it judges.
fn counted(catalog: &Catalog, name: &InterpreterName, entry: &Entry) -> CallSnapshot {
    let set = catalog.interpreters().published();
    let stats = set.stats(name).filter(|_| !entry.is_disabled);
    stats.map(|stats| stats.snapshot()).unwrap_or_default()
}

fn statistics(counted: CallSnapshot) -> rest::CallStatistics {
    let latency_us = comparison::latency(&counted);
    let faults = counted.faults.into_iter();
    rest::CallStatistics {
        calls: counted.calls,
        faults: faults
            .map(|(reason, count)| (reason.to_owned(), count))
            .collect(),
        latency_us,
        memory_high_water_bytes: counted.memory_high_water_bytes,
        instances: counted.instances,
    }
}

/// The versions of every slot, the newest first.
fn versions(entry: &Entry) -> Vec<rest::InterpreterVersion> {
    let sources = entry.sources.iter().rev();
    let versions = sources.flat_map(|(from, source)| source.versions.iter().map(|it| (*from, it)));
    let mut versions: Vec<_> = versions.collect();
    versions.sort_by_key(|(_, version)| std::cmp::Reverse(version.received_ms));
    let versions = versions.into_iter();
    versions
        .map(|(from, version)| rest::InterpreterVersion {
            digest: version.digest.to_string(),
            version: version.version.clone(),
            source: source(from),
            outcome: match version.outcome {
                VersionOutcome::Live => rest::VersionOutcome::Live,
                VersionOutcome::Candidate => rest::VersionOutcome::Candidate,
                VersionOutcome::Previous => rest::VersionOutcome::Previous,
                VersionOutcome::RolledBack => rest::VersionOutcome::Bad,
                VersionOutcome::Refused => rest::VersionOutcome::Refused,
            },
            why: version.why.clone(),
            received: time(version.received_ms),
        })
        .collect()
}

fn event(event: &Event) -> rest::HistoryEntry {
    rest::HistoryEntry {
        time: time(event.time_ms),
        action: action(event.action),
        source: match event.by {
            None => rest::ChangedBy::Host,
            Some(Source::BuiltIn) => rest::ChangedBy::BuiltIn,
            Some(Source::Directory) => rest::ChangedBy::Directory,
            Some(Source::Upload) => rest::ChangedBy::Upload,
        },
        digest: event
            .digest
            .as_ref()
            .map_or_else(String::new, Digest::to_string),
        version: event.version.clone(),
        outcome: event.outcome.clone(),
    }
}

/// What a command led to.
pub(super) fn outcome(report: Report) -> rest::Outcome {
    rest::Outcome {
        name: report.name.to_string(),
        action: action(report.action),
        digest: report.digest.map(|it| it.to_string()),
        version: report.version,
        status: match report.activation {
            Activation::Live => rest::OutcomeStatus::Live,
            Activation::Candidate => rest::OutcomeStatus::Candidate,
            Activation::Disabled => rest::OutcomeStatus::Disabled,
            Activation::Unchanged => rest::OutcomeStatus::Unchanged,
            Activation::None => rest::OutcomeStatus::None,
        },
        detail: report.detail,
    }
}

/// Why a command changed nothing.
pub(super) fn refusal(refusal: catalog::Refusal) -> rest::Refusal {
    match refusal {
        catalog::Refusal::NotFound { known } => rest::Refusal::NotFound { known },
        catalog::Refusal::Conflict(what) => rest::Refusal::Conflict(what),
        catalog::Refusal::Refused { step, why } => rest::Refusal::Refused {
            step: step.to_string(),
            why,
        },
        catalog::Refusal::Failed(what) => rest::Refusal::Failed(what),
    }
}

/// What a candidate would change.
pub(super) fn shadow(name: &str, shadow: &Shadow, found: Comparison) -> rest::ShadowReport {
    let version = |version: &catalog::Version| rest::ShadowedVersion {
        digest: version.digest.to_string(),
        version: version.version.clone(),
    };
    let live = shadow.live.as_ref().map(version);
    comparison::report(name, live, version(&shadow.candidate), found)
}

fn status(entry: &Entry) -> rest::InterpreterStatus {
    match entry.effective() {
        _ if entry.is_disabled => rest::InterpreterStatus::Disabled,
        Some(_) => rest::InterpreterStatus::Live,
        None => rest::InterpreterStatus::None,
    }
}

fn source(source: Source) -> rest::Source {
    match source {
        Source::BuiltIn => rest::Source::BuiltIn,
        Source::Directory => rest::Source::Directory,
        Source::Upload => rest::Source::Upload,
    }
}

fn action(action: CatalogAction) -> rest::Action {
    match action {
        CatalogAction::Load => rest::Action::Load,
        CatalogAction::Promote => rest::Action::Promote,
        CatalogAction::Rollback => rest::Action::Rollback,
        CatalogAction::Disable => rest::Action::Disable,
        CatalogAction::Enable => rest::Action::Enable,
        CatalogAction::Settings => rest::Action::Settings,
        CatalogAction::Remove => rest::Action::Remove,
        CatalogAction::Breaker => rest::Action::Breaker,
        CatalogAction::Refuse => rest::Action::Refuse,
    }
}

fn time(unix_ms: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(unix_ms);
    time.map(|time| time.to_string()).unwrap_or_default()
}

fn number(number: impl TryInto<u64>) -> u64 {
    number.try_into().unwrap_or(u64::MAX)
}
