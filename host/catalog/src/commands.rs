//! Commands for a known interpreter. Each is one change of its entry.

use std::collections::BTreeSet;

use kindsight_api::interpreters::{Outcome, OutcomeStatus, Refusal};
use kindsight_model::{CatalogAction, InterpreterName, Source, VersionOutcome};

use crate::catalog::Catalog;
use crate::commit::{Edit, log};
use crate::conditional::Conditional;
use crate::rollback::Rollback;
use crate::snapshot::Loaded;
use crate::state::{Entry, Version};

impl Conditional<'_> {
    /// Makes one change of one entry, if the condition holds at that time.
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

    /// Removes the versions of a source: the version of a lower source takes their place, if there
    /// is one. If the name is no longer in use, the next removal of an upload removes the name.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], and [`Refusal::Conflict`] if there is nothing to remove.
    pub fn remove(&self, name: &InterpreterName, source: Source) -> Result<Outcome, Refusal> {
        if source == Source::Upload
            && let Some(report) = self.forget(name)?
        {
            return Ok(report);
        }
        self.change(name, CatalogAction::Remove, source, |entry| {
            let versions = entry.sources.get_mut(&source).filter(|versions| {
                let outcomes = [VersionOutcome::Live, VersionOutcome::Candidate];
                // There may be a file whose versions were all rolled back.
                versions.file.is_some()
                    || outcomes
                        .iter()
                        .any(|outcome| versions.with(*outcome).is_some())
            });
            let Some(versions) = versions else {
                let why = format!("no version of `{name}` came from {source}");
                return Err(Refusal::Conflict(why));
            };
            let version = versions.with(VersionOutcome::Live).cloned();
            versions.empty();
            if source == Source::Directory {
                entry.forget_file_settings();
            }
            let detail = match entry.effective() {
                Some((lower, version)) => {
                    let version = &version.version;
                    let disabled = entry.disabled();
                    let is = if entry.is_disabled {
                        "remains"
                    } else {
                        "is live"
                    };
                    format!(
                        "{name} is removed from {source}; {version} from {lower} {is}{disabled}"
                    )
                }
                None => format!("{name} is removed from {source}"),
            };
            Ok((version, detail))
        })
    }

    /// Removes a name that is not in use, with its versions and its history.
    fn forget(&self, name: &InterpreterName) -> Result<Option<Outcome>, Refusal> {
        let forgotten = self.catalog.transact(Loaded::new(), |_, _, state| {
            let Some(entry) = state.entries.get(name).filter(|entry| entry.is_unused()) else {
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
                detail: format!("{name} is removed: none of its versions was in use"),
                takes: Vec::new(),
            })))
        });
        forgotten.inspect(|report| report.iter().for_each(log))
    }

    /// Rolls back to the version that was live before, or else to the version of a lower source. The
    /// directory does not restore the version that was rolled back. Needs no compilation while
    /// compiled components are kept.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Conflict`] if there is no version to roll back to.
    pub fn rollback(&self, name: &InterpreterName) -> Result<Outcome, Refusal> {
        self.change(name, CatalogAction::Rollback, Source::Upload, |entry| {
            let nothing = || {
                Refusal::Conflict(format!(
                    "`{name}` has no version to roll back to; use `disable` to exclude it"
                ))
            };
            let rollback = entry.roll_back("rolled back by an operator");
            let Rollback { from, to } = rollback.ok_or_else(nothing)?;
            let lower = if from.0 == to.0 {
                String::new()
            } else {
                format!(" from {}", to.0)
            };
            let (from, to) = (from.1, to.1);
            let (version, rolled_back) = (&to.version, &from.version);
            let detail = if entry.is_disabled {
                let disabled = entry.disabled();
                format!("{name} {rolled_back} is rolled back to {version}{lower}{disabled}")
            } else {
                format!("{name} {version}{lower} is live again, rolled back from {rolled_back}")
            };
            Ok((Some(to), detail))
        })
    }

    /// Excludes a name from the published set, or includes it again.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Conflict`] if there is nothing to disable.
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
            let version = entry.effective().map(|(_, version)| version.clone());
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
                (false, false, Some(live)) => {
                    let live = &live.version;
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
    /// Removes every name that is not in use: it has neither a live version nor a candidate, and no
    /// file or artifact fills it. Returns the names.
    ///
    /// # Errors
    /// [`Refusal::Conflict`] if another host was faster.
    pub fn remove_unused(&self) -> Result<Vec<InterpreterName>, Refusal> {
        let removed = self.transact(Loaded::new(), |_, _, state| {
            let unused = state.entries.iter().filter(|(_, entry)| entry.is_unused());
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
        tracing::info!(names, "unused names of interpreters were removed");
        Ok(removed)
    }

    /// The names that a file fills: one, or more if the file contained a different component
    /// before.
    pub fn names_in(&self, source: Source, file: &str) -> Vec<InterpreterName> {
        let snapshot = self.snapshot();
        let entries = snapshot.state.entries.iter();
        let filled = entries.filter(|(_, entry)| entry.file(source) == Some(file));
        filled.map(|(name, _)| name.clone()).collect()
    }

    /// The files, or the references to artifacts, with which a source fills entries.
    pub fn files(&self, source: Source) -> BTreeSet<String> {
        let snapshot = self.snapshot();
        let entries = snapshot.state.entries.values();
        let files = entries.filter_map(|entry| entry.file(source));
        files.map(str::to_owned).collect()
    }
}

/// The end of a sentence about a name without a live version.
fn none_live(entry: &Entry) -> String {
    format!("no version of it is live{}", rolled_back(entry))
}

/// The end of a sentence that explains how to restore the version that was rolled back last.
fn rolled_back(entry: &Entry) -> String {
    let mut sources = entry.sources.values().rev();
    let last = sources.find_map(|versions| versions.with(VersionOutcome::RolledBack));
    last.map_or_else(String::new, |last| {
        let (version, digest, why) = (&last.version, &last.digest, &last.why);
        format!("; {version} was rolled back ({why}): `promote --digest {digest}` restores it")
    })
}
