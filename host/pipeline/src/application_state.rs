//! The state of one application in the pipeline: of an `AppContext`, or of one that was found in the
//! clusters. All of its view is judged by one published set.

mod app;
mod autoscalers;
mod found;
mod instances;

use std::sync::Arc;

use kindsight_appcontext::{AppSnapshot, ContextMeta, ContextSnapshot};
use kindsight_interpreter::{Interpreters, Published};
use kindsight_model::{
    ClusterName, ContextId, ContextStatus, Coverage, DeploymentId, DigName, Identity, ObjectList,
};
use kindsight_status::{ApplicationKey, ContextView};

use crate::affected::Affected;
use crate::judge::Judge;
use crate::placement::{Applied, Change, Placement};
use crate::recheck::Slice;
use crate::recorded::ContextDeployments;
use crate::shared::{Shared, Timeouts};
use crate::view_change::ViewChange;
use app::App;

pub(crate) use app::DueTimes;

/// One application.
pub(crate) struct ApplicationState {
    /// The group that was instantiated, or the application that was found.
    meta: Option<DigName>,
    /// The namespace that it is deployed to. Empty if unknown.
    namespace: Arc<str>,
    status: Option<ContextStatus>,
    /// The context whose id labels its objects. `None` for a found application.
    status_context: Option<ContextId>,
    /// Its meta as it was last read.
    context_meta: Option<ContextMeta>,
    faults: Vec<Arc<str>>,
    /// The fault of the last attempt to read it. `None` if it could be read.
    unread: Option<Arc<str>>,
    /// Apps of a context in its order, and apps of a found application in the order of their names.
    apps: Vec<App>,
    /// The set of interpreters that judged its complete view.
    shown_by: Arc<Published>,
    /// Sequence number of its last report among all reports; 0 without any.
    pub(crate) last_report: u64,
}

/// The objects of the reports on one app in one cluster, for shadow runs.
#[derive(Debug, Clone)]
pub struct ReportedObjects {
    /// The application.
    pub application: ApplicationKey,
    /// `context/app/provider+cluster`, or `-/application/-/namespace/app/provider+cluster` of an application
    /// that was found.
    pub placement: String,
    /// The cluster.
    pub cluster: ClusterName,
    /// The objects that were reported together, in the report's order.
    pub objects: ObjectList,
    /// Objects that they name by a relation and that belong elsewhere.
    pub related: ObjectList,
    /// The coverage of related objects.
    pub covered: Coverage,
}

/// The effect of a change on an application.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// True if its view differs.
    pub(crate) is_any: bool,
    /// True if verdicts of the next set of interpreters were discarded.
    pub(crate) is_set_back: bool,
    /// Objects that left the application, with app and cluster.
    pub(crate) left: Vec<(Arc<str>, ClusterName, Identity)>,
}

impl Changes {
    fn add(&mut self, app: &str, cluster: &ClusterName, applied: Applied) {
        self.is_any |= applied.is_changed;
        self.is_set_back |= applied.is_set_back;
        let left = applied.left.into_iter();
        let left = left.map(|identity| (app.into(), cluster.clone(), identity));
        self.left.extend(left);
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.is_any |= other.is_any;
        self.is_set_back |= other.is_set_back;
        self.left.extend(other.left);
    }
}

/// The result of one step of an application towards another set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SwapStep {
    /// Some objects are still to be judged.
    Unfinished,
    /// It was judged by the new set, with this change of its view.
    Judged(ViewChange),
}

