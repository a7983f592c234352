//! A component on its way in.

use std::sync::Arc;

use kindsight_model::{Digest, LoadStep, Source};

use super::book::NAMES_MAX;
use super::words::{Action, Delivery, Refusal, Report, Standing};
use super::{Catalog, Outcome, Slot, Version, in_place_of, standing};
use crate::{Interpreter, LoadError};

impl Catalog {
    /// Takes a component through the pipeline, up to live or to candidate. Compiles where it was not
    /// seen before: takes up to a minute, and blocks.
    ///
    /// The same bytes again change nothing. What was gone back from is not taken from the directory
    /// again; sent by hand it is another try.
    ///
    /// # Errors
    /// [`Refusal::Refused`] with the step; what is live is untouched then.
    pub fn receive(&self, delivery: &Delivery) -> Result<Report, Refusal> {
        let digest = Digest::of(&delivery.bytes);
        match self.take_in(delivery, &digest) {
            Err(Refusal::Refused { step, why }) => {
                self.note_refusal(delivery, &digest, step, &why);
                Err(Refusal::Refused { step, why })
            }
            outcome => outcome,
        }
    }

    fn take_in(&self, delivery: &Delivery, digest: &Digest) -> Result<Report, Refusal> {
        if let Some(expected) = delivery
            .expected
            .as_deref()
            .filter(|it| *it != digest.as_str())
        {
            let why = format!("the bytes hash to {digest}, and {expected} was expected");
            return Err(Refusal::at(LoadStep::Received, why));
        }
        self.follow()?;
        if let Some(report) = self.is_known(delivery, digest)? {
            return Ok(report);
        }
        let interpreter = self
            .interpreters
            .load(&delivery.bytes)
            .map_err(|error| match error {
                // Not the component's fault: nothing is held against it.
                LoadError::Host(_) => Refusal::Failed(error.to_string()),
                error => Refusal::at(error.step(), error.to_string()),
            })?;
        let name = interpreter.by().name.to_string();
        if delivery.source == Source::Upload && name != delivery.hint {
            let why = format!(
                "it calls itself `{name}` and was sent as `{}`: send it under its own name",
                delivery.hint
            );
            return Err(Refusal::at(LoadStep::Tried, why));
        }
        self.put_in(delivery, digest, interpreter, name)
    }

    /// Whether these bytes are where they should be already, or are not wanted any more.
    fn is_known(&self, delivery: &Delivery, digest: &Digest) -> Result<Option<Report>, Refusal> {
        let state = self.lock();
        // An upload under another name is refused further on, by what it calls itself.
        let is_meant = |name: &String| delivery.source != Source::Upload || *name == delivery.hint;
        for (name, page) in state.book.pages.iter().filter(|(name, _)| is_meant(name)) {
            let slot = page.slots.get(&delivery.source);
            let Some((slot, version)) = slot.and_then(|it| Some((it, it.of(digest.as_str())?)))
            else {
                continue;
            };
            let is_there = match version.outcome {
                Outcome::Live => delivery.file == slot.file,
                Outcome::Candidate => delivery.is_candidate,
                Outcome::Bad if delivery.source == Source::Directory => {
                    let why = format!(
                        "`{name}` was gone back from these bytes ({}); load them by hand to try again",
                        version.why
                    );
                    return Err(Refusal::at(LoadStep::Received, why));
                }
                _ => false,
            };
            if is_there {
                return Ok(Some(Report {
                    name: name.clone(),
                    action: Action::Load,
                    digest: Some(version.digest.clone()),
                    version: Some(version.version.clone()),
                    standing: Standing::Unchanged,
                    detail: "the same bytes again: nothing to do".to_owned(),
                }));
            }
        }
        Ok(None)
    }

