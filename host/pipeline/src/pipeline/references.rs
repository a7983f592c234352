//! References between contexts.

use std::collections::{BTreeSet, HashMap};

use kindsight_appcontext::ContextSnapshot;
use kindsight_model::ContextId;

use crate::multimap::MultiMap;

/// The contexts that others were read from, and those whose statuses are kept beside another one.
#[derive(Default)]
pub(super) struct References {
    /// By each context its own references.
    of: HashMap<ContextId, Reference>,
    /// By each context those that were read from it.
    readers: MultiMap<ContextId, ContextId>,
    /// By each context those whose status context it is.
    shown_by: MultiMap<ContextId, ContextId>,
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
            self.readers.remove(other, id);
        }
        if let Some(other) = &before.status_context {
            self.shown_by.remove(other, id);
        }
        let Some(snapshot) = snapshot else {
            return;
        };
        for other in &snapshot.reads {
            self.readers.insert(other.clone(), id.clone());
        }
        let status_context = &snapshot.status_context;
        self.shown_by.insert(status_context.clone(), id.clone());
        let reference = Reference {
            status_context: Some(status_context.clone()),
            reads: snapshot.reads.clone(),
        };
        self.of.insert(id.clone(), reference);
    }

    /// The contexts whose apps are reported under the id of a context.
    pub(super) fn shown_by(&self, id: &ContextId) -> Vec<ContextId> {
        self.shown_by.get(id).cloned().collect()
    }

    pub(super) fn readers(&self, id: &ContextId) -> Vec<ContextId> {
        let readers = self.readers.get(id);
        readers.filter(|it| *it != id).cloned().collect()
    }
}
