//! The state of the catalog: sources, versions, settings and history of every name.
//!
//! Entries are shared: a change copies only its entry, and only that entry is written to the store.

mod stored;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use kindsight_model::{CatalogAction, Digest, InterpreterName, Source, VersionOutcome, clean};
use serde::{Deserialize, Serialize};

use crate::declared::DeclaredIn;

pub use stored::FORMAT;
pub(crate) use stored::{Head, StoredError, read_entry, read_legacy, write_entry};

/// Maximum number of names in a state.
pub(crate) const NAMES_MAX: usize = 1000;
/// Maximum number of refused versions that are kept for one source, and of refusals in the history
/// of one name.
const REFUSED_KEPT_MAX: usize = 5;
/// Maximum number of events that are kept for one name.
const HISTORY_MAX: usize = 50;
/// Maximum number of versions of one source that an operator can choose to keep for a rollback.
const VERSIONS_KEPT_MAX: usize = 40;
/// Maximum length of one stored reason, in bytes.
const REASON_BYTES_MAX: usize = 2048;
/// All interpreters, by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct CatalogState {
    pub(crate) entries: BTreeMap<InterpreterName, Arc<Entry>>,
}

/// One interpreter.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Entry {
    /// True if the name is excluded from the published set.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_disabled: bool,
    /// The operator's settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<serde_json::Map<String, serde_json::Value>>,
    /// The place that declares the settings, or `None` if a command set them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_in: Option<DeclaredIn>,
    /// Its versions, by source.
    #[serde(default)]
    pub sources: BTreeMap<Source, SourceVersions>,
    /// Its changes, oldest first.
    #[serde(default)]
    pub history: VecDeque<Event>,
}

/// The versions of one name from one source.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SourceVersions {
    /// The file in the watched directory, or the reference to the artifact, that contains the live
    /// version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The versions, last changed first. Each digest occurs once, and there is at most one live
    /// version and one candidate.
    pub versions: VecDeque<Version>,
}

/// One component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Version {
    /// The digest of its bytes.
    pub digest: Digest,
    /// The version, as the component names it. Empty if the component was refused before its
    /// version was known.
    pub version: String,
    /// The state of the version.
    pub outcome: VersionOutcome,
    /// The reason for the state. Can be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The time at which it was received, in Unix milliseconds.
    pub received_ms: i64,
    /// The digest of the manifest of its artifact, or `None` if no artifact contained it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<Digest>,
    /// Number of calls that ended in a fault in the last shadow run of the version as a candidate.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shadow_faults: u64,
    /// The reason why this host cannot load it at present, or may not use it without a valid
    /// signature. It is not stored, because another host or the next start may be able to use it.
    #[serde(skip)]
    pub unavailable: Option<Arc<str>>,
}

/// Returns whether a number need not be stored.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// One change of an interpreter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Event {
    /// The time, in Unix milliseconds.
    pub time_ms: i64,
    /// The change.
    pub action: CatalogAction,
    /// The source that requested it, or `None` for the host itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Source>,
    /// The component that the change concerned, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// The version of that component. Can be empty.
    pub version: String,
    /// The result, as text for users.
    pub outcome: String,
}

impl CatalogState {
    /// The entry of a name, for a change.
    pub(crate) fn edit(&mut self, name: &InterpreterName) -> Option<&mut Entry> {
        self.entries.get_mut(name).map(Arc::make_mut)
    }

    /// The entry of a name, for a change. Creates the entry if there is none.
    pub(crate) fn edit_or_new(&mut self, name: &InterpreterName) -> &mut Entry {
        Arc::make_mut(self.entries.entry(name.clone()).or_default())
    }

    /// All entries, for changes.
    pub(crate) fn edit_all(&mut self) -> impl Iterator<Item = (&InterpreterName, &mut Entry)> {
        let entries = self.entries.iter_mut();
        entries.map(|(name, entry)| (name, Arc::make_mut(entry)))
    }

    /// Returns whether the stored form of both states is the same.
    pub(crate) fn is_stored_as(&self, other: &Self) -> bool {
        let is_same = |one: &Arc<Entry>, two: &Arc<Entry>| {
            Arc::ptr_eq(one, two) || write_entry(one).ok() == write_entry(two).ok()
        };
        let pairs = self.entries.iter().zip(&other.entries);
        self.entries.len() == other.entries.len()
            && pairs
                .into_iter()
                .all(|(one, two)| one.0 == two.0 && is_same(one.1, two.1))
    }

