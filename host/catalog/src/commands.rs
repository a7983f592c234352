//! Commands about an interpreter that is known: each is one change of its entry.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use kindsight_api::interpreters::{Outcome, OutcomeStatus, Refusal};
use kindsight_interpreter::Published;
use kindsight_model::{CatalogAction, Digest, InterpreterName, Source, VersionOutcome};

use crate::catalog::Catalog;
use crate::commit::{Edit, log};
use crate::conditional::Conditional;
use crate::snapshot::Loaded;
use crate::state::{CatalogState, Entry, SourceVersions, Version};

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

impl Conditional<'_> {
    /// Makes one change of one entry, where the condition holds at that moment.
    pub(crate) fn change(
        &self,
        name: &InterpreterName,
        action: CatalogAction,
        by: Source,
        mut change: impl FnMut(&mut Entry) -> Result<(Option<Version>, String), Refusal>,
    ) -> Result<Outcome, Refusal> {
        self.catalog.change(name, action, Some(by), |entry| {
            self.check(entry)?;
            change(entry)
        })
    }

    /// Removes the versions of a source: the name falls back to a lower one, or to nobody. A name of
    /// which nothing is used any more is forgotten by the next removal of an upload.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], and [`Refusal::Conflict`] where there is nothing to remove.
    pub fn remove(&self, name: &InterpreterName, source: Source) -> Result<Outcome, Refusal> {
        if source == Source::Upload
            && let Some(report) = self.forget(name)?
        {
            return Ok(report);
        }
        self.change(name, CatalogAction::Remove, source, |entry| {
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
                    let version = &it.version;
                    format!("{name} is removed from {source}; {version} from {lower} is live")
                }
                None => format!("{name} is removed from {source}"),
            };
            Ok((version, detail))
        })
    }

    /// Forgets a name of which nothing is used, with its versions and its history.
    fn forget(&self, name: &InterpreterName) -> Result<Option<Outcome>, Refusal> {
        let forgotten = self.catalog.transact(Loaded::new(), |_, _, state| {
            let Some(entry) = state.entries.get(name).filter(|it| it.is_unused()) else {
                return Ok(Edit::Unchanged(None));
            };
            self.check(entry)?;
            state.entries.remove(name);
            Ok(Edit::Changed(Some(Outcome {
                name: name.clone(),
                action: CatalogAction::Remove,
                digest: None,
                version: None,
                status: OutcomeStatus::None,
                detail: format!("{name} is forgotten: no version of it was used any more"),
                takes: Vec::new(),
            })))
        });
        forgotten.inspect(|report| report.iter().for_each(log))
    }

    /// Makes the candidate live, if it is the one of that digest; or else the known version of that
    /// digest: one that was live before, was rolled back from, or is built in. A name that is disabled is
    /// enabled by it, and versions of higher sources that would cover it become previous ones.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Conflict`] where there is no candidate, and no such version.
    pub fn promote(
        &self,
        name: &InterpreterName,
        digest: Option<&Digest>,
    ) -> Result<Outcome, Refusal> {
        self.change(name, CatalogAction::Promote, Source::Upload, |entry| {
            let candidate = entry.candidate().map(|(source, it)| (source, it.clone()));
            match (candidate, digest) {
                (Some((source, candidate)), digest)
                    if digest.is_none_or(|it| *it == candidate.digest) =>
                {
                    let replaced = entry.replaced();
                    let detail = format!("{name} {} is live{replaced}", candidate.version);
                    if let Some(versions) = entry.sources.get_mut(&source) {
                        versions.go_live(candidate.clone());
                    }
                    Ok((Some(candidate), detail))
                }
                (candidate, Some(digest)) => {
                    let candidate = candidate.map(|(_, it)| it.digest);
                    bring_back(name, entry, digest, candidate.as_ref())
                }
                (_, None) => Err(no_candidate(name)),
            }
        })
    }

    /// Rolls back to the version that was live before; the directory does not bring back the one that
    /// was rolled back from. Takes no compiling while compiled components are kept.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Conflict`] where there is no version to roll back to.
    pub fn rollback(&self, name: &InterpreterName) -> Result<Outcome, Refusal> {
        self.change(name, CatalogAction::Rollback, Source::Upload, |entry| {
            let (from, versions) = previous_of_live(name, entry)?;
            let now = versions.roll_back("rolled back by hand");
            let version = now.as_ref().map_or("", |it| it.version.as_str());
            let detail = format!("{name} {version} is live again, rolled back from {from}");
            Ok((now, detail))
        })
    }

    /// Leaves a name out of what is published, or publishes it again.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Conflict`] where there is nothing to disable.
    pub fn set_disabled(
        &self,
        name: &InterpreterName,
        is_disabled: bool,
    ) -> Result<Outcome, Refusal> {
        let action = if is_disabled {
            CatalogAction::Disable
        } else {
            CatalogAction::Enable
        };
        self.change(name, action, Source::Upload, |entry| {
            let version = entry.effective().map(|(_, it)| it.clone());
            let was_disabled = std::mem::replace(&mut entry.is_disabled, is_disabled);
            let detail = match (is_disabled, was_disabled, &version) {
                (true, false, None) => {
                    let why =
                        format!("no version of `{name}` is live: there is nothing to disable");
                    return Err(Refusal::Conflict(why));
                }
                (true, ..) => format!("{name} is disabled"),
                (false, true, Some(_)) => format!("{name} is enabled"),
                (false, true, None) => format!("{name} is enabled; {}", none_live(entry)),
                (false, false, Some(it)) => {
                    let live = &it.version;
                    let rolled_back = rolled_back(entry);
                    format!("{name} was not disabled: nothing changed; {live} is live{rolled_back}")
                }
                (false, false, None) => {
                    let none = none_live(entry);
                    format!("{name} was not disabled: nothing changed; {none}")
                }
            };
            Ok((version, detail))
        })
    }
}

