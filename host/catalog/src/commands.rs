//! Commands about an interpreter that is known: each is one change of its entry.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_api::interpreters::{Outcome, OutcomeStatus, Refusal};
use kindsight_interpreter::Published;
use kindsight_model::{CatalogAction, Digest, InterpreterName, Source, VersionOutcome};
use serde_json::{Map, Value};

use crate::catalog::Catalog;
use crate::state::{CatalogState, Entry, Version};

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
    /// Removes the versions of a source: the name falls back to a lower one, or to nobody. A name of
    /// which nothing is known but refusals is forgotten.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], and [`Refusal::Conflict`] where there is nothing to remove.
    pub fn remove(&self, name: &InterpreterName, source: Source) -> Result<Outcome, Refusal> {
        if let Some(report) = self.forget_refused(name)? {
            return Ok(report);
        }
        self.change(name, CatalogAction::Remove, Some(source), |entry| {
            let versions = entry.sources.get_mut(&source).filter(|versions| {
                let outcomes = [VersionOutcome::Live, VersionOutcome::Candidate];
                // A file may lie there of which every version was rolled back from.
                versions.file.is_some() || outcomes.iter().any(|it| versions.with(*it).is_some())
            });
            let Some(versions) = versions else {
                let why = format!("no version of `{name}` came from {source}");
                return Err(Refusal::Conflict(why));
            };
            let version = versions.with(VersionOutcome::Live).cloned();
            versions.empty();
            let detail = match entry.effective() {
                Some((lower, it)) => {
                    format!(
                        "{name} is removed from {source}; {} from {lower} is live",
                        it.version
                    )
                }
                None => format!("{name} is removed from {source}"),
            };
            Ok((version, detail))
        })
    }

    /// Forgets a name that never got further than refusals; its history goes with it.
    fn forget_refused(&self, name: &InterpreterName) -> Result<Option<Outcome>, Refusal> {
        self.follow()?;
        let mut inner = self.lock();
        let entry = inner.state.entries.get(name);
        if !entry.is_some_and(Entry::is_only_refused) {
            return Ok(None);
        }
        let mut state = inner.state.clone();
        state.entries.remove(name);
        self.commit(&mut inner, state)?;
        let detail = format!("{name} is forgotten: every version of it was refused");
        tracing::info!(interpreter.name = name.as_str(), "{detail}");
        Ok(Some(Outcome {
            name: name.clone(),
            action: CatalogAction::Remove,
            digest: None,
            version: None,
            status: OutcomeStatus::None,
            detail,
        }))
    }

    /// The names whose directory versions a file fills: one, or more where it held another before.
    pub fn names_in(&self, file: &str) -> Vec<InterpreterName> {
        let inner = self.lock();
        let entries = inner.state.entries.iter();
        let filled = entries.filter(|(_, entry)| entry.file() == Some(file));
        filled.map(|(name, _)| name.clone()).collect()
    }

    /// The files of the watched directory that fill entries.
    pub fn files(&self) -> BTreeSet<String> {
        let inner = self.lock();
        let files = inner.state.entries.values().filter_map(Entry::file);
        files.map(str::to_owned).collect()
    }

    /// Makes the candidate live, if it is the one of that digest.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Conflict`] where there is no candidate, or another.
    pub fn promote(
        &self,
        name: &InterpreterName,
        digest: Option<&Digest>,
    ) -> Result<Outcome, Refusal> {
        self.change(
            name,
            CatalogAction::Promote,
            Some(Source::Upload),
            |entry| {
                let Some((source, candidate)) = entry.candidate() else {
                    return Err(no_candidate(name));
                };
                if let Some(digest) = digest.filter(|digest| **digest != candidate.digest) {
                    return Err(Refusal::Conflict(format!(
                        "the candidate of `{name}` is {} and not {digest}",
                        candidate.digest
                    )));
                }
                let candidate = candidate.clone();
                let detail = format!("{name} {} is live{}", candidate.version, entry.replaced());
                if let Some(versions) = entry.sources.get_mut(&source) {
                    versions.go_live(candidate.clone());
                }
                Ok((Some(candidate), detail))
            },
        )
    }

    /// Rolls back to the version that was live before; the directory does not bring back the one that
    /// was rolled back from. Takes no compiling while compiled components are kept.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Conflict`] where there is no version to roll back to.
    pub fn rollback(&self, name: &InterpreterName) -> Result<Outcome, Refusal> {
        self.change(
            name,
            CatalogAction::Rollback,
            Some(Source::Upload),
            |entry| {
                let source = entry.effective().map(|(source, _)| source);
                let versions = source.and_then(|source| entry.sources.get_mut(&source));
                let versions = versions.filter(|it| it.with(VersionOutcome::Previous).is_some());
                let Some(versions) = versions else {
                    return Err(Refusal::Conflict(format!(
                        "`{name}` has no version to roll back to; `disable` leaves it out"
                    )));
                };
                let from = versions.with(VersionOutcome::Live).cloned();
                let from = from.map(|it| it.version).unwrap_or_default();
                let now = versions.roll_back("rolled back by hand");
                let version = now.as_ref().map_or("", |it| it.version.as_str());
                let detail = format!("{name} {version} is live again, rolled back from {from}");
                Ok((now, detail))
            },
        )
    }

    /// Leaves a name out of what is published, or publishes it again.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub fn set_disabled(
        &self,
        name: &InterpreterName,
        is_disabled: bool,
    ) -> Result<Outcome, Refusal> {
        let (action, word) = if is_disabled {
            (CatalogAction::Disable, "disabled")
        } else {
            (CatalogAction::Enable, "enabled")
        };
        self.change(name, action, Some(Source::Upload), |entry| {
            entry.is_disabled = is_disabled;
            let version = entry.effective().map(|(_, it)| it.clone());
            Ok((version, format!("{name} is {word}")))
        })
    }

    /// Sets the settings that every call of an interpreter is passed; none removes them.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Refused`] where its schema does not allow them.
    pub fn set_settings(
        &self,
        name: &InterpreterName,
        settings: Option<Map<String, Value>>,
    ) -> Result<Outcome, Refusal> {
        self.change(
            name,
            CatalogAction::Settings,
            Some(Source::Upload),
            |entry| {
                let word = if settings.is_some() { "set" } else { "removed" };
                entry.settings = settings;
                let version = entry.effective().map(|(_, it)| it.clone());
                Ok((version, format!("the settings of {name} are {word}")))
            },
        )
    }

    /// The published set, and the same with the candidate in its place: for a shadow run.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Conflict`] without a candidate.
    pub fn shadow(&self, name: &InterpreterName) -> Result<Shadow, Refusal> {
        let inner = self.lock();
        let mut state = inner.state.clone();
        let entry = state.entries.get_mut(name);
        let entry = entry.ok_or_else(|| inner.not_found())?;
        let candidate = entry.candidate().map(|(source, it)| (source, it.clone()));
        let (source, candidate) = candidate.ok_or_else(|| no_candidate(name))?;
        let live = entry.effective().map(|(_, it)| it.clone());
        entry.is_disabled = false;
        if let Some(versions) = entry.sources.get_mut(&source) {
            versions.go_live(candidate.clone());
        }
        let set = |state: &CatalogState| self.prepare(inner.members(state)?);
        Ok(Shadow {
            before: set(&inner.state)?,
            after: set(&state)?,
            live,
            candidate,
        })
    }
}

fn no_candidate(name: &InterpreterName) -> Refusal {
    Refusal::Conflict(format!("`{name}` has no candidate"))
}
