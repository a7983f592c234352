//! How the catalog comes to know what its shelf holds: at its start, and when another host that shares
//! the shelf has changed it.

use std::sync::{Arc, Mutex};

use kindsight_model::Source;

use super::book::{Book, FORMAT, cut};
use super::words::{Action, Refusal};
use super::{
    Catalog, CatalogLimits, Clock, Event, Missing, Outcome, Shelf, ShelfError, Slot, State,
    Version, settings,
};
use crate::{Interpreter, Interpreters};

/// Why the catalog could not be opened, or another host not be followed.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The store does not answer.
    #[error("read the catalog of interpreters: {0}")]
    Shelf(#[from] ShelfError),
    /// The book is damaged.
    #[error("the catalog of interpreters is damaged: {0}")]
    Damaged(#[from] serde_json::Error),
    /// A later release wrote it.
    #[error(
        "the catalog of interpreters has format {0}, this release reads {FORMAT}: use the release that wrote it, or a later one"
    )]
    Format(u32),
    /// What was put together cannot be published.
    #[error("publish the interpreters: {0}")]
    Publish(#[from] Refusal),
}

impl From<OpenError> for Refusal {
    fn from(error: OpenError) -> Self {
        // Whatever it is, what is being done is not to blame for it.
        Self::Failed(error.to_string())
    }
}

/// Times that opening tries again because other hosts that share the shelf change it meanwhile.
const OPEN_TRIES: usize = 10;

impl Catalog {
    /// Opens the catalog over what its shelf holds, and publishes it. `built_in` are the interpreters
    /// of this binary. Loads what is live; a component that cannot be loaded any more is left out,
    /// and its history says why.
    ///
    /// # Errors
    /// A shelf that does not answer, or holds what this release cannot read.
    pub fn open(
        interpreters: Arc<Interpreters>,
        shelf: Arc<dyn Shelf>,
        built_in: Vec<Arc<Interpreter>>,
        limits: CatalogLimits,
        clock: Clock,
        swapped: Box<dyn Fn() + Send + Sync>,
    ) -> Result<Self, OpenError> {
        let catalog = Self {
            interpreters,
            shelf,
            built_in,
            limits,
            clock,
            swapped,
            state: Mutex::default(),
        };
        let mut tries = OPEN_TRIES;
        loop {
            let mut state = catalog.lock();
            state.stored = catalog.shelf.book()?;
            let book = catalog.understand(&mut state)?;
            tries -= 1;
            match catalog.commit(&mut state, book) {
                Err(Refusal::Conflict(_)) if tries > 0 => {}
                outcome => {
                    drop(state);
                    return outcome.map(|()| catalog).map_err(OpenError::Publish);
                }
            }
        }
    }

    /// Takes over what another host that shares the shelf has changed since; answers whether there was
    /// something. Reads one value where there is nothing. Called once a second, and before every
    /// change; writes nothing, so that hosts of different releases do not answer each other for ever.
    ///
    /// What is new is compiled with the lock held, for some tenths of a second: other commands wait,
    /// queries do not.
    ///
    /// # Errors
    /// A shelf that does not answer, or holds what this release cannot read; what is live stays.
    pub fn follow(&self) -> Result<bool, OpenError> {
        let mut state = self.lock();
        let stored = self.shelf.book()?;
        if stored == state.stored {
            return Ok(false);
        }
        let before = std::mem::replace(&mut state.stored, stored);
        if let Err(error) = self.take_over(&mut state) {
            state.stored = before;
            return Err(error);
        }
        drop(state);
        tracing::info!("another host changed the interpreters; they are taken over");
        (self.swapped)();
        Ok(true)
    }

    fn take_over(&self, state: &mut State) -> Result<(), OpenError> {
        let book = self.understand(state)?;
        let next = self.put_together(state, &book)?;
        self.put_in_force(state, book, next);
        Ok(())
    }

    /// The book as this process can follow it: with the interpreters of its binary, and with
    /// everything loaded that is to judge.
    fn understand(&self, state: &mut State) -> Result<Book, OpenError> {
        let mut book = match &state.stored {
            None => Book::default(),
            Some(bytes) => read(bytes)?,
        };
        let now_ms = (self.clock)();
        settle_built_in(&mut book, &self.built_in, now_ms);
        let built_in = self.built_in.iter();
        let built_in = built_in.map(|it| (it.by().digest.to_string(), Arc::clone(it)));
        state.loaded.extend(built_in);
        self.load_kept(state, &mut book, now_ms)?;
        leave_out_misfits(state, &mut book, now_ms);
        Ok(book)
    }

