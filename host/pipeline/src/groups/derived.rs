//! Groups and clusters that nobody recorded here, derived from the `AppContext`s of another orchestrator.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kindsight_appcontext::ContextSnapshot;
use kindsight_model::{ClusterName, ContextId, ContextStatus, DigName, LifecycleState};
use kindsight_status::{ActionView, RecordView};
use kindsight_store::Revision;

/// The app of a context that holds the network intents of a cluster.
const NETWORK_INTENTS: &str = "network-intents";

/// The word of a context that is written and that nobody began to send.
const CREATED: &str = "Created";

/// Words of a context that an update replaces, or has replaced.
const REPLACED: [&str; 4] = ["Updating", "Updated", "UpdatedFailed", "UpdateFailed"];

/// A group or a cluster that has instances.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Subject {
    Group(DigName),
    Cluster(ClusterName),
}

/// A context as an instance of a group or of clusters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Instance {
    /// The group that it instantiates, or the clusters that its network intents are for.
    subjects: BTreeSet<Subject>,
    /// Contexts that were made for this one, which are nobody's instances.
    children: BTreeSet<ContextId>,
    created: Revision,
    status: Option<ContextStatus>,
    status_changed: Option<Revision>,
    is_stopped: bool,
}

impl Instance {
    pub(crate) fn of(context: &ContextSnapshot) -> Self {
        let meta = context.meta.as_ref();
        let children = meta.map_or(&[][..], |it| &it.child_context_ids);
        Self {
            subjects: subjects(context),
            children: children.iter().filter_map(|id| id.parse().ok()).collect(),
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
        self.status_changed.is_some() && status.is_none_or(|it| it.as_str() != CREATED)
    }

    /// Returns whether another instance took its place, or is about to.
    fn is_replaced(&self) -> bool {
        let status = self.status.as_ref();
        status.is_some_and(|it| REPLACED.contains(&it.as_str()))
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

/// The group of a context, or the clusters that its network intents are for. None of a logical cloud's.
fn subjects(context: &ContextSnapshot) -> BTreeSet<Subject> {
    let meta = context.meta.as_ref();
    if let Some(meta) = meta.filter(|it| !it.dig.is_empty()) {
        let name = DigName::new(&meta.project, &meta.composite_app, &meta.version, &meta.dig);
        let name = name.ok().filter(|it| !it.is_found());
        return name.map(Subject::Group).into_iter().collect();
    }
    let intents = context.apps.iter().filter(|it| it.name == NETWORK_INTENTS);
    let clusters = intents.flat_map(|app| &app.clusters);
    clusters
        .map(|it| Subject::Cluster(it.cluster.clone()))
        .collect()
}

/// The instances of every context.
#[derive(Default)]
pub(crate) struct Derived {
    instances: BTreeMap<ContextId, Instance>,
    by_subject: HashMap<Subject, BTreeSet<ContextId>>,
    /// The contexts that a context was made for.
    parents: HashMap<ContextId, BTreeSet<ContextId>>,
}

impl Derived {
    /// Replaces the instance that a context is; none if it was deleted. Returns the subjects whose record may
    /// have changed.
    pub(crate) fn set(&mut self, id: &ContextId, instance: Option<Instance>) -> BTreeSet<Subject> {
        if self.instances.get(id) == instance.as_ref() {
            return BTreeSet::new();
        }
        let mut changed = BTreeSet::new();
        if let Some(before) = self.instances.remove(id) {
            for subject in &before.subjects {
                take(&mut self.by_subject, subject, id);
            }
            for child in &before.children {
                take(&mut self.parents, child, id);
            }
            changed.extend(self.subjects_of(&before));
        }
        if let Some(after) = instance {
            for subject in &after.subjects {
                let ids = self.by_subject.entry(subject.clone()).or_default();
                ids.insert(id.clone());
            }
            for child in &after.children {
                let parents = self.parents.entry(child.clone()).or_default();
                parents.insert(id.clone());
            }
            changed.extend(self.subjects_of(&after));
            self.instances.insert(id.clone(), after);
        }
        changed
    }

    /// The subjects of an instance and of its children.
    fn subjects_of(&self, instance: &Instance) -> BTreeSet<Subject> {
        let children = instance.children.iter();
        let children = children.filter_map(|id| self.instances.get(id));
        let all = children.chain([instance]).flat_map(|it| &it.subjects);
        all.cloned().collect()
    }

    /// Returns whether a context was made for another one. Of those that name each other in a circle none was.
    fn is_child(&self, id: &ContextId) -> bool {
        let parents = self.parents.get(id).into_iter().flatten();
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

    /// The record of a group or a cluster, as far as its contexts tell; none without instances.
    pub(crate) fn record(&self, subject: &Subject) -> Option<RecordView> {
        let ids = self.by_subject.get(subject)?.iter();
        let instances = ids.filter_map(|id| Some((id, self.instances.get(id)?)));
        let mut instances: Vec<(&ContextId, &Instance)> = instances
            .filter(|(id, it)| it.is_begun() && !self.is_child(id))
            .collect();
        instances.sort_by_key(|(id, it)| (it.created, *id));
        let sent = match subject {
            Subject::Group(_) => LifecycleState::Instantiated,
            Subject::Cluster(_) => LifecycleState::Applied,
        };
        let actions = actions(&instances, sent)?;
        Some(RecordView {
            profile: None,
            actions,
        })
    }
}

/// Actions that lead to what is known of instances, which come in the order of their creation; none without
/// any. The last action is about the current one.
fn actions(instances: &[(&ContextId, &Instance)], sent: LifecycleState) -> Option<Vec<ActionView>> {
    let by_change = |(_, it): &&(&ContextId, &Instance)| (!it.is_replaced(), it.status_changed);
    // Of equal ones the last, which is the newest.
    let (current, instance) = instances.iter().max_by_key(by_change)?;
    let mut actions = Vec::new();
    let mut add = |state: LifecycleState, id: &ContextId| {
        actions.push(ActionView {
            state,
            instance: Some(id.clone()),
            // When it was done is nowhere in a context.
            time: "".into(),
        });
    };
    let is_newest = instances.last().is_some_and(|(id, _)| id == current);
    for (id, it) in instances
        .iter()
        .filter(|(id, _)| id != current || !is_newest)
    {
        add(sent, id);
        // What is current again had been replaced.
        let is_reinstated = id == current;
        let end = if is_reinstated {
            Some(LifecycleState::Updated)
        } else {
            it.end()
        };
        if let Some(end) = end {
            add(end, id);
        }
    }
    add(sent, current);
    if let Some(end) = instance.end() {
        add(end, current);
    }
    Some(actions)
}

fn take<K: std::hash::Hash + Eq>(
    sets: &mut HashMap<K, BTreeSet<ContextId>>,
    key: &K,
    id: &ContextId,
) {
    if let Some(ids) = sets.get_mut(key) {
        ids.remove(id);
        if ids.is_empty() {
            sets.remove(key);
        }
    }
}