impl ApplicationState {
    /// A context from the store's snapshot, judged and ready to be published.
    ///
    /// With a state `before`, its set and the live reports of its placements stay: a report received in this
    /// process is newer than the stored one. Without, it is judged by `set`.
    pub(crate) fn reconciled(
        snapshot: ContextSnapshot,
        before: Option<Self>,
        set: &Arc<Published>,
        shared: &Shared,
        now_ms: i64,
    ) -> Self {
        let (shown_by, last_report, mut known) = match before {
            Some(before) => (before.shown_by, before.last_report, before.apps),
            None => (Arc::clone(set), 0, Vec::new()),
        };
        let meta = snapshot.meta.as_ref();
        let namespace: Arc<str> = meta.map_or("", |meta| &meta.namespace).into();
        let unreadable = snapshot.unreadable.iter();
        let faults = unreadable.map(|value| format!("{}: {}", value.key, value.why).into());
        let app = |app: AppSnapshot| {
            let name: Arc<str> = app.name.as_str().into();
            let deployment = DeploymentId {
                context: snapshot.status_context.clone(),
                app: Arc::clone(&name),
            };
            let placements = app.clusters.into_iter().map(|snapshot| {
                let cluster = snapshot.cluster.clone();
                let before = take(&mut known, &name, &cluster);
                let mut placement = before.unwrap_or_else(|| Placement::recorded(cluster.clone()));
                if placement.has_read(&snapshot, &namespace) {
                    return placement;
                }
                let change = Change::Context {
                    snapshot: &snapshot,
                    namespace: &namespace,
                    deployment: &deployment,
                };
                placement.apply(change, shared.environment(&cluster, &shown_by, now_ms));
                placement
            });
            let placements = placements.collect();
            App::new(name, placements)
        };
        let mut state = Self {
            meta: meta.and_then(dig_name),
            namespace: Arc::clone(&namespace),
            status: snapshot.status,
            status_context: Some(snapshot.status_context.clone()),
            faults: faults.collect(),
            unread: None,
            apps: snapshot.apps.into_iter().map(app).collect(),
            context_meta: snapshot.meta,
            shown_by,
            last_report,
        };
        state.share_autoscalers(shared, now_ms);
        state
    }

    /// A context that could not be read yet.
    pub(crate) fn unread(fault: Arc<str>, set: &Arc<Published>) -> Self {
        Self {
            unread: Some(fault),
            ..Self::empty(None, set)
        }
    }

    fn empty(meta: Option<DigName>, set: &Arc<Published>) -> Self {
        Self {
            meta,
            namespace: "".into(),
            status: None,
            status_context: None,
            context_meta: None,
            faults: Vec::new(),
            unread: None,
            apps: Vec::new(),
            shown_by: Arc::clone(set),
            last_report: 0,
        }
    }

    /// Its meta as it was last read.
    pub(crate) fn context_meta(&self) -> Option<&ContextMeta> {
        self.context_meta.as_ref()
    }

    /// Sets the reason why it could not be read again. Returns whether the reason differs.
    pub(crate) fn set_unread(&mut self, fault: Option<Arc<str>>) -> bool {
        let before = std::mem::replace(&mut self.unread, fault);
        before != self.unread
    }

    /// Its apps by cluster.
    pub(crate) fn deployments(&self) -> ContextDeployments {
        let apps = self.apps.iter();
        let apps = apps.flat_map(|app| {
            let clusters = app.placements().iter().map(Placement::cluster);
            clusters.map(|cluster| (cluster.clone(), Arc::clone(app.name())))
        });
        ContextDeployments {
            context: self.status_context.clone(),
            namespace: Arc::clone(&self.namespace),
            apps: apps.collect(),
        }
    }

    /// The set of interpreters that judged its complete view.
    pub(crate) fn shown_by(&self) -> &Published {
        &self.shown_by
    }

    /// Applies a change to the placement of an app in a cluster, if there is one.
    pub(crate) fn apply(
        &mut self,
        (app, cluster): (&str, &ClusterName),
        change: Change<'_>,
        shared: &Shared,
        now_ms: i64,
    ) -> Changes {
        let mut changes = Changes::default();
        let mut apps = self.apps.iter_mut().filter(|known| **known.name() == *app);
        let Some(placement) = apps.find_map(|app| app.placement_mut(cluster)) else {
            return changes;
        };
        let scaling = placement.scaling();
        let env = shared.environment(cluster, &self.shown_by, now_ms);
        changes.add(app, cluster, placement.apply(change, env));
        if placement.scaling() != scaling {
            changes.merge(self.share_autoscalers(shared, now_ms));
        }
        changes
    }

