//! Snapshots: the state of the catalog at one moment, for readers.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use kindsight_api::interpreters::{OutcomeStatus, Refusal};
use kindsight_interpreter::{Interpreter, Published, SetMember};
use kindsight_model::{Digest, InterpreterName, LoadStep, Source, VersionOutcome};

use crate::settings::{self, SettingsChecks};
use crate::state::{CatalogState, Entry, Version};
use crate::store::StoredHead;

/// Loaded interpreters by digest.
pub(crate) type Loaded = HashMap<Digest, Arc<Interpreter>>;

/// The state of the catalog at one moment. A change makes a new snapshot, and readers of the old
/// one keep it.
#[derive(Default)]
pub(crate) struct Snapshot {
    pub(crate) state: CatalogState,
    /// Live versions, candidates, and versions for an immediate rollback.
    pub(crate) loaded: Loaded,
    /// The head of the stored state that this snapshot follows.
    pub(crate) head: StoredHead,
    /// The members of the published set.
    pub(crate) active: Vec<ActiveMember>,
}

/// A set that was assembled but is not published yet.
pub(crate) struct AssembledSet {
    pub(crate) active: Vec<ActiveMember>,
    /// `None` if the same members are already published.
    pub(crate) set: Option<Arc<Published>>,
}

/// The identity of a member of the published set. Two sets with equal members give equal verdicts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ActiveMember {
    name: InterpreterName,
    source: Source,
    digest: Digest,
    settings: Option<Arc<str>>,
}

impl From<&SetMember> for ActiveMember {
    fn from(member: &SetMember) -> Self {
        let by = member.interpreter.by();
        Self {
            name: by.name.clone(),
            source: member.source,
            digest: by.digest.clone(),
            settings: member.settings.clone(),
        }
    }
}

/// Slow work that a change requires. It is done without a lock.
pub(crate) enum Need {
    /// A component that is not in memory.
    Load {
        name: InterpreterName,
        source: Source,
        version: Version,
    },
    /// Settings that were not yet checked with the schema of a component.
    Check {
        interpreter: Arc<Interpreter>,
        settings: serde_json::Map<String, serde_json::Value>,
    },
}

impl Snapshot {
    /// The components and settings that must be loaded and checked before the set of `state` can be
    /// assembled. Unchanged entries need nothing.
    pub(crate) fn needs(
        &self,
        state: &CatalogState,
        loaded: &Loaded,
        checks: &SettingsChecks,
    ) -> Vec<Need> {
        let mut needs = Vec::new();
        for (name, entry) in &state.entries {
            let old = self.state.entries.get(name);
            let Some((source, version)) = entry.effective().filter(|_| !entry.is_disabled) else {
                continue;
            };
            let Some(interpreter) = loaded.get(&version.digest) else {
                needs.push(Need::Load {
                    name: name.clone(),
                    source,
                    version: version.clone(),
                });
                continue;
            };
            if let Some(settings) = &entry.settings
                && old.is_none_or(|old| !Arc::ptr_eq(old, entry))
                && checks.known(interpreter, settings).is_none()
            {
                needs.push(Need::Check {
                    interpreter: Arc::clone(interpreter),
                    settings: settings.clone(),
                });
            }
        }
        needs
    }

    /// The members of the set for a state. All of them must be loaded and checked.
    pub(crate) fn members(
        &self,
        state: &CatalogState,
        loaded: &Loaded,
        checks: &SettingsChecks,
    ) -> Result<Vec<SetMember>, Refusal> {
        let mut members = Vec::new();
        for (name, entry) in state.entries.iter().filter(|(_, entry)| !entry.is_disabled) {
            let Some((source, version)) = entry.effective() else {
                continue;
            };
            let interpreter = loaded.get(&version.digest).ok_or_else(|| {
                let digest = &version.digest;
                Refusal::Failed(format!("component {digest} of `{name}` is not loaded"))
            })?;
            let old = self.state.entries.get(name);
            if let Some(settings) = &entry.settings
                && old.is_none_or(|old| !Arc::ptr_eq(old, entry))
            {
                checks.check(interpreter, settings).map_err(|why| {
                    Refusal::at(LoadStep::Published, format!("settings of `{name}`: {why}"))
                })?;
            }
            members.push(SetMember {
                source,
                settings: settings::passed(interpreter, entry.settings.as_ref()),
                interpreter: Arc::clone(interpreter),
            });
            members.extend(replaced_built_in(entry, source, loaded));
        }
        Ok(members)
    }

