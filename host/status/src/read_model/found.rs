//! Applications that were found in the clusters, and the connections to clusters.

use std::sync::Arc;

use kindsight_api::problem::PartialProblem;
use kindsight_model::{ClusterName, DigName};

use super::subject::NEAR_MAX;
use super::{ChangedSubject, ReadModel, Snapshot, Subject};
use crate::connection::ConnectionView;
use crate::problem::{QueryError, known, not_found, unknown};
use crate::query::{Instance, StatusQuery};
use crate::view::ContextView;

impl Snapshot {
    /// Applications that were found in the clusters, in order of their names.
    pub fn found(&self) -> impl Iterator<Item = (&DigName, &Arc<ContextView>)> {
        self.found.iter()
    }

    /// The view of one application that was found.
    pub fn found_application(&self, name: &DigName) -> Option<&Arc<ContextView>> {
        self.found.get(name)
    }

    /// Connections to the clusters that are configured, in order of their names.
    pub fn connections(&self) -> impl Iterator<Item = (&ClusterName, &Arc<ConnectionView>)> {
        self.connections.iter()
    }

    /// Found applications of the same name, or the first ones where there are none.
    fn found_near(&self, name: &DigName) -> Vec<DigName> {
        let same = self.found.keys();
        let same = same.filter(|it| it.composite_app == name.composite_app);
        let same: Vec<DigName> = same.take(NEAR_MAX).cloned().collect();
        if same.is_empty() {
            return self.found.keys().take(NEAR_MAX).cloned().collect();
        }
        same
    }
}

impl ReadModel {
    /// Publishes the view of an application that was found, or removes it if `view` is none.
    pub fn publish_found(&self, name: &DigName, view: Option<ContextView>) {
        let view = view.map(Arc::new);
        let subject = ChangedSubject::Found(name.clone());
        let before = self.change(subject, |snapshot| match view {
            Some(view) => snapshot.found.insert(name.clone(), view),
            None => snapshot.found.remove(name),
        });
        // Dropped after the lock is released: the old view may be large.
        drop(before);
    }

    /// As [`ReadModel::refresh_context`], for an application that was found.
    pub fn refresh_found(&self, name: &DigName, view: ContextView) {
        let view = Arc::new(view);
        let before = {
            let mut snapshot = self.write();
            let shown = snapshot.found.get_mut(name);
            shown.map(|shown| std::mem::replace(shown, view))
        };
        drop(before);
    }

    /// Publishes the connection to a cluster, or removes it if `connection` is none. Where only counts and the
    /// time of its last event changed, nobody is told: the generation stays.
    pub fn publish_connection(&self, name: &ClusterName, connection: Option<ConnectionView>) {
        let known = self.inspect(|it| it.connections.get(name).cloned());
        match (&known, connection) {
            (None, None) => {}
            (Some(known), Some(new)) if known.says_the_same(&new) => {
                let mut snapshot = self.write();
                snapshot.connections.insert(name.clone(), Arc::new(new));
            }
            (_, connection) => {
                let subject = ChangedSubject::Connection(name.clone());
                self.change(subject, |snapshot| match connection.map(Arc::new) {
                    Some(new) => snapshot.connections.insert(name.clone(), new),
                    None => snapshot.connections.remove(name),
                });
            }
        }
    }

    pub(super) fn found_subject(
        &self,
        name: &DigName,
        query: &StatusQuery,
    ) -> Result<Subject, QueryError> {
        let found = self.inspect(|snapshot| {
            let view = snapshot.found.get(name).cloned();
            view.ok_or_else(|| snapshot.found_near(name))
        });
        let view = found
            .map_err(|near| not_found(unknown("deployment-intent-group", name, known(near))))?;
        if query.instance != Instance::Latest {
            let detail = format!("`{name}` was found in the clusters and has no instances");
            let problem = PartialProblem::new("instance", detail, "no `instance`");
            return Err(QueryError::Invalid(vec![problem]));
        }
        Ok(Subject::found(name, view))
    }
}

#[cfg(test)]
mod tests;
