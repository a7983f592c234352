//! Groups, clusters and logical clouds that nobody recorded here, derived from the `AppContext`s of another
//! orchestrator.

use std::collections::{BTreeMap, BTreeSet};

use kindsight_appcontext::{ContextMeta, ContextSnapshot, NETWORK_INTENTS};
use kindsight_model::{
    ContextId, ContextStatus, DigName, LifecycleState, LogicalCloudName, RecordSubject,
};
use kindsight_status::{ActionView, RecordView};
use kindsight_store::Revision;

use crate::multimap::MultiMap;

/// The app of a context that makes a logical cloud.
const LOGICAL_CLOUD: &str = "logical-cloud";

/// The word of a context that is written and that nobody began to send.
const CREATED: &str = "Created";

/// Words of a context that an update replaces, or has replaced.
const REPLACED: [&str; 4] = ["Updating", "Updated", "UpdatedFailed", "UpdateFailed"];

/// A context as an instance of a group, of a logical cloud or of clusters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Instance {
    /// The group or the logical cloud that it instantiates, or the clusters that its network intents are for.
    subjects: BTreeSet<RecordSubject>,
    /// Contexts that were made for this one. They are not instances themselves.
    children: BTreeSet<ContextId>,
    /// The context that its statuses are kept in.
    status_context: ContextId,
    created: Revision,
    status: Option<ContextStatus>,
    status_changed: Option<Revision>,
    is_stopped: bool,
}

impl Instance {
    pub(crate) fn of(context: &ContextSnapshot) -> Self {
        let meta = context.meta.as_ref();
        Self {
            subjects: subjects(context),
            children: meta.into_iter().flat_map(ContextMeta::children).collect(),
            status_context: context.status_context.clone(),
            created: context.created,
            status: context.status.clone(),
            status_changed: context.status_changed,
            is_stopped: context.stop_flag,
        }
    }

    /// Returns whether its orchestrator began to send it. Before that some of it may be missing.
    fn is_begun(&self) -> bool {
        let status = self.status.as_ref();
        // A status that cannot be read was written.
        self.status_changed.is_some() && status.is_none_or(|action| action.as_str() != CREATED)
    }

    /// Returns whether another instance took its place, or is about to.
    fn is_replaced(&self) -> bool {
        let status = self.status.as_ref();
        status.is_some_and(|action| REPLACED.contains(&action.as_str()))
    }

    /// The state that it came to after it was sent; none where it is as it was sent.
    fn end(&self) -> Option<LifecycleState> {
        match self.status.as_ref()? {
            _ if self.is_replaced() => Some(LifecycleState::Updated),
            ContextStatus::TerminateFailed if self.is_stopped => {
                Some(LifecycleState::TerminateStopped)
            }
            ContextStatus::Terminating
            | ContextStatus::Terminated
            | ContextStatus::TerminateFailed => Some(LifecycleState::Terminated),
            ContextStatus::Instantiating | ContextStatus::InstantiateFailed if self.is_stopped => {
                Some(LifecycleState::InstantiateStopped)
            }
            _ => None,
        }
    }
}

/// The group or the logical cloud of a context, or the clusters that its network intents are for.
fn subjects(context: &ContextSnapshot) -> BTreeSet<RecordSubject> {
    let meta = context.meta.as_ref();
    if let Some(meta) = meta.filter(|meta| !meta.dig.is_empty()) {
        let name = DigName::new(&meta.project, &meta.composite_app, &meta.version, &meta.dig);
        let name = name.ok().filter(|name| !name.is_found());
        return name.map(RecordSubject::Group).into_iter().collect();
    }
    if let Some(meta) = meta.filter(|meta| !meta.logical_cloud.is_empty() && makes_cloud(context)) {
        let name = LogicalCloudName::new(&meta.project, &meta.logical_cloud);
        return name
            .ok()
            .map(RecordSubject::LogicalCloud)
            .into_iter()
            .collect();
    }
    let intents = context
        .apps
        .iter()
        .filter(|app| app.name == NETWORK_INTENTS);
    let clusters = intents.flat_map(|app| &app.clusters);
    clusters
        .map(|placed| RecordSubject::Cluster(placed.cluster.clone()))
        .collect()
}

/// Returns whether a context makes its logical cloud, rather than belonging to the cloud. A cloud of level 0 may
/// have no app.
fn makes_cloud(context: &ContextSnapshot) -> bool {
    let apps = &context.apps;
    apps.is_empty() || apps.iter().any(|app| app.name == LOGICAL_CLOUD)
}

impl Derived {
    /// The instance that a changed context replaces, among the contexts with the same status context: the one whose state
    /// was written last. `None` unless the context is `next` by an update, so its orchestrator has only now begun to send
    /// it, or by a rollback.
    pub(crate) fn previous(
        &self,
        id: &ContextId,
        next: &Instance,
        others: Vec<ContextId>,
    ) -> Option<ContextId> {
        let before = self.instances.get(id);
        let is_new = before.is_none_or(|before| !before.is_begun());
        let is_back = before.is_some_and(Instance::is_replaced);
        if next.is_replaced() || !(is_new || is_back) {
            return None;
        }
        let others = others.into_iter().filter(|other| other != id);
        let begun = others.filter_map(|other| {
            let instance = self.instances.get(&other)?;
            Some((instance.status_changed?, other))
        });
        begun.max().map(|(_, other)| other)
    }
}