impl Catalog {
    /// Forgets every name of which nothing is used: no version is live or waits, and no file of the
    /// watched directory fills it. Answers with the names.
    ///
    /// # Errors
    /// [`Refusal::Conflict`] where another host was faster.
    pub fn remove_unused(&self) -> Result<Vec<InterpreterName>, Refusal> {
        let removed = self.transact(Loaded::new(), |_, _, state| {
            let unused = state.entries.iter().filter(|(_, it)| it.is_unused());
            let unused: Vec<InterpreterName> = unused.map(|(name, _)| name.clone()).collect();
            for name in &unused {
                state.entries.remove(name);
            }
            Ok(if unused.is_empty() {
                Edit::Unchanged(unused)
            } else {
                Edit::Changed(unused)
            })
        })?;
        let names = removed.len();
        tracing::info!(names, "names of which nothing was used are forgotten");
        Ok(removed)
    }

    /// The names whose directory versions a file fills: one, or more where it held another before.
    pub fn names_in(&self, file: &str) -> Vec<InterpreterName> {
        let snapshot = self.snapshot();
        let entries = snapshot.state.entries.iter();
        let filled = entries.filter(|(_, entry)| entry.file() == Some(file));
        filled.map(|(name, _)| name.clone()).collect()
    }

    /// The files of the watched directory that fill entries.
    pub fn files(&self) -> BTreeSet<String> {
        let snapshot = self.snapshot();
        let entries = snapshot.state.entries.values();
        let files = entries.filter_map(|entry| entry.file());
        files.map(str::to_owned).collect()
    }

    /// The published set, and the same with the candidate in its place: for a shadow run. Waits for
    /// nobody.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Conflict`] without a candidate.
    pub fn shadow(&self, name: &InterpreterName) -> Result<Shadow, Refusal> {
        let base = self.snapshot();
        let mut state = base.state.clone();
        let entry = state.edit(name).ok_or_else(|| base.not_found())?;
        let candidate = entry.candidate().map(|(source, it)| (source, it.clone()));
        let (source, candidate) = candidate.ok_or_else(|| no_candidate(name))?;
        if let Some(why) = &candidate.unavailable {
            let why = format!("the candidate of `{name}` cannot be loaded now: {why}");
            return Err(Refusal::Conflict(why));
        }
        let live = entry.effective().map(|(_, it)| it.clone());
        entry.is_disabled = false;
        if let Some(versions) = entry.sources.get_mut(&source) {
            versions.go_live(candidate.clone());
        }
        let set =
            |state: &CatalogState| self.prepare(base.members(state, &base.loaded, &self.checks)?);
        Ok(Shadow {
            before: set(&base.state)?,
            after: set(&state)?,
            live,
            candidate,
        })
    }
}

