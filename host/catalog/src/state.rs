//! The state of the catalog: sources, versions, settings and history of every name.
//!
//! Entries are shared: a change copies the one it is about, and the store is sent that one alone.

mod stored;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use kindsight_model::{CatalogAction, Digest, InterpreterName, Source, VersionOutcome, clean};
use serde::{Deserialize, Serialize};

pub(crate) use stored::{FORMAT, Head, StoredError, read_entry, read_legacy, write_entry};

/// Names a state holds; a further one is refused.
pub(crate) const NAMES_MAX: usize = 1000;
/// Refused versions that are remembered of one source, and refusals of one name in its history.
const REFUSED_KEPT_MAX: usize = 5;
/// Events that are remembered of one name.
const HISTORY_MAX: usize = 50;
/// Versions of one source that can be rolled back to, whatever an operator asks for.
const VERSIONS_KEPT_MAX: usize = 50;
/// Bytes of one reason that are remembered.
const REASON_BYTES_MAX: usize = 2048;
/// Bytes of one entry as it is stored, a little below the limit of etcd on a request, 1.5 MiB.
///
/// A reason has no control characters, so JSON at most doubles it, to 4 KiB, and a version or an event
/// has some 500 bytes beside it. An entry has settings of at most 64 KiB, 50 events (230 KiB), and of
/// each of three sources 1 live version, 1 candidate, 50 to roll back to and 5 refused: 171 versions,
/// 770 KiB. That is 1,064 KiB, and a test holds it against this limit.
#[cfg(test)]
const ENTRY_BYTES_MAX: usize = 1280 * 1024;

