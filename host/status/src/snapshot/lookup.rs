//! Lookups of the subjects of queries.

use std::collections::HashMap;
use std::sync::Arc;

use kindsight_model::{ClusterName, DigName, LogicalCloudName, RecordSubject, SubjectSet};

use super::Snapshot;
use super::missing::{Missing, Reason};
use crate::connection::ConnectionView;
use crate::history::ApplicationKey;
use crate::problem::{KNOWN_COUNTED_MAX, KNOWN_SHOWN_MAX};
use crate::query::{Instance, StatusQuery};
use crate::record::RecordView;
use crate::subject::Subject;
use crate::view::ContextView;

/// Maximum number of similar names that a lookup copies for its message: the listed names, the counted names,
/// and one more to know that there are others.
const NEAR_MAX: usize = KNOWN_SHOWN_MAX + KNOWN_COUNTED_MAX + 1;

/// The part of a snapshot that a reader may see. A subject that the reader may not see does not exist for any lookup,
/// and no error names it.
#[derive(Debug, Clone, Copy)]
pub struct VisibleSnapshot<'s> {
    pub(crate) snapshot: &'s Snapshot,
    pub(crate) visible: &'s SubjectSet,
}

impl Snapshot {
    /// The part of the snapshot that a reader may see.
    pub fn visible_to<'s>(&'s self, visible: &'s SubjectSet) -> VisibleSnapshot<'s> {
        VisibleSnapshot {
            snapshot: self,
            visible,
        }
    }

    /// Returns whether a subject is recorded.
    pub fn is_recorded(&self, subject: &RecordSubject) -> bool {
        self.records.contains_key(subject)
    }
}

