//! The state of the catalog: sources, versions, settings and history of every name. Kept whole, as one
//! document, so that a change holds or does not.

mod stored;

use std::collections::{BTreeMap, VecDeque};

use kindsight_model::{CatalogAction, Digest, InterpreterName, Source, VersionOutcome, clean};
use serde::{Deserialize, Serialize};

pub(crate) use stored::{FORMAT, StoredError, read, write};

/// Names a state holds; a further one is refused.
pub(crate) const NAMES_MAX: usize = 1000;
/// Refused versions that are remembered of one source.
const REFUSED_KEPT_MAX: usize = 5;
/// Events that are remembered of one name.
const HISTORY_MAX: usize = 50;
/// Bytes of one reason that are remembered.
const REASON_BYTES_MAX: usize = 2048;

/// All interpreters, by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CatalogState {
    pub(crate) entries: BTreeMap<InterpreterName, Entry>,
}

/// One interpreter.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Entry {
    /// Left out of what is published.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_disabled: bool,
    /// The operator's settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<serde_json::Map<String, serde_json::Value>>,
    /// Its versions, by source.
    #[serde(default)]
    pub sources: BTreeMap<Source, SourceVersions>,
    /// Its changes, oldest first.
    #[serde(default)]
    pub history: VecDeque<Event>,
}

/// The versions of one name that came from one source.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SourceVersions {
    /// The file in the watched directory that holds the live one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The one that changed last first; each digest once, at most one of them live and one a candidate.
    pub versions: VecDeque<Version>,
}

/// One component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Version {
    /// The digest of its bytes.
    pub digest: Digest,
    /// Its version in its own word; empty where it was refused before it could say.
    pub version: String,
    /// Its state.
    pub outcome: VersionOutcome,
    /// The reason for that state; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// When it came, in Unix milliseconds.
    pub received_ms: i64,
}

/// One change of an interpreter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Event {
    /// When, in Unix milliseconds.
    pub time_ms: i64,
    /// The change.
    pub action: CatalogAction,
    /// The source that asked for it; none for the host itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Source>,
    /// The component it was about, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// The version of that component; may be empty.
    pub version: String,
    /// The result, for people.
    pub outcome: String,
}

impl CatalogState {
    /// Returns whether an entry of that name fits below the limit. If not, removes the entry that has only
    /// refusals and whose last event is the oldest: garbage sent under many names must not block valid
    /// components.
    pub(crate) fn make_space_for(&mut self, name: &InterpreterName) -> bool {
        if self.entries.len() < NAMES_MAX || self.entries.contains_key(name) {
            return true;
        }
        let refused = self
            .entries
            .iter()
            .filter(|(_, entry)| entry.is_only_refused());
        let oldest = refused.min_by_key(|(_, entry)| entry.history.back().map(|it| it.time_ms));
        let oldest = oldest.map(|(name, _)| name.clone());
        oldest.is_some_and(|name| self.entries.remove(&name).is_some())
    }

    /// Every version of every source.
    pub(crate) fn versions(&self) -> impl Iterator<Item = &Version> {
        self.sources().flat_map(|(_, source)| &source.versions)
    }

    /// The versions of every source, by name.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (&InterpreterName, &SourceVersions)> {
        let entries = self.entries.iter();
        entries.flat_map(|(name, entry)| entry.sources.values().map(move |it| (name, it)))
    }
}

impl Entry {
    /// Returns whether it has nothing but refused versions.
    pub(crate) fn is_only_refused(&self) -> bool {
        let mut versions = self.sources.values().flat_map(|source| &source.versions);
        let is_set = self.is_disabled || self.settings.is_some();
        !is_set && versions.all(|it| it.outcome == VersionOutcome::Refused)
    }

    /// The highest source that has a live version, and that version.
    pub fn effective(&self) -> Option<(Source, &Version)> {
        self.highest(VersionOutcome::Live)
    }

