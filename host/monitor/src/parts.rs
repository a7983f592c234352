//! Further objects, which continue the reports of first objects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_clusters::{StateMetadata, StatusManager};

use crate::state_name::StateName;
use crate::write::FIELD_MANAGER;

/// The objects with an owner and without a label, as the watch or a write last showed them.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    by_name: BTreeMap<StateName, StateMetadata>,
    /// Their names, by the uid of each owner.
    by_owner: BTreeMap<Arc<str>, BTreeSet<StateName>>,
}

/// A change of an object without a label.
#[derive(Debug, Clone)]
pub(crate) enum SeenPart {
    /// It was added or changed.
    Applied(StateMetadata),
    /// It was deleted.
    Deleted(StateMetadata),
}

/// A further object of the last written report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnPart {
    /// The version with the status of the report.
    pub(crate) version: Arc<str>,
    /// The version before this process wrote the status. The watch can send this version after the write.
    pub(crate) created: Option<Arc<str>>,
}

/// The further objects of a first object before a write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StoredParts {
    /// The versions of the objects that have the status that a monitor wrote, by their names.
    pub(crate) intact: BTreeMap<String, Arc<str>>,
    /// The names of the other objects: without a status, or changed by another client.
    pub(crate) damaged: BTreeSet<String>,
}

impl SeenPart {
    /// The object.
    pub(crate) fn state(&self) -> &StateMetadata {
        match self {
            Self::Applied(state) | Self::Deleted(state) => state,
        }
    }
}

impl Parts {
    /// An object; none if it is unknown.
    pub(crate) fn get(&self, name: &StateName) -> Option<&StateMetadata> {
        self.by_name.get(name)
    }

    /// The objects that are not among these names.
    pub(crate) fn missing_in(&self, names: &BTreeSet<StateName>) -> Vec<StateMetadata> {
        let missing = self.by_name.iter();
        let missing = missing.filter(|(name, _)| !names.contains(*name));
        missing.map(|(_, state)| state.clone()).collect()
    }

    /// The objects of an owner in a namespace.
    pub(crate) fn of<'p>(
        &'p self,
        owner: &str,
        namespace: &'p str,
    ) -> impl Iterator<Item = &'p StateMetadata> {
        let owned = self.by_owner.get(owner).into_iter().flatten();
        let owned = owned.filter(move |name| *name.namespace == *namespace);
        owned.filter_map(|name| self.by_name.get(name))
    }

    /// Takes a change of an object.
    pub(crate) fn take(&mut self, name: &StateName, seen: SeenPart) {
        match seen {
            SeenPart::Applied(state) => {
                self.remove(name);
                self.insert(name, state);
            }
            SeenPart::Deleted(state) => {
                // The object may have been created again since then.
                let is_known = self.get(name).is_some_and(|known| known.uid == state.uid);
                if is_known {
                    self.remove(name);
                }
            }
        }
    }

    fn insert(&mut self, name: &StateName, state: StateMetadata) {
        if state.owners.is_empty() {
            return;
        }
        for owner in &state.owners {
            let owned = self.by_owner.entry(Arc::clone(owner)).or_default();
            owned.insert(name.clone());
        }
        self.by_name.insert(name.clone(), state);
    }

    fn remove(&mut self, name: &StateName) {
        let state = self.by_name.remove(name);
        for owner in state.into_iter().flat_map(|state| state.owners) {
            if let Some(owned) = self.by_owner.get_mut(&owner) {
                owned.remove(name);
                if owned.is_empty() {
                    self.by_owner.remove(&owner);
                }
            }
        }
    }
}

/// Returns whether a further object has the status that a monitor wrote. `own` is the object in the last written report;
/// none if the object is not in it. Then the managers of the status decide.
pub(crate) fn is_intact(state: &StateMetadata, own: Option<&OwnPart>) -> bool {
    if let Some(own) = own {
        return own.version == state.version;
    }
    let managers = &state.status_managers;
    let is_own = |manager: &StatusManager| manager.name == FIELD_MANAGER;
    !managers.is_empty() && managers.iter().all(is_own)
}