    /// Applies a change to each placement that `selects`.
    pub(crate) fn apply_all<'c>(
        &mut self,
        selects: impl Fn(&Placement) -> bool,
        change: impl Fn() -> Change<'c>,
        shared: &Shared,
        now_ms: i64,
    ) -> Changes {
        let mut changes = Changes::default();
        for app in &mut self.apps {
            let name = Arc::clone(app.name());
            for placement in app.selected_mut(&selects) {
                let cluster = placement.cluster().clone();
                let env = shared.environment(&cluster, &self.shown_by, now_ms);
                changes.add(&name, &cluster, placement.apply(change(), env));
            }
        }
        changes
    }

    /// Returns whether it has a placement in a cluster.
    pub(crate) fn is_in(&self, cluster: &ClusterName) -> bool {
        self.apps.iter().any(|app| app.placement(cluster).is_some())
    }

    /// The placement of an app in a cluster.
    pub(crate) fn placement(&self, app: &str, cluster: &ClusterName) -> Option<&Placement> {
        let mut apps = self.apps.iter().filter(|known| **known.name() == *app);
        apps.find_map(|app| app.placement(cluster))
    }

    /// Judges objects again that are due for a recheck, by the application's set, until the round is over that
    /// began at `began_ms`. Returns the change of the view.
    pub(crate) fn recheck(
        &mut self,
        interpreters: &Interpreters,
        began_ms: i64,
        clock: &dyn Fn() -> i64,
    ) -> ViewChange {
        let set = &self.shown_by;
        let is_due =
            |placement: &Placement| placement.recheck_at_ms().is_some_and(|at| at <= began_ms);
        let apps = self.apps.iter_mut();
        let mut due: Vec<&mut Placement> = apps.flat_map(|app| app.selected_mut(is_due)).collect();
        // Those that wait longest first, so that none waits for ever.
        due.sort_by_key(|placement| placement.recheck_at_ms());
        let judge = Judge { interpreters, set };
        let rechecked = due
            .into_iter()
            .map(|placement| placement.recheck_due(judge, began_ms, clock));
        rechecked.max().unwrap_or(ViewChange::Nothing)
    }

    /// The times at which it changes by itself.
    pub(crate) fn due(&self, timeouts: Timeouts) -> DueTimes {
        let due = self.apps.iter().map(|app| app.due(timeouts));
        due.fold(DueTimes::default(), DueTimes::earlier)
    }

    /// Continues towards the set of `goal`, as far as the slice allows. The view stays unchanged until all
    /// affected objects are judged; then all of it changes at once.
    pub(crate) fn swap(
        &mut self,
        goal: Judge<'_>,
        affected: &mut Affected,
        slice: &mut Slice,
        now_ms: i64,
    ) -> SwapStep {
        let mut kinds = affected.between(&self.shown_by, goal.set);
        let mut placements = self.apps.iter_mut().flat_map(App::placements_mut);
        if !placements.all(|placement| placement.recheck(goal, &mut kinds, slice, now_ms)) {
            return SwapStep::Unfinished;
        }
        self.shown_by = Arc::clone(goal.set);
        let changes = self
            .placements()
            .map(|placement| placement.commit_recheck(now_ms));
        SwapStep::Judged(changes.max().unwrap_or(ViewChange::Nothing))
    }

    /// Discards verdicts of a set that it does not follow yet.
    pub(crate) fn discard_recheck(&mut self) {
        for placement in self.placements() {
            placement.discard_recheck();
        }
    }

    /// The objects that its clusters reported.
    pub(crate) fn reported(&self, key: &ApplicationKey) -> impl Iterator<Item = ReportedObjects> {
        let placements = self.apps.iter().flat_map(|app| {
            let placements = app.placements().iter();
            placements.map(move |placement| (app.name(), placement))
        });
        placements.filter_map(move |(app, placement)| placement.reported(key, app))
    }

    fn placements(&mut self) -> impl Iterator<Item = &mut Placement> {
        self.apps.iter_mut().flat_map(App::placements_mut)
    }

    /// The view that queries are answered from.
    pub(crate) fn view(&self, key: &ApplicationKey) -> ContextView {
        let apps = self.apps.iter().map(|app| Arc::clone(app.view()));
        let children = self.context_meta.as_ref();
        ContextView {
            id: key.context().cloned(),
            meta: self.meta.clone(),
            status_context: self.status_context.clone(),
            children: children.map_or_else(Vec::new, ContextMeta::children),
            status: self.status.clone(),
            apps: apps.collect(),
            faults: self.faults.iter().chain(&self.unread).cloned().collect(),
        }
    }
}

/// Removes the placement of an app in a cluster from the known ones, and returns it.
fn take(known: &mut [App], app: &str, cluster: &ClusterName) -> Option<Placement> {
    let mut apps = known.iter_mut();
    apps.find(|known| **known.name() == *app)?.take(cluster)
}

fn dig_name(meta: &ContextMeta) -> Option<DigName> {
    DigName::new(&meta.project, &meta.composite_app, &meta.version, &meta.dig).ok()
}