    /// Returns whether an entry with that name fits within the limit. If not, removes the unused
    /// entry that was changed least recently, so that abandoned names do not block valid
    /// components.
    pub(crate) fn make_space_for(&mut self, name: &InterpreterName) -> bool {
        if self.entries.len() < NAMES_MAX || self.entries.contains_key(name) {
            return true;
        }
        let is_set = |entry: &Entry| entry.is_disabled || entry.settings.is_some();
        let unused = self
            .entries
            .iter()
            .filter(|(_, entry)| entry.is_unused() && !is_set(entry));
        let oldest =
            unused.min_by_key(|(_, entry)| entry.history.back().map(|event| event.time_ms));
        let oldest = oldest.map(|(name, _)| name.clone());
        oldest.is_some_and(|name| self.entries.remove(&name).is_some())
    }

    /// Removes the names for which earlier releases recorded only refusals.
    pub(crate) fn forget_refused(&mut self) {
        self.entries.retain(|_, entry| {
            let mut versions = entry.sources.values().flat_map(|source| &source.versions);
            let is_refused = versions.all(|version| version.outcome == VersionOutcome::Refused);
            let mut sources = entry.sources.values();
            let is_filled = sources.any(|source| source.file.is_some()) || entry.settings.is_some();
            is_filled || !is_refused
        });
    }

    /// Every version of every source.
    pub(crate) fn versions(&self) -> impl Iterator<Item = &Version> {
        self.sources().flat_map(|(_, source)| &source.versions)
    }

    /// The versions of every source, by name.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (&InterpreterName, &SourceVersions)> {
        let entries = self.entries.iter();
        entries.flat_map(|(name, entry)| entry.sources.values().map(move |source| (name, source)))
    }
}

impl Entry {
    /// Returns whether it has no live version, no candidate, and no file or reference that fills it.
    pub(crate) fn is_unused(&self) -> bool {
        let outcomes = [VersionOutcome::Live, VersionOutcome::Candidate];
        let is_used = |source: &SourceVersions| {
            source.file.is_some()
                || outcomes
                    .iter()
                    .any(|outcome| source.with(*outcome).is_some())
        };
        !self.sources.values().any(is_used)
    }

    /// The version that judges, or would judge if the name was not disabled: the version of the
    /// highest source that has one. While a live version cannot be loaded, this is the previous
    /// version, or the version of a lower source.
    pub fn effective(&self) -> Option<(Source, &Version)> {
        let mut sources = self.sources.iter().rev();
        sources.find_map(|(source, versions)| Some((*source, versions.judging()?)))
    }

    /// The live versions and candidates that this host cannot use at present.
    pub fn unavailable(&self) -> impl Iterator<Item = (&Version, &str)> {
        let versions = self.sources.values().flat_map(|source| &source.versions);
        let is_wanted = |version: &Version| {
            matches!(
                version.outcome,
                VersionOutcome::Live | VersionOutcome::Candidate
            )
        };
        versions
            .filter(move |version| is_wanted(version))
            .filter_map(|version| Some((version, version.unavailable.as_deref()?)))
    }

    /// The version that can be promoted: the candidate of the highest source that has one.
    pub fn candidate(&self) -> Option<(Source, &Version)> {
        self.highest(VersionOutcome::Candidate)
    }

    fn highest(&self, outcome: VersionOutcome) -> Option<(Source, &Version)> {
        let mut sources = self.sources.iter().rev();
        sources.find_map(|(source, versions)| Some((*source, versions.with(outcome)?)))
    }

    /// The file, or the reference to an artifact, with which a source fills the entry.
    pub(crate) fn file(&self, source: Source) -> Option<&str> {
        self.sources.get(&source)?.file.as_deref()
    }

    /// Adds an event to the history, and drops the oldest. Only a few refusals are kept, so that
    /// invalid uploads do not displace changes.
    pub(crate) fn record(&mut self, event: Event) {
        self.history.push_back(event);
        let is_refusal = |event: &Event| event.action == CatalogAction::Refuse;
        let refusals = self
            .history
            .iter()
            .filter(|event| is_refusal(event))
            .count();
        if refusals > REFUSED_KEPT_MAX {
            let oldest = self.history.iter().position(is_refusal);
            oldest.map(|oldest| self.history.remove(oldest));
        }
        while self.history.len() > HISTORY_MAX {
            self.history.pop_front();
        }
    }
}

impl SourceVersions {
    /// The version with this outcome. If there are several, the version that changed last.
    pub fn with(&self, outcome: VersionOutcome) -> Option<&Version> {
        self.versions
            .iter()
            .find(|version| version.outcome == outcome)
    }