/// All interpreters, by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct CatalogState {
    pub(crate) entries: BTreeMap<InterpreterName, Arc<Entry>>,
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
    /// The reason why this host cannot load it now, if it cannot. Not stored: another host or the next
    /// start may load it.
    #[serde(skip)]
    pub unavailable: Option<Arc<str>>,
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
    /// The entry of a name, to be changed.
    pub(crate) fn edit(&mut self, name: &InterpreterName) -> Option<&mut Entry> {
        self.entries.get_mut(name).map(Arc::make_mut)
    }

    /// The entry of a name, to be changed; a new one where there is none.
    pub(crate) fn edit_or_new(&mut self, name: &InterpreterName) -> &mut Entry {
        Arc::make_mut(self.entries.entry(name.clone()).or_default())
    }

    /// Every entry, to be changed.
    pub(crate) fn edit_all(&mut self) -> impl Iterator<Item = (&InterpreterName, &mut Entry)> {
        let entries = self.entries.iter_mut();
        entries.map(|(name, entry)| (name, Arc::make_mut(entry)))
    }

    /// Returns whether the store would hold the same.
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

    /// Returns whether an entry of that name fits below the limit. If not, removes the entry that changed
    /// longest ago of those of which nothing is used: names that somebody filled and left must not
    /// block valid components.
    pub(crate) fn make_space_for(&mut self, name: &InterpreterName) -> bool {
        if self.entries.len() < NAMES_MAX || self.entries.contains_key(name) {
            return true;
        }
        let is_set = |entry: &Entry| entry.is_disabled || entry.settings.is_some();
        let unused = self
            .entries
            .iter()
            .filter(|(_, entry)| entry.is_unused() && !is_set(entry));
        let oldest = unused.min_by_key(|(_, entry)| entry.history.back().map(|it| it.time_ms));
        let oldest = oldest.map(|(name, _)| name.clone());
        oldest.is_some_and(|name| self.entries.remove(&name).is_some())
    }

    /// Drops the names of which earlier releases remembered nothing but refusals.
    pub(crate) fn forget_refused(&mut self) {
        self.entries.retain(|_, entry| {
            let mut versions = entry.sources.values().flat_map(|it| &it.versions);
            let is_refused = versions.all(|it| it.outcome == VersionOutcome::Refused);
            let is_filled = entry.file().is_some() || entry.settings.is_some();
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
        entries.flat_map(|(name, entry)| entry.sources.values().map(move |it| (name, it)))
    }
}

impl Entry {
    /// Returns whether nothing of it is live, waits, or lies in the watched directory.
    pub(crate) fn is_unused(&self) -> bool {
        let outcomes = [VersionOutcome::Live, VersionOutcome::Candidate];
        let is_used = |source: &SourceVersions| {
            source.file.is_some() || outcomes.iter().any(|it| source.with(*it).is_some())
        };
        !self.sources.values().any(is_used)
    }

    /// The version that judges, or would if the name was not disabled: that of the highest source that
    /// has one. As long as a live version cannot be loaded, the one before it, or that of a lower source.
    pub fn effective(&self) -> Option<(Source, &Version)> {
        let mut sources = self.sources.iter().rev();
        sources.find_map(|(source, versions)| Some((*source, versions.judging()?)))
    }

    /// The live versions and candidates that this host cannot load now.
    pub fn unavailable(&self) -> impl Iterator<Item = (&Version, &str)> {
        let versions = self.sources.values().flat_map(|it| &it.versions);
        let is_wanted =
            |it: &Version| matches!(it.outcome, VersionOutcome::Live | VersionOutcome::Candidate);
        versions
            .filter(move |it| is_wanted(it))
            .filter_map(|it| Some((it, it.unavailable.as_deref()?)))
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

    /// Adds an event to the history; the oldest are forgotten. Of refusals only a few are kept: junk that
    /// is sent drives no change out of it.
    pub(crate) fn record(&mut self, event: Event) {
        self.history.push_back(event);
        let is_refusal = |it: &Event| it.action == CatalogAction::Refuse;
        let refusals = self.history.iter().filter(|it| is_refusal(it)).count();
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
    /// The version of that outcome; the one that changed last, where there are several.
    pub fn with(&self, outcome: VersionOutcome) -> Option<&Version> {
        self.versions.iter().find(|it| it.outcome == outcome)
    }

    /// The version that judges: the live one, or as long as that cannot be loaded, the last of those
    /// before it that can.
    pub fn judging(&self) -> Option<&Version> {
        let live = self.with(VersionOutcome::Live)?;
        if live.unavailable.is_none() {
            return Some(live);
        }
        let is_usable =
            |it: &&Version| it.outcome == VersionOutcome::Previous && it.unavailable.is_none();
        self.versions.iter().find(is_usable)
    }

    /// Notes that this host cannot load a version now, or that it can.
    pub(crate) fn set_unavailable(&mut self, digest: &Digest, why: Option<&Arc<str>>) {
        let versions = self.versions.iter_mut();
        for version in versions.filter(|it| it.digest == *digest) {
            version.unavailable = why.cloned();
        }
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

    /// Rolls back from the version that judges; answers the one that judges now, if there was one before.
    /// One that stands in for a live version gives its place to the one before.
    pub(crate) fn roll_back(&mut self, why: &str) -> Option<Version> {
        let from = self.judging().or_else(|| self.with(VersionOutcome::Live))?;
        let (digest, was_live) = (from.digest.clone(), from.outcome == VersionOutcome::Live);
        self.set_outcome(&digest, VersionOutcome::RolledBack, why);
        if was_live {
            let previous = self.with(VersionOutcome::Previous)?.clone();
            self.put(previous, VersionOutcome::Live, "");
        }
        self.judging().cloned()
    }

    /// Takes the live version out; it stays as a previous one.
    pub(crate) fn empty(&mut self) {
        self.step_down(VersionOutcome::Previous, "");
        self.versions
            .retain(|it| it.outcome != VersionOutcome::Candidate);
        self.file = None;
    }

    fn set_outcome(&mut self, digest: &Digest, to: VersionOutcome, why: &str) {
        let versions = self.versions.iter_mut();
        for version in versions.filter(|it| it.digest == *digest) {
            version.outcome = to;
            version.why = clip(why);
        }
    }

    /// Gives the live version another outcome.
    pub(crate) fn step_down(&mut self, to: VersionOutcome, why: &str) {
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
        version.unavailable = None;
        self.versions.push_front(version);
    }

    /// Forgets the oldest versions beyond `max`, which counts those that can be rolled back to.
    pub(crate) fn prune(&mut self, max: usize) {
        let (mut kept, max) = (0, max.min(VERSIONS_KEPT_MAX));
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
