//! Snapshots: the catalog as it is at one moment, for readers.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use kindsight_api::interpreters::{OutcomeStatus, Refusal};
use kindsight_interpreter::{Interpreter, Published, SetMember};
use kindsight_model::{Digest, InterpreterName, LoadStep, Source, VersionOutcome};

use crate::settings::{self, SettingsChecks};
use crate::state::{CatalogState, Entry, Version};
use crate::store::StoredHead;

/// Interpreters by digest, ready to judge.
pub(crate) type Loaded = HashMap<Digest, Arc<Interpreter>>;

/// The catalog as it is at one moment. A change makes another one; whoever has this one keeps it.
#[derive(Default)]
pub(crate) struct Snapshot {
    pub(crate) state: CatalogState,
    /// Live versions, candidates, and those that can be rolled back to at once.
    pub(crate) loaded: Loaded,
    /// The head of the stored state that this one follows.
    pub(crate) head: StoredHead,
    /// The members of the published set.
    pub(crate) active: Vec<ActiveMember>,
}

/// A set that was assembled and is not published yet.
pub(crate) struct AssembledSet {
    pub(crate) active: Vec<ActiveMember>,
    /// None where the same members are published already.
    pub(crate) set: Option<Arc<Published>>,
}

/// Identity of a member of the published set: two sets of equal members judge alike.
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

/// Slow work without which a change cannot be made. It is done with nothing locked.
pub(crate) enum Need {
    /// A component that is not in memory.
    Load {
        name: InterpreterName,
        source: Source,
        version: Version,
    },
    /// Settings that were not checked against the schema of a component yet.
    Check {
        interpreter: Arc<Interpreter>,
        settings: serde_json::Map<String, serde_json::Value>,
    },
}

impl Snapshot {
    /// Everything that has to be loaded and checked before the set of `state` can be assembled; nothing for entries
    /// that are the same here.
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

    /// The members of the set that a state asks for. Everything in it is loaded and checked.
    pub(crate) fn members(
        &self,
        state: &CatalogState,
        loaded: &Loaded,
        checks: &SettingsChecks,
    ) -> Result<Vec<SetMember>, Refusal> {
        let mut members = Vec::new();
        for (name, entry) in state.entries.iter().filter(|(_, it)| !it.is_disabled) {
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
        }
        Ok(members)
    }

    /// The refusal of a name that is not known.
    pub(crate) fn not_found(&self) -> Refusal {
        let known = self.state.entries.keys().map(ToString::to_string);
        Refusal::NotFound {
            known: known.collect(),
        }
    }
}

/// Keeps in memory what judges, waits, or was live just before.
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
    /// The effective version, if it is the one of that digest.
    pub(crate) fn live(&self, digest: &Digest) -> Result<(Source, Version), Refusal> {
        let live = self.effective().filter(|(_, it)| it.digest == *digest);
        let live = live.map(|(source, it)| (source, it.clone()));
        live.ok_or_else(|| Refusal::Conflict(format!("{digest} is not live any more")))
    }

    /// Returns whether the version of that source and digest judges.
    pub(crate) fn is_judging(&self, source: Source, digest: &Digest) -> bool {
        let judging = self.effective().filter(|_| !self.is_disabled);
        judging.is_some_and(|(from, it)| from == source && it.digest == *digest)
    }

    /// The version that judges and did not before.
    pub(crate) fn newly_judging(&self, before: &Self) -> Option<(Source, &Digest)> {
        let (source, version) = self.effective().filter(|_| !self.is_disabled)?;
        let was = before.is_judging(source, &version.digest);
        (!was).then_some((source, &version.digest))
    }

    /// Its status: live, disabled, or without a live version.
    pub(crate) fn status(&self) -> OutcomeStatus {
        match self.effective() {
            _ if self.is_disabled => OutcomeStatus::Disabled,
            Some(_) => OutcomeStatus::Live,
            None => OutcomeStatus::None,
        }
    }

    /// The end of a sentence that says which version another one replaces.
    pub(crate) fn replaced(&self) -> String {
        match self.effective() {
            Some((source, it)) => format!(", replacing {} from {source}", it.version),
            None => String::new(),
        }
    }
}