    /// The refusal of an unknown name.
    pub(crate) fn not_found(&self) -> Refusal {
        let known = self.state.entries.keys().map(ToString::to_string);
        Refusal::NotFound {
            known: known.collect(),
        }
    }
}

/// The built-in version below the version that judges. It judges what that version declines, with
/// its own defaults: the operator's settings are for the version that replaces it.
fn replaced_built_in(entry: &Entry, judging: Source, loaded: &Loaded) -> Option<SetMember> {
    let versions = entry.sources.get(&Source::BuiltIn)?;
    let version = versions.with(VersionOutcome::Live)?;
    let interpreter = loaded.get(&version.digest)?;
    (judging != Source::BuiltIn).then(|| SetMember {
        source: Source::BuiltIn,
        settings: settings::passed(interpreter, None),
        interpreter: Arc::clone(interpreter),
    })
}

/// Keeps live versions, candidates and previous versions in memory.
pub(crate) fn keep_near(state: &CatalogState, loaded: &mut Loaded) {
    let outcomes = [
        VersionOutcome::Live,
        VersionOutcome::Candidate,
        VersionOutcome::Previous,
    ];
    let sources = state.sources();
    let near: BTreeSet<&Digest> = sources
        .flat_map(|(_, source)| {
            let by_outcome = outcomes.map(|outcome| source.with(outcome));
            by_outcome.into_iter().chain([source.judging()])
        })
        .flatten()
        .map(|version| &version.digest)
        .collect();
    loaded.retain(|digest, _| near.contains(digest));
}

impl Entry {
    /// The effective version, if it has this digest.
    pub(crate) fn live(&self, digest: &Digest) -> Result<(Source, Version), Refusal> {
        let live = self
            .effective()
            .filter(|(_, version)| version.digest == *digest);
        let live = live.map(|(source, version)| (source, version.clone()));
        live.ok_or_else(|| Refusal::Conflict(format!("{digest} is no longer live")))
    }

    /// Returns whether the version with this source and digest judges.
    pub(crate) fn is_judging(&self, source: Source, digest: &Digest) -> bool {
        let judging = self.effective().filter(|_| !self.is_disabled);
        judging.is_some_and(|(from, version)| from == source && version.digest == *digest)
    }

    /// The version that judges now but did not before.
    pub(crate) fn newly_judging(&self, before: &Self) -> Option<(Source, &Digest)> {
        let (source, version) = self.effective().filter(|_| !self.is_disabled)?;
        let was = before.is_judging(source, &version.digest);
        (!was).then_some((source, &version.digest))
    }

    /// The status of the entry: live, disabled, or without a live version.
    pub(crate) fn status(&self) -> OutcomeStatus {
        match self.effective() {
            _ if self.is_disabled => OutcomeStatus::Disabled,
            Some(_) => OutcomeStatus::Live,
            None => OutcomeStatus::None,
        }
    }

    /// The end of a sentence that names the version that is replaced.
    pub(crate) fn replaced(&self) -> String {
        match self.effective() {
            Some((source, version)) => format!(", replacing {} from {source}", version.version),
            None => String::new(),
        }
    }

    /// The end of a sentence about a version that does not judge because the name is disabled.
    pub(crate) fn disabled(&self) -> &'static str {
        if self.is_disabled {
            ", but the name is disabled: `enable` makes it live"
        } else {
            ""
        }
    }
}
