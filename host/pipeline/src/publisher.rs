//! Publishing to the read model: the one place that writes it, and where transitions are found.

use std::sync::Arc;

use kindsight_model::{ClusterName, Identity, RecordSubject};
use kindsight_read_model::{ReadModel, ReadModelWriter};
use kindsight_status::{
    ApplicationHistory, ApplicationKey, Before, ConnectionView, ContextView, HistoryChange,
    RecordView, ResourceId, StoreAway, Transition, TransitionCause, awaits_reports, mark_left,
    transitions,
};

use crate::remotes::Remotes;
use crate::view_change::ViewChange;

/// The change of the history of an application that another host sent with its view.
pub(crate) enum SentHistory<'h> {
    /// The other host sent no history. The transitions are found by comparing views.
    Nothing,
    /// The only host that shows the application sent its history. It replaces the history of this host.
    Mirrored(HistoryChange),
    /// One of several hosts that show the application sent its part.
    Shared {
        upstream: &'h str,
        change: HistoryChange,
    },
}

/// The owner of the read model's writer. Publishes each view, joined with the state of other hosts, with the
/// transitions from the previous one.
#[derive(Default)]
pub(crate) struct Publisher {
    writer: ReadModelWriter,
    remotes: Remotes,
}

impl Publisher {
    /// The read model that it publishes to.
    pub(crate) fn read_model(&self) -> &ReadModel {
        self.writer.read_model()
    }

    /// Publishes the record of a deployment intent group, a cluster or a logical cloud; none where it was
    /// deleted.
    pub(crate) fn publish_record(&mut self, subject: &RecordSubject, record: Option<RecordView>) {
        self.writer.publish_record(subject, record);
    }

    /// The state of other hosts. The caller publishes what it changes.
    pub(crate) fn remotes(&mut self) -> &mut Remotes {
        &mut self.remotes
    }

    /// Publishes the connection of this host to a cluster; none for a cluster that is no longer configured.
    pub(crate) fn publish_connection(&mut self, of: &ClusterName, view: Option<ConnectionView>) {
        self.remotes.set_own(of, view);
        self.publish_joined_connection(of);
    }

    /// Publishes the connection to a cluster, from the host that owns it.
    pub(crate) fn publish_joined_connection(&mut self, of: &ClusterName) {
        let view = self.remotes.connection(of);
        self.writer.publish_connection(of, view);
    }

    /// Publishes an application that another host shows or showed. `own` is the view of this host.
    pub(crate) fn publish_remote(
        &mut self,
        key: &ApplicationKey,
        own: Option<ContextView>,
        history: SentHistory<'_>,
        now_ms: i64,
    ) {
        let is_replica = own.is_none() && self.remotes.is_shown_by_one(key);
        let Some(view) = self.joined_with(key, own) else {
            return self.writer.remove(key);
        };
        match history {
            SentHistory::Mirrored(history) if is_replica => {
                self.writer.publish_replicated(key, view, history);
            }
            SentHistory::Nothing | SentHistory::Mirrored(_) => {
                self.publish_with(key, view, TransitionCause::Observed, now_ms);
            }
            SentHistory::Shared { upstream, change } => {
                let found = self.found(key, &view, TransitionCause::Observed, now_ms);
                let remotes = &self.remotes;
                let of_application = remotes.recorder_of(&view);
                let is_recorder = |of: Option<&ResourceId>| {
                    let recorder = match of {
                        Some(resource) => remotes.recorder_in(&resource.cluster),
                        None => of_application,
                    };
                    recorder == Some(upstream)
                };
                self.writer
                    .publish_shared(key, view, found, change, is_recorder);
            }
        }
    }

    fn joined(&self, key: &ApplicationKey, own: ContextView) -> ContextView {
        self.joined_with(key, Some(own)).unwrap_or_default()
    }

    fn joined_with(&self, key: &ApplicationKey, own: Option<ContextView>) -> Option<ContextView> {
        let shown = self.read_model().application(key);
        self.remotes.joined(key, own, shown.as_deref())
    }

    /// Publishes since when the store of `AppContext`s is away; none while it answers.
    pub(crate) fn publish_store(&mut self, away: Option<StoreAway>) {
        self.writer.publish_store(away);
    }

