//! Status contexts: the contexts under whose id other contexts are reported.

use std::collections::HashMap;

use kindsight_model::ContextId;

use crate::multimap::MultiMap;

/// The status context of each context.
#[derive(Default)]
pub(super) struct References {
    status_contexts: HashMap<ContextId, ContextId>,
    /// By each status context the contexts that it belongs to.
    shown_by: MultiMap<ContextId, ContextId>,
}

impl References {
    /// Sets the status context of a context; `None` if the context was deleted.
    pub(super) fn set(&mut self, id: &ContextId, status_context: Option<&ContextId>) {
        if let Some(before) = self.status_contexts.remove(id) {
            self.shown_by.remove(&before, id);
        }
        if let Some(status_context) = status_context {
            self.shown_by.insert(status_context.clone(), id.clone());
            self.status_contexts
                .insert(id.clone(), status_context.clone());
        }
    }

    /// The contexts whose apps are reported under the id of a context.
    pub(super) fn shown_by(&self, id: &ContextId) -> Vec<ContextId> {
        self.shown_by.get(id).cloned().collect()
    }
}
