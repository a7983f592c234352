//! Histories of applications, beside their views.

use std::sync::{Arc, PoisonError};

use kindsight_model::ClusterName;

use super::ReadModel;
use crate::history::{ApplicationHistory, ApplicationKey, Bounded, Histories};
use crate::transition::Transition;
use crate::view::ContextView;

impl ReadModel {
    /// The view of an application.
    pub fn application(&self, key: &ApplicationKey) -> Option<Arc<ContextView>> {
        self.inspect(|snapshot| match key {
            ApplicationKey::Context(id) => snapshot.context(id).cloned(),
            ApplicationKey::Found(name) => snapshot.found_application(name).cloned(),
        })
    }

    /// Publishes the view of an application, or removes it with its history if `view` is none.
    pub fn publish(&self, key: &ApplicationKey, view: Option<ContextView>) {
        if view.is_some() {
            return self.publish_view(key, view);
        }
        self.change_histories(|histories| {
            histories.forget(key);
            self.publish_view(key, None);
        });
    }

    /// Publishes the view of an application with the transitions that led to it, in one step for
    /// [`ReadModel::application_history`].
    pub fn publish_with(
        &self,
        key: &ApplicationKey,
        view: ContextView,
        transitions: Vec<Transition>,
    ) {
        if transitions.is_empty() {
            return self.publish_view(key, Some(view));
        }
        self.change_histories(|histories| {
            histories.record(key, transitions);
            self.publish_view(key, Some(view));
        });
    }

    fn publish_view(&self, key: &ApplicationKey, view: Option<ContextView>) {
        match key {
            ApplicationKey::Context(id) => self.publish_context(id, view),
            ApplicationKey::Found(name) => self.publish_found(name, view),
        }
    }

    /// The view of an application with the history that led to it.
    pub fn application_history(
        &self,
        key: &ApplicationKey,
    ) -> (Option<Arc<ContextView>>, Option<ApplicationHistory>) {
        self.histories(|histories| {
            let history = histories.of(key).map(Bounded::snapshot);
            (self.application(key), history)
        })
    }

    /// Adds the history of before the start, to that of an application that has none yet.
    pub fn restore_history(&self, key: &ApplicationKey, history: ApplicationHistory) {
        self.change_histories(|histories| histories.restore(key, history));
    }

    /// Forgets the histories of all other applications.
    pub fn retain_histories(&self, is_kept: impl Fn(&ApplicationKey) -> bool) {
        self.change_histories(|histories| histories.retain(is_kept));
    }

    /// Replaces the view by one that says the same and dates it better, see [`ReadModel::refresh_context`].
    pub fn refresh(&self, key: &ApplicationKey, view: ContextView) {
        match key {
            ApplicationKey::Context(id) => self.refresh_context(id, view),
            ApplicationKey::Found(name) => self.refresh_found(name, view),
        }
    }

    /// Forgets the transitions of an application's resources in a cluster.
    pub fn forget_history(&self, key: &ApplicationKey, cluster: &ClusterName) {
        self.change_histories(|histories| histories.forget_cluster(key, cluster));
    }

    pub(crate) fn histories<R>(&self, read: impl FnOnce(&Histories) -> R) -> R {
        // Each change of a history is whole or was not begun, whatever panicked.
        read(
            &self
                .histories
                .read()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    fn change_histories<R>(&self, change: impl FnOnce(&mut Histories) -> R) -> R {
        let histories = self.histories.write();
        change(&mut histories.unwrap_or_else(PoisonError::into_inner))
    }
}
