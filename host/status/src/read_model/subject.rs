//! Subjects of queries: the state that each is answered from.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::Arc;

use kindsight_api::status::QueryType;
use kindsight_model::{ClusterName, ContextId, DigName, LogicalCloudName};

use super::{ChangedSubject, Snapshot};
use crate::problem::{KNOWN_COUNTED_MAX, KNOWN_SHOWN_MAX, QueryError, known, not_found, unknown};
use crate::query::{Instance, StatusQuery};
use crate::record::RecordView;
use crate::store::StoreAway;
use crate::view::ContextView;

/// Number of names that are taken out of the lock for a message: those it lists, those it counts, and one
/// more to know that there are others.
pub(super) const NEAR_MAX: usize = KNOWN_SHOWN_MAX + KNOWN_COUNTED_MAX + 1;

/// An instance that the record of what is asked for does not name.
pub(super) struct UnknownInstance {
    id: ContextId,
    record: Arc<RecordView>,
}

impl UnknownInstance {
    pub(super) fn error(self) -> QueryError {
        let instances: BTreeSet<_> = self.record.instances().into_iter().collect();
        not_found(unknown("instance", &self.id, known(instances)))
    }
}

/// A subject that nobody knows, as far as is known while a store is away.
pub(super) struct UnknownSubject<N> {
    near: Vec<N>,
    /// The contents of the store that is away.
    unread: Option<&'static str>,
}

impl<N: Display> UnknownSubject<N> {
    pub(super) fn error(self, part: &str, name: &N) -> QueryError {
        let mut problem = unknown(part, name, known(self.near));
        if let Some(unread) = self.unread {
            problem.detail += " in what was last read: the store of ";
            problem.detail += unread;
            problem.detail += " is away";
        }
        not_found(problem)
    }
}

impl Snapshot {
    /// The subject that is not there, whose name is like those of `near`.
    pub(super) fn unknown<N>(&self, near: Vec<N>) -> UnknownSubject<N> {
        let unread = match (self.store_away(), self.state_store_away()) {
            (Some(_), _) => Some("AppContexts"),
            (None, Some(_)) => Some("lifecycle states"),
            (None, None) => None,
        };
        UnknownSubject { near, unread }
    }

    /// The latest instance of a recorded application, or an application that was found.
    pub(crate) fn application(&self, name: &DigName) -> Option<Subject> {
        let Some(record) = self.digs.get(name) else {
            let view = self.found.get(name)?;
            return Some(Subject::found(name, Arc::clone(view)));
        };
        let name = Name::Dig(name.clone());
        self.subject(name, record, &StatusQuery::default()).ok()
    }

    /// Returns whether it is the name of a recorded group.
    pub fn is_recorded(&self, name: &DigName) -> bool {
        self.digs.contains_key(name)
    }

    /// The names of all recorded groups, in order.
    pub(crate) fn digs(&self) -> impl Iterator<Item = &DigName> {
        self.dig_names.iter()
    }

    /// The first groups of the same project.
    pub(super) fn digs_near(&self, name: &DigName) -> Vec<DigName> {
        let first = DigName {
            composite_app: "".into(),
            version: "".into(),
            dig: "".into(),
            ..name.clone()
        };
        let near = self.dig_names.range(first..);
        let near = near.take_while(|it| it.project == name.project);
        near.take(NEAR_MAX).cloned().collect()
    }

    /// The first clusters of the same provider.
    pub(super) fn clusters_near(&self, name: &ClusterName) -> Vec<ClusterName> {
        let first = ClusterName {
            name: "".into(),
            ..name.clone()
        };
        let near = self.cluster_names.range(first..);
        let near = near.take_while(|it| it.provider == name.provider);
        near.take(NEAR_MAX).cloned().collect()
    }

