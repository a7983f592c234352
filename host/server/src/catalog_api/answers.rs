//! Conversion of the catalog's state to answers of the API.

use jiff::Timestamp;
use kindsight_api::interpreters as api;
use kindsight_catalog::{
    Catalog, Entry, Event, Faulting, RefusedComponent, Shadow, Version, pattern_text,
};
use kindsight_interpreter::{
    CALL_DEADLINE_PER_MIB, CallSnapshot, Comparison, Description, INPUT_BYTES_MAX, Interpreter,
    LOG_LINES_MAX, Limits, RelatedRule, Relation,
};
use kindsight_model::InterpreterName;

use crate::shadow::{latency, shadow_report};

/// Every interpreter, in short.
pub(super) fn list(catalog: &Catalog) -> api::InterpreterList {
    let entries = catalog.entries();
    api::InterpreterList {
        generation: catalog.interpreters().published().generation(),
        interpreters: entries
            .iter()
            .map(|(name, entry)| summary(catalog, name, entry))
            .collect(),
        refused: catalog.refused().into_iter().map(refused).collect(),
    }
}

fn refused(component: RefusedComponent) -> api::RefusedUpload {
    api::RefusedUpload {
        time: time(component.time_ms),
        name: component.name,
        source: component.source,
        file: component.file,
        digest: component.digest,
        step: component.step,
        why: component.why,
    }
}

/// Live versions and candidates that cannot be loaded.
fn unavailable(entry: &Entry) -> Option<String> {
    let versions = entry.unavailable();
    let versions =
        versions.map(|(version, why)| format!("{} ({}): {why}", version.version, version.digest));
    let versions: Vec<String> = versions.collect();
    (!versions.is_empty()).then(|| versions.join("; "))
}

fn summary(catalog: &Catalog, name: &InterpreterName, entry: &Entry) -> api::InterpreterSummary {
    let effective = entry.effective();
    let interpreter = effective.and_then(|(_, version)| catalog.loaded(&version.digest));
    let kinds = interpreter
        .iter()
        .flat_map(|interpreter| &interpreter.description().kinds);
    let counted = counted(catalog, name, entry);
    let breaker = catalog.breaker(name);
    api::InterpreterSummary {
        name: name.to_string(),
        status: status(entry),
        source: effective.map(|(from, _)| from),
        version: effective.map(|(_, version)| version.version.clone()),
        digest: effective.map(|(_, version)| version.digest.clone()),
        kinds: kinds.map(|kind| pattern_text(&kind.pattern)).collect(),
        candidate: entry.candidate().map(|(_, version)| version.digest.clone()),
        unavailable: unavailable(entry),
        calls: Some(counted.calls),
        faults: Some(counted.faults_total()),
        faulting: breaker.faulting.as_ref().map(faulting),
        trips: Some(breaker.trips),
    }
}

/// Details of one interpreter.
pub(super) fn detail(
    catalog: &Catalog,
    limits: &Limits,
    name: &InterpreterName,
) -> Option<api::InterpreterDetail> {
    let entry = catalog.entry(name)?;
    let effective = entry.effective();
    let interpreter = effective.and_then(|(_, version)| catalog.loaded(&version.digest));
    let description = interpreter.as_deref().map(Interpreter::description);
    let schema = description.and_then(|description| description.settings_schema.as_deref());
    let breaker = catalog.breaker(name);
    Some(api::InterpreterDetail {
        name: name.clone(),
        status: status(&entry),
        source: effective.map(|(from, _)| from),
        version: effective.map(|(_, version)| version.version.clone()),
        digest: effective.map(|(_, version)| version.digest.clone()),
        summary: description
            .map(|description| description.summary.clone())
            .unwrap_or_default(),
        kinds: description.map(kinds).unwrap_or_default(),
        states: description.map(states).unwrap_or_default(),
        reasons: description.map(reasons).unwrap_or_default(),
        warnings: description
            .map(|description| description.warnings.clone())
            .unwrap_or_default(),
        settings: entry.settings.clone(),
        settings_schema: schema.and_then(|schema| serde_json::from_str(schema).ok()),
        limits: api::CallLimits {
            call_deadline_ms: number(limits.call_deadline.as_millis()),
            call_deadline_per_mib_ms: number(CALL_DEADLINE_PER_MIB.as_millis()),
            input_bytes_max: number(INPUT_BYTES_MAX),
            memory_bytes_max: number(limits.memory_bytes_max),
            calls_max: u64::from(limits.calls_max),
            log_lines_max: u64::from(LOG_LINES_MAX),
        },
        statistics: statistics(counted(catalog, name, &entry)),
        faulting: breaker.faulting.as_ref().map(faulting),
        trips: breaker.trips,
        versions: versions(&entry),
        history: entry.history.iter().rev().map(event).collect(),
    })
}