    /// The version that judges: the live version or, while this host cannot use it, the latest
    /// previous version that it can use.
    pub fn judging(&self) -> Option<&Version> {
        let live = self.with(VersionOutcome::Live)?;
        if live.unavailable.is_none() {
            return Some(live);
        }
        self.previous()
    }

    /// The latest previous version that this host can use.
    pub(crate) fn previous(&self) -> Option<&Version> {
        self.versions.iter().find(|version| {
            version.outcome == VersionOutcome::Previous && version.unavailable.is_none()
        })
    }

    /// Records that this host cannot use a version at present, or that it can.
    pub(crate) fn set_unavailable(&mut self, digest: &Digest, why: Option<&Arc<str>>) {
        let versions = self.versions.iter_mut();
        for version in versions.filter(|version| version.digest == *digest) {
            version.unavailable = why.cloned();
        }
    }

    /// The version with this digest.
    pub(crate) fn of(&self, digest: &Digest) -> Option<&Version> {
        self.versions
            .iter()
            .find(|version| version.digest == *digest)
    }

    /// Makes a version live. The former live version becomes a previous one.
    pub(crate) fn go_live(&mut self, version: Version) {
        self.step_down(VersionOutcome::Previous, "");
        self.put(version, VersionOutcome::Live, "");
    }

    /// Makes a version the candidate. An earlier candidate is removed.
    pub(crate) fn wait(&mut self, version: Version) {
        self.versions
            .retain(|version| version.outcome != VersionOutcome::Candidate);
        self.put(version, VersionOutcome::Candidate, "");
    }

    /// Records that a version was refused.
    pub(crate) fn refuse(&mut self, version: Version, why: &str) {
        self.put(version, VersionOutcome::Refused, why);
        let mut refused = 0;
        self.versions.retain(|version| {
            refused += usize::from(version.outcome == VersionOutcome::Refused);
            version.outcome != VersionOutcome::Refused || refused <= REFUSED_KEPT_MAX
        });
    }

    /// Rolls back the version that judges. Returns the version that judges then, if there is one.
    /// If the version replaces an unusable live version, the next previous version takes its place.
    /// Previous versions that this host cannot use are left out.
    pub(crate) fn roll_back(&mut self, why: &str) -> Option<Version> {
        let from = self.judging().or_else(|| self.with(VersionOutcome::Live))?;
        let (digest, was_live) = (from.digest.clone(), from.outcome == VersionOutcome::Live);
        self.set_outcome(&digest, VersionOutcome::RolledBack, why);
        if was_live {
            let previous = self.previous()?.clone();
            self.put(previous, VersionOutcome::Live, "");
        }
        self.judging().cloned()
    }

    /// Removes the live version, which becomes a previous one.
    pub(crate) fn empty(&mut self) {
        self.step_down(VersionOutcome::Previous, "");
        self.versions
            .retain(|version| version.outcome != VersionOutcome::Candidate);
        self.file = None;
    }

    fn set_outcome(&mut self, digest: &Digest, to: VersionOutcome, why: &str) {
        let versions = self.versions.iter_mut();
        for version in versions.filter(|version| version.digest == *digest) {
            version.outcome = to;
            version.why = clip(why);
        }
    }

    /// Gives the live version a different outcome.
    pub(crate) fn step_down(&mut self, to: VersionOutcome, why: &str) {
        let live = self.versions.iter_mut();
        for version in live.filter(|version| version.outcome == VersionOutcome::Live) {
            version.outcome = to;
            version.why = clip(why);
        }
    }

    fn put(&mut self, mut version: Version, outcome: VersionOutcome, why: &str) {
        self.versions.retain(|other| other.digest != version.digest);
        version.outcome = outcome;
        version.why = clip(why);
        version.unavailable = None;
        self.versions.push_front(version);
    }

    /// Removes the oldest versions beyond `max`, which counts the versions that are kept for a
    /// rollback.
    pub(crate) fn prune(&mut self, max: usize) {
        let (mut kept, max) = (0, max.min(VERSIONS_KEPT_MAX));
        self.versions.retain(|version| {
            let is_counted = matches!(
                version.outcome,
                VersionOutcome::Previous | VersionOutcome::RolledBack
            );
            kept += usize::from(is_counted);
            !is_counted || kept <= max
        });
    }
}

/// The beginning of a text, up to the stored length, as one clean line.
pub(crate) fn clip(text: &str) -> String {
    clean(text, REASON_BYTES_MAX).into_owned()
}

#[cfg(test)]
mod tests;
