//! References between contexts.

use std::collections::{BTreeSet, HashMap};

use kindsight_appcontext::ContextSnapshot;
use kindsight_model::ContextId;

/// The contexts that others were read from, and those whose statuses are kept beside another one.
#[derive(Default)]
pub(super) struct References {
    /// By each context its own references.
    of: HashMap<ContextId, Reference>,
    /// By each context those that were read from it.
    readers: HashMap<ContextId, BTreeSet<ContextId>>,
    /// By each context those whose status context it is.
    shown_by: HashMap<ContextId, BTreeSet<ContextId>>,
}

#[derive(Default)]
struct Reference {
    status_context: Option<ContextId>,
    reads: BTreeSet<ContextId>,
}

impl References {
    pub(super) fn set(&mut self, id: &ContextId, snapshot: Option<&ContextSnapshot>) {
        let before = self.of.remove(id).unwrap_or_default();
        for other in &before.reads {
            remove(&mut self.readers, other, id);
        }
        if let Some(other) = &before.status_context {
            remove(&mut self.shown_by, other, id);
        }
        let Some(snapshot) = snapshot else {
            return;
        };
        for other in &snapshot.reads {
            let readers = self.readers.entry(other.clone()).or_default();
            readers.insert(id.clone());
        }
        let shown = self.shown_by.entry(snapshot.status_context.clone());
        shown.or_default().insert(id.clone());
        let reference = Reference {
            status_context: Some(snapshot.status_context.clone()),
            reads: snapshot.reads.clone(),
        };
        self.of.insert(id.clone(), reference);
    }

    /// The contexts whose apps are reported under the id of a context.
    pub(super) fn shown_by(&self, id: &ContextId) -> Vec<ContextId> {
        let shown = self.shown_by.get(id).into_iter().flatten();
        shown.cloned().collect()
    }

    pub(super) fn readers(&self, id: &ContextId) -> Vec<ContextId> {
        let readers = self.readers.get(id).into_iter().flatten();
        readers.filter(|it| *it != id).cloned().collect()
    }
}

fn remove(sets: &mut HashMap<ContextId, BTreeSet<ContextId>>, key: &ContextId, id: &ContextId) {
    if let Some(ids) = sets.get_mut(key) {
        ids.remove(id);
        if ids.is_empty() {
            sets.remove(key);
        }
    }
}