fn faulting(faulting: &Faulting) -> api::Faulting {
    api::Faulting {
        calls: faulting.calls,
        faults: faulting.faults,
        since: time(faulting.since_ms),
    }
}

fn kinds(description: &Description) -> Vec<api::HandledKind> {
    let kinds = description.kinds.iter();
    kinds
        .map(|kind| api::HandledKind {
            pattern: pattern_text(&kind.pattern),
            when: kind.when.clone(),
            uses_now: kind.uses_now,
            fields: kind.fields.pointers(),
            related: kind
                .related
                .iter()
                .map(|related_kind| related(&related_kind.rule))
                .collect(),
        })
        .collect()
}

fn related(rule: &RelatedRule) -> String {
    let how = match &rule.relation {
        Relation::Owned => "that it owns".to_owned(),
        Relation::Descendant => "that it or what it owns owns".to_owned(),
        Relation::Owner => "that owns it".to_owned(),
        Relation::SelectedBy(pointer) => format!("selected by {pointer}"),
        Relation::Labelled(key) => format!("labelled {key} with its name"),
        Relation::Named(pointer) => format!("named by {pointer}"),
    };
    format!(
        "{} {how}, at most {}",
        pattern_text(&rule.pattern),
        rule.limit
    )
}

fn states(description: &Description) -> Vec<api::DeclaredState> {
    let states = description.states.iter();
    states
        .map(|state| api::DeclaredState {
            name: state.name.to_string(),
            phase: state.phase,
            summary: state.summary.clone(),
            is_final: state.is_final,
        })
        .collect()
}

fn reasons(description: &Description) -> Vec<api::DeclaredReason> {
    let reasons = description.reasons.iter();
    reasons
        .map(|reason| api::DeclaredReason {
            name: reason.name.clone(),
            summary: reason.summary.clone(),
            help_url: reason.help_url.clone(),
        })
        .collect()
}

/// Statistics of the interpreter's calls, if it is live.
fn counted(catalog: &Catalog, name: &InterpreterName, entry: &Entry) -> CallSnapshot {
    let set = catalog.interpreters().published();
    let stats = set.stats(name).filter(|_| !entry.is_disabled);
    stats.map(|stats| stats.snapshot()).unwrap_or_default()
}

fn statistics(counted: CallSnapshot) -> api::CallStatistics {
    let latency_us = latency(&counted);
    let faults = counted.faults.into_iter();
    api::CallStatistics {
        calls: counted.calls,
        faults: faults
            .map(|(reason, count)| (reason.to_owned(), count))
            .collect(),
        latency_us,
        memory_high_water_bytes: counted.memory_high_water_bytes,
        instances: counted.instances,
        log_lines_dropped: counted.log_lines_dropped,
    }
}

/// The versions of every source, the newest first.
fn versions(entry: &Entry) -> Vec<api::InterpreterVersion> {
    let sources = entry.sources.iter().rev();
    let versions =
        sources.flat_map(|(from, source)| source.versions.iter().map(|version| (*from, version)));
    let mut versions: Vec<_> = versions.collect();
    versions.sort_by_key(|(_, version)| std::cmp::Reverse(version.received_ms));
    let versions = versions.into_iter();
    versions
        .map(|(source, version)| api::InterpreterVersion {
            digest: version.digest.clone(),
            version: version.version.clone(),
            source,
            outcome: version.outcome,
            why: match &version.unavailable {
                Some(why) => format!("it cannot be loaded now: {why}"),
                None => version.why.clone(),
            },
            received: time(version.received_ms),
        })
        .collect()
}

fn event(event: &Event) -> api::HistoryEntry {
    api::HistoryEntry {
        time: time(event.time_ms),
        action: event.action,
        source: event.by.into(),
        digest: event.digest.clone(),
        version: event.version.clone(),
        outcome: event.outcome.clone(),
    }
}

/// The report of a shadow run.
pub(super) fn shadow(
    name: &InterpreterName,
    shadow: &Shadow,
    found: Comparison,
) -> api::ShadowReport {
    let version = |version: &Version| api::ShadowedVersion {
        digest: version.digest.clone(),
        version: version.version.clone(),
    };
    let live = shadow.live.as_ref().map(version);
    shadow_report(name, live, version(&shadow.candidate), found)
}

fn status(entry: &Entry) -> api::InterpreterStatus {
    match entry.effective() {
        _ if entry.is_disabled => api::InterpreterStatus::Disabled,
        Some(_) => api::InterpreterStatus::Live,
        None => api::InterpreterStatus::None,
    }
}

fn time(unix_ms: i64) -> Timestamp {
    Timestamp::from_millisecond(unix_ms).unwrap_or_default()
}

fn number(number: impl TryInto<u64>) -> u64 {
    number.try_into().unwrap_or(u64::MAX)
}
