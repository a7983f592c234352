//! Conversion of the catalog's state to answers of the API.

use jiff::Timestamp;
use kindsight_api::interpreters as api;
use kindsight_catalog::{
    Catalog, Entry, Event, Faulting, RefusedComponent, Shadow, Version, pattern_text,
};
use kindsight_interpreter::{CallSnapshot, Comparison, Limits};
use kindsight_model::InterpreterName;

use crate::inspection::{detail_of, statistics};
use crate::shadow::shadow_report;

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
    let breaker = catalog.breaker(name);
    Some(api::InterpreterDetail {
        status: status(&entry),
        source: effective.map(|(from, _)| from),
        version: effective.map(|(_, version)| version.version.clone()),
        digest: effective.map(|(_, version)| version.digest.clone()),
        settings: entry.settings.clone(),
        settings_declared_in: entry.declared_in.as_ref().map(ToString::to_string),
        statistics: statistics(counted(catalog, name, &entry)),
        faulting: breaker.faulting.as_ref().map(faulting),
        trips: breaker.trips,
        versions: versions(&entry),
        history: entry.history.iter().rev().map(event).collect(),
        ..detail_of(name, interpreter.as_deref(), limits)
    })
}

fn faulting(faulting: &Faulting) -> api::Faulting {
    api::Faulting {
        calls: faulting.calls,
        faults: faulting.faults,
        since: time(faulting.since_ms),
    }
}

/// Statistics of the interpreter's calls, if it is live.
fn counted(catalog: &Catalog, name: &InterpreterName, entry: &Entry) -> CallSnapshot {
    let set = catalog.interpreters().published();
    let stats = set.stats(name).filter(|_| !entry.is_disabled);
    stats.map(|stats| stats.snapshot()).unwrap_or_default()
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