impl VisibleSnapshot<'_> {
    /// Looks up a deployment intent group or a found application. If a group and a configured application
    /// have the same name, the group takes precedence.
    ///
    /// # Errors
    /// [`Missing`] if the group or the requested instance does not exist, and if the query requests an
    /// instance of a found application.
    pub fn dig(&self, name: &DigName, query: &StatusQuery) -> Result<Subject, Missing> {
        let subject = RecordSubject::Group(name.clone());
        let Snapshot { found, records, .. } = self.snapshot;
        let is_recorded = || records.contains_key(&subject);
        let is_visible = || found.contains_key(name) && self.visible.has_application(name);
        // A configured application may have the same form of name as a group.
        if name.is_found() || (is_visible() && !is_recorded()) {
            return self.found_subject(name, query);
        }
        self.recorded(subject, query)
    }

    /// Looks up the own resources of a cluster.
    ///
    /// # Errors
    /// [`Missing`] if the cluster or the requested instance does not exist.
    pub fn cluster(&self, name: &ClusterName, query: &StatusQuery) -> Result<Subject, Missing> {
        self.recorded(RecordSubject::Cluster(name.clone()), query)
    }

    /// Looks up a logical cloud.
    ///
    /// # Errors
    /// [`Missing`] if the logical cloud or the requested instance does not exist.
    pub fn logical_cloud(
        &self,
        name: &LogicalCloudName,
        query: &StatusQuery,
    ) -> Result<Subject, Missing> {
        self.recorded(RecordSubject::LogicalCloud(name.clone()), query)
    }

    /// The names of all recorded groups, in order.
    pub(crate) fn digs(&self) -> impl Iterator<Item = &DigName> {
        // Groups are the first subjects in order.
        let groups = self
            .snapshot
            .records
            .keys()
            .map_while(|subject| match subject {
                RecordSubject::Group(name) => Some(name),
                RecordSubject::Cluster(_) | RecordSubject::LogicalCloud(_) => None,
            });
        groups.filter(|name| self.visible.has_application(name))
    }

    /// The names of all visible applications, by their keys. Also contains the names of visible clusters and logical
    /// clouds, by the keys of their instances.
    pub fn application_names(&self) -> HashMap<ApplicationKey, String> {
        let records = self.snapshot.records.iter();
        let records = records.filter(|(subject, _)| self.visible.contains(subject));
        let recorded = records.flat_map(|(subject, record)| {
            let instances = record.instances().into_iter().cloned();
            instances.map(|context| (ApplicationKey::Context(context), subject.name().to_string()))
        });
        let found = self.found();
        let found = found.map(|(name, _)| (ApplicationKey::Found(name.clone()), name.to_string()));
        recorded.chain(found).collect()
    }

    /// The found applications, in order of their names.
    pub(crate) fn found(&self) -> impl Iterator<Item = (&DigName, &Arc<ContextView>)> {
        let found = self.snapshot.found.iter();
        found.filter(|(name, _)| self.visible.has_application(name))
    }

    /// Connections to the clusters, in order of their names.
    pub(crate) fn connections(&self) -> impl Iterator<Item = (&ClusterName, &Arc<ConnectionView>)> {
        let connections = self.snapshot.connections();
        connections.filter(|(name, _)| self.visible.has_cluster(name))
    }

    fn recorded(&self, subject: RecordSubject, query: &StatusQuery) -> Result<Subject, Missing> {
        let record = self.snapshot.records.get(&subject);
        match record.filter(|_| self.visible.contains(&subject)) {
            Some(record) => self.instance(subject, record, query),
            None => Err(Missing(Reason::Subject {
                near: self.near(&subject),
                unread: self.unread(),
                subject,
            })),
        }
    }

    /// The instance that a query about a recorded subject names.
    fn instance(
        &self,
        name: RecordSubject,
        record: &Arc<RecordView>,
        query: &StatusQuery,
    ) -> Result<Subject, Missing> {
        let record = Arc::clone(record);
        let instance = match &query.instance {
            Instance::Latest | Instance::List => record.latest_instance(),
            Instance::Of(id) if record.has_instance(id) => Some(id),
            Instance::Of(id) => {
                let id = id.clone();
                return Err(Missing(Reason::Instance { id, record }));
            }
        };
        let instance = instance.cloned();
        Ok(Subject {
            name,
            context: instance
                .as_ref()
                .and_then(|id| self.snapshot.context(id))
                .cloned(),
            instance,
            store: self.snapshot.store.clone(),
            state_store: self.snapshot.state_store.clone().filter(|_| !record.is_own),
            record,
            is_found: false,
            visible: self.visible.clone(),
        })
    }

    fn found_subject(&self, name: &DigName, query: &StatusQuery) -> Result<Subject, Missing> {
        let view = self.snapshot.found.get(name);
        let Some(view) = view.filter(|_| self.visible.has_application(name)) else {
            return Err(Missing(Reason::Subject {
                subject: RecordSubject::Group(name.clone()),
                near: self.found_near(name),
                unread: None,
            }));
        };
        if query.instance != Instance::Latest {
            return Err(Missing(Reason::InstanceOfFound(name.clone())));
        }
        Ok(Subject::found(name, Arc::clone(view), self.visible.clone()))
    }

    /// The first subjects of the same project or provider.
    fn near(&self, subject: &RecordSubject) -> Vec<RecordSubject> {
        let near = self.snapshot.records.range(first_sibling(subject)..);
        let near = near.map(|(other, _)| other);
        let near = near.take_while(|other| parent(other) == parent(subject));
        let near = near.filter(|other| self.visible.contains(other));
        near.take(NEAR_MAX).cloned().collect()
    }

    /// Found applications with the same name; if there are none, the first found applications.
    fn found_near(&self, name: &DigName) -> Vec<RecordSubject> {
        let found = || self.found().map(|(name, _)| name);
        let same = found().filter(|other| other.composite_app == name.composite_app);
        let mut near: Vec<&DigName> = same.take(NEAR_MAX).collect();
        if near.is_empty() {
            near.extend(found().take(NEAR_MAX));
        }
        near.into_iter()
            .cloned()
            .map(RecordSubject::Group)
            .collect()
    }

    /// The data that a store holds while it cannot be reached.
    fn unread(&self) -> Option<&'static str> {
        match (self.snapshot.store_away(), self.snapshot.state_store_away()) {
            (Some(_), _) => Some("AppContexts"),
            (None, Some(_)) => Some("lifecycle states"),
            (None, None) => None,
        }
    }
}

/// The kind of a subject, and its project or provider.
fn parent(subject: &RecordSubject) -> (u8, &str) {
    match subject {
        RecordSubject::Group(name) => (0, &name.project),
        RecordSubject::Cluster(name) => (1, &name.provider),
        RecordSubject::LogicalCloud(name) => (2, &name.project),
    }
}

/// The lower bound of all subjects of the same project or provider.
fn first_sibling(subject: &RecordSubject) -> RecordSubject {
    match subject {
        RecordSubject::Group(name) => RecordSubject::Group(DigName {
            composite_app: "".into(),
            version: "".into(),
            dig: "".into(),
            ..name.clone()
        }),
        RecordSubject::Cluster(name) => RecordSubject::Cluster(ClusterName {
            name: "".into(),
            ..name.clone()
        }),
        RecordSubject::LogicalCloud(name) => RecordSubject::LogicalCloud(LogicalCloudName {
            name: "".into(),
            ..name.clone()
        }),
    }
}
