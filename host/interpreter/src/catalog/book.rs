//! What the catalog knows of every name: its slots, versions, settings and history. Kept whole, as
//! one document, so that a change holds or does not.

use std::collections::{BTreeMap, VecDeque};

use kindsight_model::Source;
use serde::{Deserialize, Serialize};

use super::words::Action;

/// The format of the stored book. A book of a later one is not read.
pub(super) const FORMAT: u32 = 1;
/// Names a book holds; a further one is refused.
pub(super) const NAMES_MAX: usize = 1000;
/// Refused versions that are remembered of one slot.
const REFUSED_KEPT_MAX: usize = 5;
/// Events that are remembered of one name.
const HISTORY_MAX: usize = 50;
/// Bytes of one reason that are remembered.
const WHY_BYTES_MAX: usize = 2048;

/// Everything, by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Book {
    pub(super) format: u32,
    pub(super) pages: BTreeMap<String, Page>,
}

/// One interpreter's name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Page {
    /// Left out of what is published.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_disabled: bool,
    /// What its operator set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<serde_json::Map<String, serde_json::Value>>,
    /// Its versions, by where they came from.
    #[serde(default)]
    pub slots: BTreeMap<Source, Slot>,
    /// What was done to it, oldest first.
    #[serde(default)]
    pub history: VecDeque<Event>,
}

/// What came from one source under one name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Slot {
    /// The file in the watched directory that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Its versions, the one that changed last first; each digest once, at most one of them live and
    /// one a candidate.
    pub versions: VecDeque<Version>,
}

/// One component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Version {
    /// The digest of its bytes.
    pub digest: String,
    /// What it calls its version; empty where it was refused before it could say.
    pub version: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Why; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// When it came, in Unix milliseconds.
    pub received_ms: i64,
}

/// What became of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It judges, or would if no higher source overrode it.
    Live,
    /// Accepted, and waiting to be promoted.
    Candidate,
    /// It was live before.
    Previous,
    /// Gone back from, by hand or by the breaker.
    Bad,
    /// A step of the pipeline refused it.
    Refused,
}

/// One thing that was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Event {
    /// When, in Unix milliseconds.
    pub time_ms: i64,
    /// What.
    pub action: Action,
    /// Who: a source, or none for the host itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Source>,
    /// The component it was about; may be empty.
    pub digest: String,
    /// Its version; may be empty.
    pub version: String,
    /// What came of it, for people.
    pub outcome: String,
}

impl Default for Book {
    fn default() -> Self {
        Self {
            format: FORMAT,
            pages: BTreeMap::new(),
        }
    }
}

impl Book {
    /// Whether there is room for a page of that name. Makes some, where there is none, by forgetting
    /// the name of which nothing is known but refusals, and those for the longest time: who sends
    /// garbage under many names must not keep good ones out.
    pub(super) fn has_room_for(&mut self, name: &str) -> bool {
        if self.pages.len() < NAMES_MAX || self.pages.contains_key(name) {
            return true;
        }
        let refused = self.pages.iter().filter(|(_, page)| page.is_only_refused());
        let oldest = refused.min_by_key(|(_, page)| page.history.back().map(|it| it.time_ms));
        let oldest = oldest.map(|(name, _)| name.clone());
        oldest.is_some_and(|name| self.pages.remove(&name).is_some())
    }
}

impl Page {
    /// Whether nothing but refusals is known of it.
    pub(super) fn is_only_refused(&self) -> bool {
        let mut versions = self.slots.values().flat_map(|slot| &slot.versions);
        let is_set = self.is_disabled || self.settings.is_some();
        !is_set && versions.all(|it| it.outcome == Outcome::Refused)
    }

    /// The highest slot that has a live version, and that version.
    pub fn effective(&self) -> Option<(Source, &Version)> {
        let mut slots = self.slots.iter().rev();
        slots.find_map(|(source, slot)| Some((*source, slot.with(Outcome::Live)?)))
    }

    /// What waits to be promoted: of the highest slot that has such a version.
    pub fn candidate(&self) -> Option<(Source, &Version)> {
        let mut slots = self.slots.iter().rev();
        slots.find_map(|(source, slot)| Some((*source, slot.with(Outcome::Candidate)?)))
    }

    /// The file that fills its directory slot.
    pub(super) fn file(&self) -> Option<&str> {
        self.slots.get(&Source::Directory)?.file.as_deref()
    }

    pub(super) fn note(&mut self, event: Event) {
        self.history.push_back(event);
        while self.history.len() > HISTORY_MAX {
            self.history.pop_front();
        }
    }
}

impl Slot {
    /// The version of that outcome; the one that changed last, where there are several.
    pub fn with(&self, outcome: Outcome) -> Option<&Version> {
        self.versions.iter().find(|it| it.outcome == outcome)
    }

    pub(super) fn of(&self, digest: &str) -> Option<&Version> {
        self.versions.iter().find(|it| it.digest == digest)
    }

    /// Makes a version live; the one before becomes a previous one.
    pub(super) fn go_live(&mut self, version: Version) {
        self.step_down(Outcome::Live, Outcome::Previous, "");
        self.put(version, Outcome::Live, "");
    }

    /// Makes a version the candidate; one before is forgotten.
    pub(super) fn wait(&mut self, version: Version) {
        self.versions.retain(|it| it.outcome != Outcome::Candidate);
        self.put(version, Outcome::Candidate, "");
    }

    /// Remembers that a version was refused.
    pub(super) fn refuse(&mut self, version: Version, why: &str) {
        self.put(version, Outcome::Refused, why);
        let mut refused = 0;
        self.versions.retain(|it| {
            refused += usize::from(it.outcome == Outcome::Refused);
            it.outcome != Outcome::Refused || refused <= REFUSED_KEPT_MAX
        });
    }

    /// Goes back from the live version, which was found bad; answers what is live now.
    pub(super) fn go_back(&mut self, why: &str) -> Option<Version> {
        self.step_down(Outcome::Live, Outcome::Bad, why);
        let previous = self.with(Outcome::Previous)?.clone();
        self.put(previous.clone(), Outcome::Live, "");
        Some(previous)
    }

    /// Takes the live version out; it stays as a previous one.
    pub(super) fn empty(&mut self) {
        self.step_down(Outcome::Live, Outcome::Previous, "");
        self.versions.retain(|it| it.outcome != Outcome::Candidate);
        self.file = None;
    }

    fn step_down(&mut self, from: Outcome, to: Outcome, why: &str) {
        for version in self.versions.iter_mut().filter(|it| it.outcome == from) {
            version.outcome = to;
            version.why = cut(why);
        }
    }

    fn put(&mut self, mut version: Version, outcome: Outcome, why: &str) {
        self.versions.retain(|it| it.digest != version.digest);
        version.outcome = outcome;
        version.why = cut(why);
        self.versions.push_front(version);
    }

    /// Forgets the oldest versions beyond `max`, which counts those that can be gone back to.
    pub(super) fn prune(&mut self, max: usize) {
        let mut kept = 0;
        self.versions.retain(|it| {
            let is_counted = matches!(it.outcome, Outcome::Previous | Outcome::Bad);
            kept += usize::from(is_counted);
            !is_counted || kept <= max
        });
    }
}

pub(super) fn cut(text: &str) -> String {
    let end = text.floor_char_boundary(WHY_BYTES_MAX);
    text.get(..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
