//! Histories of applications, beside their views.

use std::sync::{Arc, PoisonError};

use kindsight_model::ClusterName;

use super::ReadModel;
use crate::history::{ApplicationKey, Histories};
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
        let is_removed = view.is_none();
        match key {
            ApplicationKey::Context(id) => self.publish_context(id, view),
            ApplicationKey::Found(name) => self.publish_found(name, view),
        }
        if is_removed {
            self.change_histories(|histories| histories.forget(key));
        }
    }

    /// Replaces the view by one that says the same and dates it better, see [`ReadModel::refresh_context`].
    pub fn refresh(&self, key: &ApplicationKey, view: ContextView) {
        match key {
            ApplicationKey::Context(id) => self.refresh_context(id, view),
            ApplicationKey::Found(name) => self.refresh_found(name, view),
        }
    }

    /// Adds transitions to the history of an application, in their order.
    pub fn record(&self, key: &ApplicationKey, transitions: Vec<Transition>) {
        if !transitions.is_empty() {
            self.change_histories(|histories| histories.record(key, transitions));
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