fn no_candidate(name: &InterpreterName) -> Refusal {
    Refusal::Conflict(format!("`{name}` has no candidate"))
}

/// The versions that a rollback changes, and the version that it goes back from.
fn previous_of_live<'e>(
    name: &InterpreterName,
    entry: &'e mut Entry,
) -> Result<(String, &'e mut SourceVersions), Refusal> {
    let live = entry.effective();
    let live = live.map(|(source, it)| (source, it.version.clone(), it.digest.clone()));
    let found = live.and_then(|(source, version, digest)| {
        let versions = entry.sources.get_mut(&source)?;
        let mut versions_before = versions.versions.iter();
        let has_previous =
            versions_before.any(|it| it.outcome == VersionOutcome::Previous && it.digest != digest);
        has_previous.then_some((version, versions))
    });
    found.ok_or_else(|| {
        Refusal::Conflict(format!(
            "`{name}` has no version to roll back to; `disable` leaves it out"
        ))
    })
}

/// Makes a version live that is no candidate.
fn bring_back(
    name: &InterpreterName,
    entry: &mut Entry,
    digest: &Digest,
    candidate: Option<&Digest>,
) -> Result<(Option<Version>, String), Refusal> {
    let known = entry.sources.iter().rev().find_map(|(source, versions)| {
        let version = versions.of(digest)?;
        let is_usable = version.outcome != VersionOutcome::Refused;
        is_usable.then(|| (*source, version.clone()))
    });
    let Some((source, version)) = known else {
        return Err(Refusal::Conflict(match candidate {
            Some(candidate) => format!("the candidate of `{name}` is {candidate} and not {digest}"),
            None => format!("no version of `{name}` that is kept has the digest {digest}"),
        }));
    };
    let replaced = entry.replaced();
    // One that stands in for the live one is not live itself.
    let is_live = entry
        .live(digest)
        .is_ok_and(|(_, it)| it.outcome == VersionOutcome::Live);
    let was_disabled = std::mem::replace(&mut entry.is_disabled, false);
    let covering = cover_no_more(entry, source);
    if let Some(versions) = entry.sources.get_mut(&source)
        && !is_live
    {
        versions.go_live(version.clone());
    }
    let detail = match (is_live, was_disabled) {
        (true, true) => format!("{name} {} is enabled and live", version.version),
        (true, false) => format!(
            "{name} {} is live already: nothing changed",
            version.version
        ),
        (false, true) => format!("{name} {} is enabled and live{replaced}", version.version),
        (false, false) => format!("{name} {} is live{replaced}", version.version),
    };
    Ok((Some(version), format!("{detail}{covering}")))
}

/// Takes out the live versions of the sources above one; answers with the end of a sentence that says
/// so. Those of the directory are not loaded again by themselves.
fn cover_no_more(entry: &mut Entry, source: Source) -> String {
    let mut detail = String::new();
    let higher = entry.sources.iter_mut().filter(|(it, _)| **it > source);
    for (higher, versions) in higher {
        let Some(version) = versions.with(VersionOutcome::Live).cloned() else {
            continue;
        };
        let (to, why) = if *higher == Source::Directory {
            let why = "another version was promoted by hand";
            (VersionOutcome::RolledBack, why)
        } else {
            (VersionOutcome::Previous, "")
        };
        versions.step_down(to, why);
        let (version, word) = (version.version, to.as_str());
        // Writing to a String does not fail.
        let _ = write!(
            detail,
            "; {version} from {higher}, which covered it, is {word} now"
        );
    }
    detail
}

/// The end of a sentence about a name without a live version.
fn none_live(entry: &Entry) -> String {
    format!("no version of it is live{}", rolled_back(entry))
}

/// The end of a sentence that says how to bring back the version that was rolled back from last.
fn rolled_back(entry: &Entry) -> String {
    let mut sources = entry.sources.values().rev();
    let last = sources.find_map(|it| it.with(VersionOutcome::RolledBack));
    last.map_or_else(String::new, |it| {
        let (version, digest, why) = (&it.version, &it.digest, &it.why);
        format!(
            "; {version} was rolled back from ({why}): `promote --digest {digest}` brings it back"
        )
    })
}