    /// The subject of a query about a group, a cluster or a logical cloud with this record.
    pub(super) fn subject(
        &self,
        name: Name,
        record: &Arc<RecordView>,
        query: &StatusQuery,
    ) -> Result<Subject, UnknownInstance> {
        let instance = match &query.instance {
            Instance::Latest | Instance::List => record.latest_instance(),
            Instance::Of(id) if record.has_instance(id) => Some(id),
            Instance::Of(id) => {
                return Err(UnknownInstance {
                    id: id.clone(),
                    record: Arc::clone(record),
                });
            }
        };
        Ok(Subject {
            name,
            record: Arc::clone(record),
            instance: instance.cloned(),
            context: instance.and_then(|id| self.contexts.get(id)).cloned(),
            store: self.store.clone(),
            state_store: self.state_store.clone().filter(|_| !record.is_own),
            is_found: false,
        })
    }
}

/// The state that one query is answered from. Immutable, so the answer is consistent.
#[derive(Debug)]
pub struct Subject {
    pub(crate) name: Name,
    pub(crate) record: Arc<RecordView>,
    /// The context that is asked for; none if it was never instantiated.
    pub(crate) instance: Option<ContextId>,
    /// The view of that context; none if it was never instantiated or is no longer stored.
    pub(crate) context: Option<Arc<ContextView>>,
    /// The store that the context was read from, while it is away.
    pub(crate) store: Option<Arc<StoreAway>>,
    /// The store of lifecycle states that the record comes from, while it is away.
    pub(crate) state_store: Option<Arc<StoreAway>>,
    /// True for an application that nobody recorded: nothing of it was sent.
    is_found: bool,
}

impl Subject {
    /// The subject of a query about an application that was found.
    pub(super) fn found(name: &DigName, view: Arc<ContextView>) -> Self {
        Self {
            name: Name::Dig(name.clone()),
            record: Arc::default(),
            instance: None,
            context: Some(view),
            store: None,
            state_store: None,
            is_found: true,
        }
    }

    /// The group or the application that it is; none for the resources of a cluster or of a logical cloud.
    pub(crate) fn dig(&self) -> Option<&DigName> {
        match &self.name {
            Name::Dig(name) => Some(name),
            Name::Cluster(_) | Name::LogicalCloud(_) => None,
        }
    }

    /// Returns whether `other` is the same instance: one follows from the other by changes.
    pub fn is_same_instance(&self, other: &Self) -> bool {
        self.name == other.name && self.instance == other.instance
    }

    /// Returns whether a change of the read model may change what is answered from it.
    pub fn is_concerned_by(&self, changed: &ChangedSubject) -> bool {
        match changed {
            ChangedSubject::Context(id) => self.instance.as_ref() == Some(id),
            ChangedSubject::Dig(name) | ChangedSubject::Found(name) => self.dig() == Some(name),
            ChangedSubject::Cluster(name) => matches!(&self.name, Name::Cluster(it) if it == name),
            ChangedSubject::LogicalCloud(name) => {
                matches!(&self.name, Name::LogicalCloud(it) if it == name)
            }
            ChangedSubject::Connection(_) => false,
            ChangedSubject::Store => !self.is_found,
            ChangedSubject::StateStore => !self.is_found && !self.record.is_own,
        }
    }

    /// Returns whether it is an application that nobody recorded, of which nothing was sent.
    pub(crate) fn is_found(&self) -> bool {
        self.is_found
    }

    /// The status that a query without a type is about.
    pub(crate) fn default_kind(&self) -> QueryType {
        if self.is_found() {
            QueryType::Cluster
        } else {
            QueryType::default()
        }
    }

    /// Number of placements (apps in clusters) that an answer may tell of. Tells beforehand whether an
    /// answer is worth a thread of its own.
    pub fn placements(&self) -> usize {
        let apps = self.context.iter().flat_map(|context| &context.apps);
        apps.map(|app| app.clusters.len()).sum()
    }
}

/// The name that is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Name {
    Dig(DigName),
    Cluster(ClusterName),
    LogicalCloud(LogicalCloudName),
}
