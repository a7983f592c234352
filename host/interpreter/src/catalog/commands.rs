//! What can be done to an interpreter that is known: each is one change of its page.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use kindsight_model::Source;
use serde_json::{Map, Value};

use super::book::Book;
use super::words::{Action, Refusal, Report, Standing};
use super::{Catalog, Outcome, Page, Version, in_place_of, live_of};
use crate::Published;

/// Two sets to judge by, for a shadow run.
#[derive(Debug)]
pub struct Shadow {
    /// As it is.
    pub before: Arc<Published>,
    /// As it would be.
    pub after: Arc<Published>,
    /// The live version, if there is one.
    pub live: Option<Version>,
    /// The candidate.
    pub candidate: Version,
}

impl Catalog {
    /// Empties the slot of a source: the name falls back to a lower one, or to nobody. A name of
    /// which nothing is known but refusals is forgotten.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], and [`Refusal::Conflict`] where there is nothing to remove.
    pub fn remove(&self, name: &str, source: Source) -> Result<Report, Refusal> {
        if let Some(report) = self.forget_refused(name)? {
            return Ok(report);
        }
        self.change(name, Action::Remove, Some(source), |page| {
            let slot = page.slots.get_mut(&source).filter(|slot| {
                let is_filled = slot
                    .with(Outcome::Live)
                    .or(slot.with(Outcome::Candidate))
                    .is_some();
                // A file may lie there of which everything was found bad.
                is_filled || slot.file.is_some()
            });
            let Some(slot) = slot else {
                return Err(Refusal::Conflict(format!(
                    "nothing of `{name}` came from {}",
                    source
                )));
            };
            let version = slot.with(Outcome::Live).cloned();
            slot.empty();
            Ok((version, format!("removed from {}", source)))
        })
    }

    /// Forgets a name that never got further than refusals; its history goes with it.
    fn forget_refused(&self, name: &str) -> Result<Option<Report>, Refusal> {
        self.follow()?;
        let mut state = self.lock();
        let page = state.book.pages.get(name);
        if !page.is_some_and(Page::is_only_refused) {
            return Ok(None);
        }
        let mut book = state.book.clone();
        book.pages.remove(name);
        self.commit(&mut state, book)?;
        tracing::info!(interpreter.name = name, "forgotten: all of it was refused");
        Ok(Some(Report {
            name: name.to_owned(),
            action: Action::Remove,
            digest: None,
            version: None,
            standing: Standing::None,
            detail: "forgotten: all of it was refused".to_owned(),
        }))
    }

    /// The names whose directory slots a file fills: one, or more where it held another before.
    pub fn names_in(&self, file: &str) -> Vec<String> {
        let state = self.lock();
        let pages = state.book.pages.iter();
        let filled = pages.filter(|(_, page)| page.file() == Some(file));
        filled.map(|(name, _)| name.clone()).collect()
    }

    /// The files that fill directory slots.
    pub fn files(&self) -> BTreeSet<String> {
        let state = self.lock();
        let files = state.book.pages.values().filter_map(Page::file);
        files.map(str::to_owned).collect()
    }

    /// Makes the candidate live, if it is the one of that digest.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Conflict`] where there is no candidate, or another.
    pub fn promote(&self, name: &str, digest: Option<&str>) -> Result<Report, Refusal> {
        self.change(name, Action::Promote, Some(Source::Upload), |page| {
            let Some((source, candidate)) = page.candidate() else {
                return Err(Refusal::Conflict(format!("`{name}` has no candidate")));
            };
            if let Some(digest) = digest.filter(|digest| *digest != candidate.digest) {
                return Err(Refusal::Conflict(format!(
                    "the candidate of `{name}` is {} and not {digest}",
                    candidate.digest
                )));
            }
            let candidate = candidate.clone();
            let place = in_place_of(page.effective());
            if let Some(slot) = page.slots.get_mut(&source) {
                slot.go_live(candidate.clone());
            }
            Ok((Some(candidate), format!("live {place}")))
        })
    }

    /// Goes back to the version that was live before; the one that was is marked bad, so that the
    /// directory does not bring it back. Takes no compiling while compiled components are kept.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Conflict`] where there is no version to go back to.
    pub fn rollback(&self, name: &str) -> Result<Report, Refusal> {
        self.change(name, Action::Rollback, Some(Source::Upload), |page| {
            let source = page.effective().map(|(source, _)| source);
            let slot = source.and_then(|source| page.slots.get_mut(&source));
            let Some(slot) = slot.filter(|slot| slot.with(Outcome::Previous).is_some()) else {
                return Err(Refusal::Conflict(format!(
                    "`{name}` has no version to go back to; `disable` leaves it out"
                )));
            };
            let bad = slot.with(Outcome::Live).cloned();
            let now = slot.go_back("rolled back by hand");
            let version = bad.map(|it| it.version).unwrap_or_default();
            Ok((now, format!("live again in place of {version}")))
        })
    }

