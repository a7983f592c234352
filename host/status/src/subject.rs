//! Subjects of queries.

use std::sync::Arc;

use kindsight_api::status::QueryType;
use kindsight_model::{ClusterName, ContextId, DigName, Phase, RecordSubject, SubjectSet};

use crate::history::ApplicationKey;
use crate::record::RecordView;
use crate::resource_view::ResourceView;
use crate::snapshot::ChangedSubject;
use crate::store::StoreAway;
use crate::view::{ClusterView, ContextView};

/// The input of one answer. Immutable, so the answer is consistent.
#[derive(Debug)]
pub struct Subject {
    /// The name. A found application has a name in the form of a group.
    pub(crate) name: RecordSubject,
    pub(crate) record: Arc<RecordView>,
    /// The requested context; `None` if the subject was never instantiated.
    pub(crate) instance: Option<ContextId>,
    /// The view of this context; `None` if the subject was never instantiated or the context is no longer
    /// stored.
    pub(crate) context: Option<Arc<ContextView>>,
    /// The outage of the store that the context was read from; `None` while it can be reached.
    pub(crate) store: Option<Arc<StoreAway>>,
    /// The outage of the store of lifecycle states that the record is derived from; `None` while it can be
    /// reached.
    pub(crate) state_store: Option<Arc<StoreAway>>,
    /// True for a found application.
    pub(crate) is_found: bool,
    /// The subjects that the reader of the answer may see: the answer names no others.
    pub(crate) visible: SubjectSet,
}

impl Subject {
    /// The subject of a query about a found application.
    pub(crate) fn found(name: &DigName, view: Arc<ContextView>, visible: SubjectSet) -> Self {
        Self {
            name: RecordSubject::Group(name.clone()),
            record: Arc::default(),
            instance: None,
            context: Some(view),
            store: None,
            state_store: None,
            is_found: true,
            visible,
        }
    }

    /// The name of the group or the application; `None` for a cluster and for a logical cloud.
    pub(crate) fn dig(&self) -> Option<&DigName> {
        match &self.name {
            RecordSubject::Group(name) => Some(name),
            RecordSubject::Cluster(_) | RecordSubject::LogicalCloud(_) => None,
        }
    }

    /// Returns whether `other` is the same instance, so that a change can lead from one to the other.
    pub fn is_same_instance(&self, other: &Self) -> bool {
        self.name == other.name && self.instance == other.instance
    }

    /// Returns whether a change of the read model may change answers about this subject.
    pub fn is_concerned_by(&self, changed: &ChangedSubject) -> bool {
        match changed {
            ChangedSubject::Application(ApplicationKey::Context(id)) => {
                self.instance.as_ref() == Some(id)
            }
            ChangedSubject::Application(ApplicationKey::Found(name)) => self.dig() == Some(name),
            ChangedSubject::Record(subject) => self.name == *subject,
            ChangedSubject::Connection(_) => false,
            ChangedSubject::Store => !self.is_found,
            ChangedSubject::StateStore => !self.is_found && !self.record.is_own,
        }
    }

    /// The view of the instance; `None` if the subject was never instantiated or the context is no longer stored.
    pub fn view(&self) -> Option<&Arc<ContextView>> {
        self.context.as_ref()
    }

    /// The phase of all resources together, as in an answer without filters. `None` without a view.
    pub fn phase(&self) -> Option<Phase> {
        Some(self.context.as_deref()?.rollup().phase)
    }

    /// Returns whether it is a found application, so that no resource was sent.
    pub fn is_found(&self) -> bool {
        self.is_found
    }

    /// The type of status for a query without a type.
    pub(crate) fn default_kind(&self) -> QueryType {
        if self.is_found() {
            QueryType::Cluster
        } else {
            QueryType::default()
        }
    }

    /// The composite profile of the deployment; `None` without one.
    pub fn profile(&self) -> Option<&str> {
        self.record.profile.as_deref()
    }

    /// All resources of its placements with their clusters, in the order of an answer. Does not build an answer, for
    /// callers that read objects.
    pub fn resources(&self) -> impl Iterator<Item = (&ClusterName, &ResourceView)> {
        let clusters = self.context.iter().flat_map(|context| context.clusters());
        clusters.flat_map(|view| {
            let resources = view.resources().iter();
            resources.map(|resource| (view.cluster(), resource))
        })
    }

    /// The clusters of its placements, with repetitions.
    pub fn clusters(&self) -> impl Iterator<Item = &ClusterName> {
        let contexts = self.context.iter();
        contexts.flat_map(|context| context.clusters().map(ClusterView::cluster))
    }

    /// Number of placements (apps in clusters) that an answer may contain. The caller uses it to decide
    /// whether to build the answer on another thread.
    pub fn placements(&self) -> usize {
        let apps = self.context.iter().flat_map(|context| &context.apps);
        apps.map(|app| app.clusters().len()).sum()
    }
}
