//! Adapts a stored state to this host: to the interpreters of its binary and the versions it loads.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use kindsight_interpreter::Interpreter;
use kindsight_model::{CatalogAction, InterpreterName, Source, VersionOutcome};
use serde_json::{Map, Value};

use crate::declared::{DeclaredIn, DeclaredSettings};
use crate::settings::SettingsChecks;
use crate::snapshot::Loaded;
use crate::state::{CatalogState, Entry, Event, SourceVersions, Version, clip};

/// Maximum number of rolled-back versions of other binaries that are kept for one name. While a
/// release is rolled out, there is one. An entry must also fit into one write to the store.
const OTHER_BINARIES_MAX: usize = 5;

/// Disables interpreters whose settings are no longer valid, because a different version is live
/// than the one for which they were set. A single name must not prevent the host from starting.
pub(super) fn disable_misfits(
    loaded: &Loaded,
    checks: &SettingsChecks,
    state: &mut CatalogState,
    now_ms: i64,
) {
    let mut misfits = Vec::new();
    for (name, entry) in state.entries.iter().filter(|(_, entry)| !entry.is_disabled) {
        let version = entry.effective().map(|(_, version)| version.clone());
        let (Some(version), Some(settings)) = (version, &entry.settings) else {
            continue;
        };
        let interpreter = loaded.get(&version.digest);
        if let Some(Err(why)) = interpreter.map(|interpreter| checks.check(interpreter, settings)) {
            misfits.push((name.clone(), version, why));
        }
    }
    for (name, version, why) in misfits {
        tracing::error!(
            interpreter.name = name.as_str(),
            why,
            "disabled: its settings are no longer valid"
        );
        let outcome = format!("disabled because its settings are no longer valid: {why}");
        let event = event(CatalogAction::Disable, version, clip(&outcome), now_ms);
        if let Some(entry) = state.edit(&name) {
            entry.is_disabled = true;
            entry.record(event);
        }
    }
}

/// Settings of the configuration that do not fit the live version.
#[derive(Debug)]
pub(crate) struct RefusedSettings {
    pub(crate) name: InterpreterName,
    pub(crate) source: Source,
    pub(crate) why: String,
}

/// Gives each name the settings that the configuration declares for it. Settings that the live
/// version refuses are not set: they may be for a version that arrives next, and then replace the
/// present ones together with it. Returns them.
pub(super) fn declare_configured(
    loaded: &Loaded,
    checks: &SettingsChecks,
    configured: &BTreeMap<InterpreterName, Map<String, Value>>,
    state: &mut CatalogState,
) -> Vec<RefusedSettings> {
    let is_stale = |name: &InterpreterName, entry: &Entry| {
        entry.declared_in == Some(DeclaredIn::Configuration) && !configured.contains_key(name)
    };
    let entries = state.entries.iter();
    let stale = entries.filter(|(name, entry)| is_stale(name, entry));
    let stale: Vec<InterpreterName> = stale.map(|(name, _)| name.clone()).collect();
    for name in &stale {
        let entry = state.edit_or_new(name);
        entry.settings = None;
        entry.declared_in = None;
    }
    let mut refused = Vec::new();
    for (name, settings) in configured {
        let declared = DeclaredSettings {
            place: DeclaredIn::Configuration,
            settings: settings.clone(),
        };
        let entry = state.entries.get(name);
        let live = entry.and_then(|entry| entry.effective());
        let checked = live.and_then(|(source, version)| {
            let interpreter = loaded.get(&version.digest)?;
            Some((source, checks.check(interpreter, settings)))
        });
        match checked {
            Some((source, Err(why))) => refused.push(RefusedSettings {
                name: name.clone(),
                source,
                why,
            }),
            _ if entry.is_some_and(|entry| entry.has(&declared)) => {}
            _ => state.edit_or_new(name).declare(declared),
        }
    }
    refused
}

/// An event that the host itself caused.
pub(super) fn event(
    action: CatalogAction,
    version: Version,
    outcome: String,
    now_ms: i64,
) -> Event {
    Event {
        time_ms: now_ms,
        action,
        by: None,
        digest: Some(version.digest),
        version: version.version,
        outcome,
    }
}

/// Updates the built-in source to contain exactly the interpreters of this binary, except versions
/// that were rolled back.
///
/// Rolled-back versions of other binaries are kept: while a release is rolled out, the hosts of the
/// other release read in this state that their version was rolled back.
pub(super) fn replace_built_in(
    state: &mut CatalogState,
    built_in: &[Arc<Interpreter>],
    now_ms: i64,
) {
    let others: Vec<InterpreterName> = state
        .entries
        .iter()
        .filter(|(_, entry)| {
            let source = entry.sources.get(&Source::BuiltIn);
            source.is_some_and(|source| remaining(source, built_in).len() < source.versions.len())
                || entry
                    .sources
                    .values()
                    .any(|source| source.versions.is_empty())
        })
        .map(|(name, _)| name.clone())
        .collect();
    for name in &others {
        let entry = state.edit_or_new(name);
        if let Some(source) = entry.sources.get_mut(&Source::BuiltIn) {
            source.versions = remaining(source, built_in);
        }
        entry
            .sources
            .retain(|_, source| !source.versions.is_empty());
    }
    for interpreter in built_in {
        let by = interpreter.by();
        let entry = state.entries.get(&by.name);
        let source = entry.and_then(|entry| entry.sources.get(&Source::BuiltIn));
        if source.is_some_and(|source| source.of(&by.digest).is_some()) {
            continue;
        }
        let entry = state.edit_or_new(&by.name);
        let source = entry.sources.entry(Source::BuiltIn).or_default();
        source.go_live(Version {
            digest: by.digest.clone(),
            version: by.version.to_string(),
            outcome: VersionOutcome::Live,
            why: String::new(),
            received_ms: now_ms,
            manifest: None,
            shadow_faults: 0,
            unavailable: None,
        });
    }
    state
        .entries
        .retain(|_, entry| !entry.sources.is_empty() || entry.settings.is_some());
}

/// The versions of the built-in source that this host keeps.
fn remaining(source: &SourceVersions, built_in: &[Arc<Interpreter>]) -> VecDeque<Version> {
    let mut others = 0;
    let mut versions = source.versions.clone();
    versions.retain(|version| {
        if built_in.iter().any(|one| *one.digest() == version.digest) {
            return true;
        }
        let is_rolled_back = version.outcome == VersionOutcome::RolledBack;
        others += usize::from(is_rolled_back);
        is_rolled_back && others <= OTHER_BINARIES_MAX
    });
    versions
}
