//! Publishing of views: the one place where transitions are found.

use std::sync::Arc;

use kindsight_model::ClusterName;
use kindsight_status::{
    ApplicationHistory, ApplicationKey, Before, ContextView, ReadModel, Report, Transition,
    TransitionCause, awaits_reports, sorted_anew, transitions,
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

    /// Publishes the view of an application whose objects are told by other rules than those of the view before.
    pub(crate) fn publish_sorted_anew(&self, key: &ApplicationKey, view: ContextView, now_ms: i64) {
        let mut found = self.found(key, &view, TransitionCause::Observed, now_ms);
        sorted_anew(&mut found);
        self.read_model.publish_with(key, view, found);
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
        let found = self.found(key, &view, cause, now_ms);
        self.read_model.publish_with(key, view, found);
    }

    /// The transitions from what is known of an application to its next view.
    fn found(
        &self,
        key: &ApplicationKey,
        view: &ContextView,
        cause: TransitionCause,
        now_ms: i64,
    ) -> Vec<Transition> {
        let shown = self.read_model.application(key);
        let kept = self.history_of_before(key, shown.as_deref());
        let before = match (&kept, &shown) {
            (Some(kept), _) => Before::History(kept),
            (None, Some(shown)) => Before::View(shown),
            (None, None) => Before::Nothing,
        };
        transitions(before, view, cause, now_ms)
    }

    /// The history of before the start, where that is what the next view is compared with: there is no view yet,
    /// or a part of it is still to be reported.
    fn history_of_before(
        &self,
        key: &ApplicationKey,
        shown: Option<&ContextView>,
    ) -> Option<ApplicationHistory> {
        let is_silent = |view: &ContextView| {
            let mut views = view.apps.iter().flat_map(|app| &app.clusters);
            views.any(|it| *it.report() == Report::NotYet)
        };
        if shown.is_some_and(|it| !is_silent(it)) {
            return None;
        }
        let (_, history) = self.read_model.application_history(key);
        history.filter(|kept| shown.is_none_or(|shown| awaits_reports(kept, shown)))
    }

    /// Publishes what was last known before the start, which is no transition.
    pub(crate) fn remember(&self, key: &ApplicationKey, view: ContextView) {
        self.read_model.publish(key, Some(view));
    }

    /// Takes over the history of before the start.
    pub(crate) fn restore_history(&self, key: &ApplicationKey, history: ApplicationHistory) {
        self.read_model.restore_history(key, history);
    }

    /// Forgets the histories of all other applications.
    pub(crate) fn retain_histories(&self, is_kept: impl Fn(&ApplicationKey) -> bool) {
        self.read_model.retain_histories(is_kept);
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
