//! Subjects of queries.

use std::sync::{Arc, Weak};

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

    /// The version of the data in answers about the subject.
    pub fn version(&self) -> SubjectVersion {
        SubjectVersion {
            record: Arc::clone(&self.record),
            context: self.context.as_ref().map(Arc::downgrade),
            store: self.store.clone(),
            state_store: self.state_store.clone(),
            is_found: self.is_found,
            visible: self.visible.clone(),
        }
    }

    /// Number of placements (apps in clusters) that an answer may contain. The caller uses it to decide
    /// whether to build the answer on another thread.
    pub fn placements(&self) -> usize {
        let apps = self.context.iter().flat_map(|context| &context.apps);
        apps.map(|app| app.clusters().len()).sum()
    }
}

/// A version of the data in answers about one subject. While a subject has this version, an equal query about it has an
/// equal answer.
///
/// It does not keep the view in memory, only its address.
#[derive(Debug)]
pub struct SubjectVersion {
    record: Arc<RecordView>,
    context: Option<Weak<ContextView>>,
    store: Option<Arc<StoreAway>>,
    state_store: Option<Arc<StoreAway>>,
    is_found: bool,
    visible: SubjectSet,
}

impl SubjectVersion {
    /// Returns whether `subject`, which a query of the same text looked up, has this version.
    pub fn is_of(&self, subject: &Subject) -> bool {
        let has_context = match (&self.context, &subject.context) {
            // A view is never changed, and the address of a view that is gone is not used again while this `Weak` exists.
            (Some(known), Some(view)) => std::ptr::eq(known.as_ptr(), Arc::as_ptr(view)),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        has_context
            && self.is_found == subject.is_found
            && self.store == subject.store
            && self.state_store == subject.state_store
            && self.record == subject.record
            && self.visible == subject.visible
    }
}

#[cfg(test)]
mod tests {
    use kindsight_model::SubjectPattern;

    use super::*;
    use crate::samples::{FIRST, SECOND, context, id, record, vfw, vfw_snapshot};
    use crate::{Snapshot, StatusQuery};

    fn subject(model: &Snapshot, visible: &SubjectSet) -> Subject {
        let visible = model.visible_to(visible);
        visible.dig(&vfw(), &StatusQuery::default()).unwrap()
    }

    fn is_of(version: &SubjectVersion, model: &Snapshot) -> bool {
        version.is_of(&subject(model, &SubjectSet::Everything))
    }

    #[test]
    fn a_version_holds_until_a_view_a_record_or_a_store_changes() {
        let mut model = vfw_snapshot(Vec::new());
        let version = subject(&model, &SubjectSet::Everything).version();
        assert!(is_of(&version, &model));
        let other = context(FIRST, "Instantiated", Vec::new());
        model.set_context(&id(FIRST), Some(other));
        assert!(is_of(&version, &model), "another context");

        let away = StoreAway {
            since_ms: 0,
            reason: "connection refused".into(),
        };
        model.set_store(Some(away.clone()));
        assert!(!is_of(&version, &model));
        model.set_store(None);
        model.set_state_store(Some(away));
        assert!(!is_of(&version, &model));
        model.set_state_store(None);
        assert!(is_of(&version, &model));

        let same = context(SECOND, "Instantiated", Vec::new());
        model.set_context(&id(SECOND), Some(same));
        assert!(!is_of(&version, &model), "a view may be replaced");
        let version = subject(&model, &SubjectSet::Everything).version();
        model.set_group(&vfw(), Some(record(None, &[("Applied", SECOND, "")])));
        assert!(!is_of(&version, &model));
        model.set_context(&id(SECOND), None);
        assert!(!is_of(&version, &model));
    }

    #[test]
    fn a_version_is_of_readers_with_the_same_rights() {
        let model = vfw_snapshot(Vec::new());
        let version = subject(&model, &SubjectSet::Everything).version();
        let pattern = "testvfw/*/*/*".parse().unwrap();
        let of_project = SubjectSet::matching(vec![SubjectPattern::Application(pattern)]);
        let seen = subject(&model, &of_project);
        assert!(!version.is_of(&seen));
        assert!(seen.version().is_of(&seen));
    }
}
