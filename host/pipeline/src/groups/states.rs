//! States that an orchestrator keeps beside its contexts, and the records that they and the contexts make.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_model::{ContextId, RecordSubject, StateInfo};
use kindsight_status::{ActionView, RecordView};

use super::derived::Derived;
use crate::multimap::MultiMap;

/// The states that are known.
#[derive(Default)]
pub(crate) struct States {
    known: BTreeMap<RecordSubject, StateInfo>,
    /// The subjects whose actions name a context.
    named_by: MultiMap<ContextId, RecordSubject>,
}

impl States {
    /// The subjects that have a state.
    pub(crate) fn subjects(&self) -> impl Iterator<Item = &RecordSubject> {
        self.known.keys()
    }

    /// The subjects whose actions name a context.
    pub(crate) fn named_by(&self, id: &ContextId) -> impl Iterator<Item = &RecordSubject> {
        self.named_by.get(id)
    }

    /// Takes over the state of a subject; none where it is gone.
    pub(crate) fn set(&mut self, subject: &RecordSubject, info: Option<StateInfo>) {
        for id in named(self.known.get(subject)) {
            self.named_by.remove(id, subject);
        }
        for id in named(info.as_ref()) {
            self.named_by.insert(id.clone(), subject.clone());
        }
        match info {
            Some(info) => drop(self.known.insert(subject.clone(), info)),
            None => drop(self.known.remove(subject)),
        }
    }

    /// The record of a subject without a record of kindsight. `None` if the subject is unknown.
    pub(crate) fn record(&self, subject: &RecordSubject, derived: &Derived) -> Option<RecordView> {
        match self.known.get(subject) {
            Some(info) => Some(merged(subject, info, derived)),
            None => derived.record(subject, |_, _| true),
        }
    }
}

/// The actions that an orchestrator keeps, followed by actions that it has not noted yet: an instantiation is
/// written to the contexts first.
///
/// The further actions are derived from contexts that no kept action names and that are newer than all named contexts.
/// Older contexts add no action, because the orchestrator keeps the history.
fn merged(subject: &RecordSubject, info: &StateInfo, derived: &Derived) -> RecordView {
    let named = named(Some(info));
    let last = named.iter().filter_map(|id| derived.created(id)).max();
    let newer = derived.record(subject, |id, created| {
        !named.contains(id) && last.is_none_or(|last| created > last)
    });
    let newer = newer.unwrap_or_default();
    RecordView {
        profile: info.profile.clone(),
        status_context: newer.status_context.or_else(|| info.status_context.clone()),
        actions: [views(info), newer.actions].concat(),
        is_own: false,
    }
}

fn views(info: &StateInfo) -> Vec<ActionView> {
    let actions = info.actions.iter().map(|action| ActionView {
        state: action.state,
        instance: action.instance.clone(),
        time: Arc::clone(&action.time),
        revision: action.revision,
    });
    actions.collect()
}

/// The contexts that the actions of a state name.
fn named(info: Option<&StateInfo>) -> BTreeSet<&ContextId> {
    let actions = info.into_iter().flat_map(|it| &it.actions);
    actions
        .filter_map(|action| action.instance.as_ref())
        .collect()
}

#[cfg(test)]
mod tests;
