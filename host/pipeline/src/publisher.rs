//! Publishing of views: the one place where transitions are found.

use std::sync::Arc;

use kindsight_model::ClusterName;
use kindsight_status::{
    ApplicationKey, Before, ContextView, ReadModel, TransitionCause, transitions,
};

use crate::view_change::ViewChange;

/// Publishes views to the read model, with what changed from each to the next.
pub(crate) struct Publisher {
    read_model: Arc<ReadModel>,
}

impl Publisher {
    /// Publishes to this read model, to which nobody else publishes views.
    pub(crate) fn new(read_model: Arc<ReadModel>) -> Self {
        Self { read_model }
    }

    /// The read model.
    pub(crate) fn read_model(&self) -> &ReadModel {
        &self.read_model
    }

    /// Publishes the view of an application, whose objects changed or for which time passed.
    pub(crate) fn publish(&self, key: &ApplicationKey, view: ContextView, now_ms: i64) {
        self.publish_with(key, view, TransitionCause::Observed, now_ms);
    }

    /// Publishes the view of an application, as far as it changed.
    pub(crate) fn publish_change(
        &self,
        change: ViewChange,
        key: &ApplicationKey,
        view: impl FnOnce() -> ContextView,
        cause: TransitionCause,
        now_ms: i64,
    ) {
        match change {
            ViewChange::Nothing => {}
            ViewChange::Since => self.read_model.refresh(key, view()),
            ViewChange::Verdicts => self.publish_with(key, view(), cause, now_ms),
        }
    }

    fn publish_with(
        &self,
        key: &ApplicationKey,
        view: ContextView,
        cause: TransitionCause,
        now_ms: i64,
    ) {
        let shown = self.read_model.application(key);
        let before = shown.as_deref().map_or(Before::Nothing, Before::View);
        let found = transitions(before, &view, cause, now_ms);
        // First: who sees the new state finds how it came to it.
        self.read_model.record(key, found);
        self.read_model.publish(key, Some(view));
    }

    /// Removes an application and its history.
    pub(crate) fn remove(&self, key: &ApplicationKey) {
        self.read_model.publish(key, None);
    }

    /// Forgets how an application fared in a cluster that is no longer configured.
    pub(crate) fn forget_history(&self, key: &ApplicationKey, cluster: &ClusterName) {
        self.read_model.forget_history(key, cluster);
    }
}