/// The instances of every context.
#[derive(Default)]
pub(crate) struct Derived {
    instances: BTreeMap<ContextId, Instance>,
    by_subject: MultiMap<RecordSubject, ContextId>,
    /// The contexts that a context was made for.
    parents: MultiMap<ContextId, ContextId>,
}

impl Derived {
    /// Replaces the instance that a context is; none if it was deleted. Returns the subjects whose record may
    /// have changed.
    pub(crate) fn set(
        &mut self,
        id: &ContextId,
        instance: Option<Instance>,
    ) -> BTreeSet<RecordSubject> {
        if self.instances.get(id) == instance.as_ref() {
            return BTreeSet::new();
        }
        let mut changed = self.concerned(id);
        if let Some(before) = self.instances.remove(id) {
            for subject in &before.subjects {
                self.by_subject.remove(subject, id);
            }
            for child in &before.children {
                self.parents.remove(child, id);
            }
        }
        if let Some(after) = instance {
            for subject in &after.subjects {
                self.by_subject.insert(subject.clone(), id.clone());
            }
            for child in &after.children {
                self.parents.insert(child.clone(), id.clone());
            }
            self.instances.insert(id.clone(), after);
            changed.extend(self.concerned(id));
        }
        changed
    }

    /// The subjects of a context and of all that were made for it: whose child each of those is follows from it.
    fn concerned(&self, id: &ContextId) -> BTreeSet<RecordSubject> {
        let ids = self.below(id).into_iter().chain([id]);
        let instances = ids.filter_map(|id| self.instances.get(id));
        instances.flat_map(|it| &it.subjects).cloned().collect()
    }

    /// Returns whether a context was made for another one. Contexts that name each other in a circle were not.
    fn is_child(&self, id: &ContextId) -> bool {
        let parents = self.parents.get(id);
        let mut parents = parents.filter(|parent| *parent != id).peekable();
        if parents.peek().is_none() {
            return false;
        }
        let below = self.below(id);
        parents.any(|parent| !below.contains(parent))
    }

    /// The contexts that were made for a context, directly or through others.
    fn below<'d>(&'d self, id: &'d ContextId) -> BTreeSet<&'d ContextId> {
        let mut below = BTreeSet::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            let named = self.instances.get(id);
            for child in named.into_iter().flat_map(|it| &it.children) {
                if below.insert(child) {
                    open.push(child);
                }
            }
        }
        below
    }

    /// The revision at which a context was created; none of one that is not there.
    pub(crate) fn created(&self, id: &ContextId) -> Option<Revision> {
        self.instances.get(id).map(|it| it.created)
    }

    /// The record of a subject, derived from those contexts that `asked` selects. `None` without any context.
    pub(crate) fn record(
        &self,
        subject: &RecordSubject,
        asked: impl Fn(&ContextId, Revision) -> bool,
    ) -> Option<RecordView> {
        let ids = self.by_subject.get(subject);
        let instances = ids.filter_map(|id| Some((id, self.instances.get(id)?)));
        let mut instances: Vec<(&ContextId, &Instance)> = instances
            .filter(|(id, instance)| {
                instance.is_begun() && !self.is_child(id) && asked(id, instance.created)
            })
            .collect();
        instances.sort_by_key(|(id, instance)| (instance.created, *id));
        let sent = match subject {
            RecordSubject::Group(_) | RecordSubject::LogicalCloud(_) => {
                LifecycleState::Instantiated
            }
            RecordSubject::Cluster(_) => LifecycleState::Applied,
        };
        actions(&instances, sent)
    }
}

/// The actions that lead to the states of instances, which are in the order of their creation. The last action is
/// about the current instance. `None` without instances.
fn actions(instances: &[(&ContextId, &Instance)], sent: LifecycleState) -> Option<RecordView> {
    let by_change = |(_, instance): &&(&ContextId, &Instance)| {
        (!instance.is_replaced(), instance.status_changed)
    };
    // The last of several equal instances is the newest.
    let (current, instance) = instances.iter().max_by_key(by_change)?;
    let mut actions = Vec::new();
    let mut add = |state: LifecycleState, id: &ContextId| {
        actions.push(ActionView {
            state,
            instance: Some(id.clone()),
            // A context does not contain the time of an action.
            time: "".into(),
            revision: 0,
        });
    };
    let is_newest = instances.last().is_some_and(|(id, _)| id == current);
    for (id, instance) in instances
        .iter()
        .filter(|(id, _)| id != current || !is_newest)
    {
        add(sent, id);
        // A current instance that is not the newest was replaced before.
        let is_reinstated = id == current;
        let end = if is_reinstated {
            Some(LifecycleState::Updated)
        } else {
            instance.end()
        };
        if let Some(end) = end {
            add(end, id);
        }
    }
    add(sent, current);
    if let Some(end) = instance.end() {
        add(end, current);
    }
    Some(RecordView {
        status_context: Some(instance.status_context.clone()),
        actions,
        ..RecordView::default()
    })
}