    /// The version that waits to be promoted: that of the highest source that has one.
    pub fn candidate(&self) -> Option<(Source, &Version)> {
        self.highest(VersionOutcome::Candidate)
    }

    fn highest(&self, outcome: VersionOutcome) -> Option<(Source, &Version)> {
        let mut sources = self.sources.iter().rev();
        sources.find_map(|(source, versions)| Some((*source, versions.with(outcome)?)))
    }

    /// The file of the watched directory that fills it.
    pub(crate) fn file(&self) -> Option<&str> {
        self.sources.get(&Source::Directory)?.file.as_deref()
    }

    /// Adds an event to the history; the oldest are forgotten.
    pub(crate) fn record(&mut self, event: Event) {
        self.history.push_back(event);
        while self.history.len() > HISTORY_MAX {
            self.history.pop_front();
        }
    }
}

impl SourceVersions {
    /// The version of that outcome; the one that changed last, where there are several.
    pub fn with(&self, outcome: VersionOutcome) -> Option<&Version> {
        self.versions.iter().find(|it| it.outcome == outcome)
    }

    /// The version of that digest.
    pub(crate) fn of(&self, digest: &Digest) -> Option<&Version> {
        self.versions.iter().find(|it| it.digest == *digest)
    }

    /// Makes a version live; the one before becomes a previous one.
    pub(crate) fn go_live(&mut self, version: Version) {
        self.step_down(VersionOutcome::Previous, "");
        self.put(version, VersionOutcome::Live, "");
    }

    /// Makes a version the candidate; one before is forgotten.
    pub(crate) fn wait(&mut self, version: Version) {
        self.versions
            .retain(|it| it.outcome != VersionOutcome::Candidate);
        self.put(version, VersionOutcome::Candidate, "");
    }

    /// Remembers that a version was refused.
    pub(crate) fn refuse(&mut self, version: Version, why: &str) {
        self.put(version, VersionOutcome::Refused, why);
        let mut refused = 0;
        self.versions.retain(|it| {
            refused += usize::from(it.outcome == VersionOutcome::Refused);
            it.outcome != VersionOutcome::Refused || refused <= REFUSED_KEPT_MAX
        });
    }

    /// Rolls back from the live version; answers the one that is live now, if there was one before.
    pub(crate) fn roll_back(&mut self, why: &str) -> Option<Version> {
        self.step_down(VersionOutcome::RolledBack, why);
        let previous = self.with(VersionOutcome::Previous)?.clone();
        self.put(previous.clone(), VersionOutcome::Live, "");
        Some(previous)
    }

    /// Takes the live version out; it stays as a previous one.
    pub(crate) fn empty(&mut self) {
        self.step_down(VersionOutcome::Previous, "");
        self.versions
            .retain(|it| it.outcome != VersionOutcome::Candidate);
        self.file = None;
    }

    /// Gives the live version another outcome.
    fn step_down(&mut self, to: VersionOutcome, why: &str) {
        let live = self.versions.iter_mut();
        for version in live.filter(|it| it.outcome == VersionOutcome::Live) {
            version.outcome = to;
            version.why = clip(why);
        }
    }

    fn put(&mut self, mut version: Version, outcome: VersionOutcome, why: &str) {
        self.versions.retain(|it| it.digest != version.digest);
        version.outcome = outcome;
        version.why = clip(why);
        self.versions.push_front(version);
    }

    /// Forgets the oldest versions beyond `max`, which counts those that can be rolled back to.
    pub(crate) fn prune(&mut self, max: usize) {
        let mut kept = 0;
        self.versions.retain(|it| {
            let is_counted = matches!(
                it.outcome,
                VersionOutcome::Previous | VersionOutcome::RolledBack
            );
            kept += usize::from(is_counted);
            !is_counted || kept <= max
        });
    }
}

/// The beginning of a text, as long as is remembered, in one harmless line.
pub(crate) fn clip(text: &str) -> String {
    clean(text, REASON_BYTES_MAX).into_owned()
}

#[cfg(test)]
mod tests;