    /// Loads everything that is to judge or waits; what cannot be is stepped over. A shelf that does
    /// not answer is an error instead: what is stepped over is dropped from it.
    fn load_kept(&self, state: &mut State, book: &mut Book, now_ms: i64) -> Result<(), ShelfError> {
        for (name, page) in &mut book.pages {
            let mut failures = Vec::new();
            for (source, slot) in &mut page.slots {
                for outcome in [Outcome::Live, Outcome::Candidate] {
                    self.load_slot(state, *source, slot, outcome, &mut failures)?;
                }
            }
            for (version, why) in failures {
                tracing::error!(interpreter.name = name, why, "a component is left out");
                page.note(Event {
                    time_ms: now_ms,
                    action: Action::Refuse,
                    by: None,
                    digest: version.digest,
                    version: version.version,
                    outcome: why,
                });
            }
        }
        Ok(())
    }

    /// As long as there is one that cannot be loaded, the one before it is tried.
    fn load_slot(
        &self,
        state: &mut State,
        source: Source,
        slot: &mut Slot,
        outcome: Outcome,
        failures: &mut Vec<(Version, String)>,
    ) -> Result<(), ShelfError> {
        while let Some(version) = slot.with(outcome).cloned() {
            if state.loaded.contains_key(&version.digest) {
                return Ok(());
            }
            match self.off_shelf(source, &version.digest) {
                Ok(interpreter) => {
                    state.loaded.insert(version.digest, interpreter);
                    return Ok(());
                }
                Err(Missing::Away(error)) => return Err(error),
                Err(Missing::Spoilt(why)) => {
                    slot.refuse(version.clone(), &why);
                    failures.push((version, why));
                }
            }
            if outcome == Outcome::Live
                && let Some(previous) = slot.with(Outcome::Previous).cloned()
            {
                slot.go_live(previous);
            }
        }
        Ok(())
    }
}

/// Leaves out whose settings do not fit any more, because another version takes its place than they
/// were set for: one name must not keep the host from starting.
fn leave_out_misfits(state: &State, book: &mut Book, now_ms: i64) {
    for (name, page) in book.pages.iter_mut().filter(|(_, page)| !page.is_disabled) {
        let version = page.effective().map(|(_, it)| it.clone());
        let (Some(version), Some(wanted)) = (version, &page.settings) else {
            continue;
        };
        let interpreter = state.loaded.get(&version.digest);
        let Some(Err(why)) = interpreter.map(|it| settings::check(it, wanted)) else {
            continue;
        };
        tracing::error!(
            interpreter.name = name,
            why,
            "left out: its settings do not fit"
        );
        page.is_disabled = true;
        page.note(Event {
            time_ms: now_ms,
            action: Action::Disable,
            by: None,
            digest: version.digest,
            version: version.version,
            outcome: cut(&format!(
                "left out, since its settings do not fit any more: {why}"
            )),
        });
    }
}

fn read(bytes: &[u8]) -> Result<Book, OpenError> {
    #[derive(serde::Deserialize)]
    struct Head {
        format: u32,
    }
    let head: Head = serde_json::from_slice(bytes)?;
    if head.format != FORMAT {
        return Err(OpenError::Format(head.format));
    }
    Ok(serde_json::from_slice(bytes)?)
}

/// The built-in slots hold what this binary brings and nothing else, but for what was found bad.
fn settle_built_in(book: &mut Book, built_in: &[Arc<Interpreter>], now_ms: i64) {
    for page in book.pages.values_mut() {
        if let Some(slot) = page.slots.get_mut(&Source::BuiltIn) {
            let brought =
                |digest: &str| built_in.iter().any(|it| it.by().digest.as_str() == digest);
            slot.versions.retain(|version| brought(&version.digest));
        }
        page.slots.retain(|_, slot| !slot.versions.is_empty());
    }
    for interpreter in built_in {
        let by = interpreter.by();
        let page = book.pages.entry(by.name.to_string()).or_default();
        let slot = page.slots.entry(Source::BuiltIn).or_default();
        if slot.of(by.digest.as_str()).is_none() {
            slot.go_live(Version {
                digest: by.digest.to_string(),
                version: by.version.to_string(),
                outcome: Outcome::Live,
                why: String::new(),
                received_ms: now_ms,
            });
        }
    }
    book.pages
        .retain(|_, page| !page.slots.is_empty() || page.settings.is_some());
}