    /// What the breaker does when an interpreter fails too often: back to the version before, or
    /// where there is none, to whoever judges its Kinds otherwise. Where it cannot go back (that
    /// version refuses the settings, or is not kept any more) the name is left out, as by `disable`.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Conflict`] where another version is live by now.
    pub fn break_off(&self, name: &str, digest: &str, why: &str) -> Result<Report, Refusal> {
        match self.break_back(name, digest, why) {
            Err(error @ (Refusal::Refused { .. } | Refusal::Failed(_))) => {
                self.change(name, Action::Breaker, None, |page| {
                    let bad = live_of(page, digest)?.1;
                    page.is_disabled = true;
                    Ok((
                        Some(bad),
                        format!("{why}; left out, since it cannot go back: {error}"),
                    ))
                })
            }
            outcome => outcome,
        }
    }

    fn break_back(&self, name: &str, digest: &str, why: &str) -> Result<Report, Refusal> {
        self.change(name, Action::Breaker, None, |page| {
            let (source, bad) = live_of(page, digest)?;
            let now = page
                .slots
                .get_mut(&source)
                .and_then(|slot| slot.go_back(why));
            let back = match (&now, page.effective()) {
                (Some(now), _) => format!("back to {}", now.version),
                (None, Some((source, it))) => {
                    format!("back to {} from {}", it.version, source)
                }
                (None, None) => "its Kinds fall back to whoever judges them otherwise".to_owned(),
            };
            Ok((Some(bad), format!("{why}; {back}")))
        })
    }

    /// Goes back from everything that fails too often: by the share of faults among the calls of
    /// about the last minute. Called every second; takes no lock of a call.
    pub fn break_off_faulty(&self, now: Instant) {
        let percent = self.limits.breaker_fault_percent;
        if percent == 0 {
            return;
        }
        let set = self.interpreters.published();
        for (_, interpreter) in set.interpreters() {
            let by = interpreter.by();
            let Some(recent) = set.stats(&by.name).map(|stats| stats.recent(now)) else {
                continue;
            };
            let is_faulty =
                recent.faults.saturating_mul(100) >= percent.saturating_mul(recent.calls);
            if recent.calls < self.limits.breaker_calls_min || !is_faulty {
                continue;
            }
            let why = format!(
                "{} of its last {} calls ended in a fault",
                recent.faults, recent.calls
            );
            if let Err(error) = self.break_off(&by.name, by.digest.as_str(), &why) {
                tracing::error!(interpreter = ?interpreter, why, %error, "the breaker could not go back");
            }
        }
    }

    /// Leaves a name out of what is published, or takes it in again.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub fn set_disabled(&self, name: &str, is_disabled: bool) -> Result<Report, Refusal> {
        let action = if is_disabled {
            Action::Disable
        } else {
            Action::Enable
        };
        self.change(name, action, Some(Source::Upload), |page| {
            page.is_disabled = is_disabled;
            let version = page.effective().map(|(_, it)| it.clone());
            Ok((
                version,
                if is_disabled { "left out" } else { "taken in" }.to_owned(),
            ))
        })
    }

    /// Sets what every call of an interpreter is passed; none takes it away.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Refused`] where its schema does not allow them.
    pub fn set_settings(
        &self,
        name: &str,
        settings: Option<Map<String, Value>>,
    ) -> Result<Report, Refusal> {
        self.change(name, Action::Settings, Some(Source::Upload), |page| {
            let what = if settings.is_some() {
                "set"
            } else {
                "taken away"
            };
            page.settings = settings;
            Ok((page.effective().map(|(_, it)| it.clone()), what.to_owned()))
        })
    }

    /// What is live, and the same with the candidate in its place: for a shadow run.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Conflict`] without a candidate.
    pub fn shadow(&self, name: &str) -> Result<Shadow, Refusal> {
        let state = self.lock();
        let page = state
            .book
            .pages
            .get(name)
            .ok_or_else(|| state.not_found())?;
        let Some((source, candidate)) = page.candidate() else {
            return Err(Refusal::Conflict(format!("`{name}` has no candidate")));
        };
        let mut book = state.book.clone();
        let page = book.pages.entry(name.to_owned()).or_default();
        let (live, candidate) = (
            page.effective().map(|(_, it)| it.clone()),
            candidate.clone(),
        );
        page.is_disabled = false;
        if let Some(slot) = page.slots.get_mut(&source) {
            slot.go_live(candidate.clone());
        }
        let offers = |book: &Book| self.prepare(state.offers(book)?);
        Ok(Shadow {
            before: offers(&state.book)?,
            after: offers(&book)?,
            live,
            candidate,
        })
    }
}