    /// Publishes since when the store of lifecycle states is away; none while it answers.
    pub(crate) fn publish_state_store(&mut self, away: Option<StoreAway>) {
        self.writer.publish_state_store(away);
    }

    /// Publishes the view of an application, whose objects changed or for which time passed. `left` are the
    /// objects that left it, with app and cluster.
    pub(crate) fn publish(
        &mut self,
        key: &ApplicationKey,
        view: ContextView,
        left: &[(Arc<str>, ClusterName, Identity)],
        now_ms: i64,
    ) {
        let view = self.joined(key, view);
        let mut found = self.found(key, &view, TransitionCause::Observed, now_ms);
        if !left.is_empty() {
            mark_left(&mut found, left);
        }
        self.writer.publish(key, view, found);
    }

    /// Publishes the view of an application, as far as it changed.
    pub(crate) fn publish_change(
        &mut self,
        change: ViewChange,
        key: &ApplicationKey,
        view: impl FnOnce() -> ContextView,
        cause: TransitionCause,
        now_ms: i64,
    ) {
        match change {
            ViewChange::Nothing => {}
            ViewChange::Since => self.writer.refresh(key, self.joined(key, view())),
            ViewChange::Verdicts => {
                let view = self.joined(key, view());
                self.publish_with(key, view, cause, now_ms);
            }
        }
    }

    fn publish_with(
        &mut self,
        key: &ApplicationKey,
        view: ContextView,
        cause: TransitionCause,
        now_ms: i64,
    ) {
        let found = self.found(key, &view, cause, now_ms);
        self.writer.publish(key, view, found);
    }

    /// The transitions from the known state of an application to its next view.
    fn found(
        &self,
        key: &ApplicationKey,
        view: &ContextView,
        cause: TransitionCause,
        now_ms: i64,
    ) -> Vec<Transition> {
        let shown = self.read_model().application(key);
        let kept = self.history_of_before(key, shown.as_deref());
        let before = match (&kept, &shown) {
            (Some(kept), _) => Before::History(kept),
            (None, Some(shown)) => Before::View(shown),
            (None, None) => Before::Nothing,
        };
        let mut found = transitions(before, view, cause, now_ms);
        // Another host records and sends the others.
        found.retain(|transition| match &transition.resource {
            Some(resource) => self.remotes.recorder_in(&resource.cluster).is_none(),
            None => self.remotes.recorder_of(view).is_none(),
        });
        found
    }

    /// The history of before the start, where that is what the next view is compared with: there is no view yet,
    /// or a part of it is still to be reported.
    fn history_of_before(
        &self,
        key: &ApplicationKey,
        shown: Option<&ContextView>,
    ) -> Option<ApplicationHistory> {
        let is_silent = |view: &ContextView| {
            let mut apps = view.apps.iter();
            apps.any(|app| app.awaits_report())
        };
        if shown.is_some_and(|view| !is_silent(view)) {
            return None;
        }
        let (_, history) = self.read_model().application_history(key);
        history.filter(|kept| shown.is_none_or(|shown| awaits_reports(kept, shown)))
    }

    /// Publishes what was last known before the start, which is no transition.
    pub(crate) fn remember(&mut self, key: &ApplicationKey, view: ContextView) {
        self.writer.publish(key, self.joined(key, view), Vec::new());
    }

    /// Takes over the history of before the start.
    pub(crate) fn restore_history(&mut self, key: &ApplicationKey, history: ApplicationHistory) {
        self.writer.restore_history(key, history);
    }

    /// Forgets the histories of all other applications.
    pub(crate) fn retain_histories(&mut self, is_kept: impl Fn(&ApplicationKey) -> bool) {
        self.writer.retain_histories(is_kept);
    }

    /// Removes an application and its history, unless another host shows it.
    pub(crate) fn remove(&mut self, key: &ApplicationKey, now_ms: i64) {
        self.publish_remote(key, None, SentHistory::Nothing, now_ms);
    }

    /// Removes the transitions of an application in a cluster that is no longer configured.
    pub(crate) fn forget_history(&mut self, key: &ApplicationKey, cluster: &ClusterName) {
        self.writer.forget_history(key, cluster);
    }
}