    fn put_in(
        &self,
        delivery: &Delivery,
        digest: &Digest,
        interpreter: Arc<Interpreter>,
        name: String,
    ) -> Result<Report, Refusal> {
        // Once more: compiling may have taken long.
        self.follow()?;
        let mut state = self.lock();
        let mut book = state.book.clone();
        if !book.has_room_for(&name) {
            let why = format!("there are {NAMES_MAX} names already, which is the limit");
            return Err(Refusal::at(LoadStep::Published, why));
        }
        let page = book.pages.entry(name.clone()).or_default();
        let place = in_place_of(page.effective());
        let mut higher = page.slots.iter().rev();
        let over = higher.find(|(source, slot)| {
            **source > delivery.source && slot.with(Outcome::Live).is_some()
        });
        let hidden = over.map(|(source, _)| format!("; {} overrides it", source));
        let slot = page.slots.entry(delivery.source).or_default();
        if let Some(file) = other_file(slot, delivery) {
            let why = format!("`{file}` has the same name `{name}`: leave one of them out");
            return Err(Refusal::at(LoadStep::Published, why));
        }
        // Under the lock: another change would drop a component of which no book speaks yet.
        self.shelf
            .keep(digest, &delivery.bytes)
            .map_err(|error| Refusal::Failed(format!("the component was not kept: {error}")))?;
        slot.file.clone_from(&delivery.file);
        let version = Version {
            digest: digest.to_string(),
            version: interpreter.by().version.to_string(),
            outcome: Outcome::Candidate,
            why: String::new(),
            received_ms: (self.clock)(),
        };
        let detail = if delivery.is_candidate {
            slot.wait(version.clone());
            "accepted, and waits to be promoted".to_owned()
        } else {
            slot.go_live(version.clone());
            format!("live {place}{}", hidden.unwrap_or_default())
        };
        let report = Report {
            standing: if delivery.is_candidate {
                Standing::Candidate
            } else {
                standing(page)
            },
            name,
            action: Action::Load,
            digest: Some(version.digest.clone()),
            version: Some(version.version),
            detail,
        };
        page.note(self.event(&report, Some(delivery.source)));
        // Taken out again by the next change where this one does not come to be.
        state.loaded.insert(version.digest, interpreter);
        self.commit(&mut state, book)?;
        drop(state);
        (self.swapped)();
        Ok(report)
    }

    /// Remembers a refusal where people look: under its name, as far as that is known.
    fn note_refusal(&self, delivery: &Delivery, digest: &Digest, step: LoadStep, why: &str) {
        let source = delivery.source;
        tracing::warn!(%source, name = delivery.hint, %digest, "interpreter refused: {step}: {why}");
        // Where that fails, keeping the refusal does, and says so.
        let _ = self.follow();
        let mut state = self.lock();
        let mut book = state.book.clone();
        if !book.has_room_for(&delivery.hint) {
            return;
        }
        let page = book.pages.entry(delivery.hint.clone()).or_default();
        let slot = page.slots.entry(delivery.source).or_default();
        let why = format!("{step}: {why}");
        // What is live, or was, stays what it is: only that it came again was refused.
        if slot
            .of(digest.as_str())
            .is_none_or(|it| it.outcome == Outcome::Refused)
        {
            let version = Version {
                digest: digest.to_string(),
                version: String::new(),
                outcome: Outcome::Refused,
                why: String::new(),
                received_ms: (self.clock)(),
            };
            slot.refuse(version, &why);
        }
        let report = Report {
            name: delivery.hint.clone(),
            action: Action::Refuse,
            digest: Some(digest.to_string()),
            version: None,
            standing: standing(page),
            detail: why,
        };
        page.note(self.event(&report, Some(delivery.source)));
        if let Err(error) = self.commit(&mut state, book) {
            tracing::error!(%error, "a refusal was not kept");
        }
    }
}

/// The other file that fills the slot already.
fn other_file<'s>(slot: &'s Slot, delivery: &Delivery) -> Option<&'s str> {
    let file = slot.file.as_deref()?;
    let is_there = delivery.file.as_deref() != Some(file) && !delivery.gone.contains(file);
    (is_there && slot.with(Outcome::Live).is_some()).then_some(file)
}
