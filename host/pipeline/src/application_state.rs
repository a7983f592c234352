//! The state of one application in the pipeline: of an `AppContext`, or of one that was found in the
//! clusters. All of its view is judged by one published set.

mod found;

use std::sync::Arc;

use kindsight_appcontext::{AppSnapshot, ContextMeta, ContextSnapshot};
use kindsight_interpreter::{Interpreters, Published};
use kindsight_model::{
    ClusterName, ContextId, ContextStatus, CoveredKinds, DeploymentId, DigName, Object,
};
use kindsight_status::{AppView, ApplicationKey, ContextView};

use crate::affected::Affected;
use crate::judge::Judge;
use crate::placement::Placement;
use crate::recheck::Slice;
use crate::recorded::ContextDeployments;
use crate::view_change::ViewChange;

/// One application.
pub(crate) struct ApplicationState {
    /// The group that was instantiated, or the application that was found.
    meta: Option<DigName>,
    /// The namespace that it is deployed to; empty where nobody names one.
    namespace: Arc<str>,
    status: Option<ContextStatus>,
    /// The context whose id labels its objects; none of an application that was found.
    status_context: Option<ContextId>,
    /// Its meta as it was last read.
    context_meta: Option<ContextMeta>,
    faults: Vec<Arc<str>>,
    /// The fault of the last try to read it again; none where that could be read.
    unread: Option<Arc<str>>,
    /// Of a context in its order; of an application that was found in the order of their names.
    apps: Vec<(Arc<str>, Vec<Placement>)>,
    /// The set that its whole view is judged by.
    shown_by: Arc<Published>,
    /// Sequence number of its last report among all reports; 0 without any.
    pub(crate) last_report: u64,
}

/// The objects of the reports on one app in one cluster, for shadow runs.
#[derive(Debug, Clone)]
pub struct ReportedObjects {
    /// `context/app/provider+cluster`, or `-/application/-/namespace/app/provider+cluster` of an application
    /// that was found.
    pub placement: String,
    /// The objects that were reported together, in the report's order.
    pub objects: Arc<[Object]>,
    /// Objects that they name by a relation and that belong elsewhere.
    pub related: Arc<[Object]>,
    /// The Kinds of which these are all.
    pub covered: Arc<CoveredKinds>,
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
    /// process is newer than the stored one.
    pub(crate) fn reconciled(
        snapshot: ContextSnapshot,
        before: Option<Self>,
        judge: Judge<'_>,
        now_ms: i64,
    ) -> Self {
        let (shown_by, last_report, mut known) = match before {
            Some(before) => (before.shown_by, before.last_report, before.apps),
            None => (Arc::clone(judge.set), 0, Vec::new()),
        };
        let judge = Judge {
            set: &shown_by,
            ..judge
        };
        let meta = snapshot.meta.as_ref();
        let namespace: Arc<str> = meta.map_or("", |meta| &meta.namespace).into();
        let unreadable = snapshot.unreadable.iter();
        let faults = unreadable.map(|it| format!("{}: {}", it.key, it.why).into());
        let app = |app: AppSnapshot| {
            let name: Arc<str> = app.name.as_str().into();
            let deployment = DeploymentId {
                context: snapshot.status_context.clone(),
                app: Arc::clone(&name),
            };
            let placements = app.clusters.into_iter().map(|cluster| {
                let before = take(&mut known, &name, &cluster.cluster);
                Placement::reconciled(cluster, before, &namespace, &deployment, judge, now_ms)
            });
            let placements = placements.collect();
            (name, placements)
        };
        Self {
            meta: meta.and_then(dig_name),
            namespace: Arc::clone(&namespace),
            status: snapshot.status,
            status_context: Some(snapshot.status_context.clone()),
            faults: faults.collect(),
            unread: None,
            context_meta: snapshot.meta,
            apps: snapshot.apps.into_iter().map(app).collect(),
            shown_by,
            last_report,
        }
    }

    /// A context of which nothing could be read yet.
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

    /// Takes over why it could not be read again. Returns whether that is new.
    pub(crate) fn set_unread(&mut self, fault: Arc<str>) -> bool {
        let before = self.unread.replace(fault);
        before != self.unread
    }

    /// Takes over what clusters reported for another instance of the same group, where they have not reported for
    /// this one.
    pub(crate) fn join(&mut self, sibling: &Self, interpreters: &Interpreters, now_ms: i64) {
        let set = &self.shown_by;
        for (app, placements) in &mut self.apps {
            for placement in placements.iter_mut().filter(|it| !it.was_heard()) {
                let other = sibling.placement(app, placement.cluster());
                if let Some(live) = other.and_then(Placement::live) {
                    placement.join(live, Judge { interpreters, set }, now_ms);
                }
            }
        }
    }

    /// Its apps by cluster.
    pub(crate) fn deployments(&self) -> ContextDeployments {
        let apps = self.apps.iter();
        let apps = apps.flat_map(|(app, placements)| {
            let clusters = placements.iter().map(Placement::cluster);
            clusters.map(|cluster| (cluster.clone(), Arc::clone(app)))
        });
        ContextDeployments {
            context: self.status_context.clone(),
            namespace: Arc::clone(&self.namespace),
            apps: apps.collect(),
        }
    }

    /// The set that its whole view is judged by.
    pub(crate) fn shown_by(&self) -> &Published {
        &self.shown_by
    }

    /// Changes the placement of an app in a cluster, if there is one. Returns whether `change` returned
    /// true.
    pub(crate) fn change(
        &mut self,
        app: &str,
        cluster: &ClusterName,
        interpreters: &Interpreters,
        change: impl FnOnce(&mut Placement, Judge<'_>) -> bool,
    ) -> bool {
        let set = &self.shown_by;
        let apps = self.apps.iter_mut().filter(|(name, _)| **name == *app);
        let mut placements = apps.flat_map(|(_, placements)| placements);
        let placement = placements.find(|placement| placement.cluster() == cluster);
        placement.is_some_and(|placement| change(placement, Judge { interpreters, set }))
    }

    /// The placement of an app in a cluster.
    pub(crate) fn placement(&self, app: &str, cluster: &ClusterName) -> Option<&Placement> {
        let apps = self.apps.iter().filter(|(name, _)| **name == *app);
        let mut placements = apps.flat_map(|(_, placements)| placements);
        placements.find(|placement| placement.cluster() == cluster)
    }

    /// Changes every placement in a cluster. Returns whether `change` returned true for any.
    pub(crate) fn change_all(
        &mut self,
        cluster: &ClusterName,
        change: impl Fn(&mut Placement) -> bool,
    ) -> bool {
        let placements = self.placements().filter(|it| it.cluster() == cluster);
        // Every placement is changed, so this counts instead of stopping at the first.
        placements.map(change).filter(|&did| did).count() > 0
    }

    /// As [`change_all`](Self::change_all), for a change that judges.
    pub(crate) fn judge_all(
        &mut self,
        cluster: &ClusterName,
        interpreters: &Interpreters,
        change: impl Fn(&mut Placement, Judge<'_>) -> bool,
    ) -> bool {
        let set = Arc::clone(&self.shown_by);
        self.change_all(cluster, |it| {
            let set = &set;
            change(it, Judge { interpreters, set })
        })
    }

    /// Changes every placement. Returns whether `change` returned true for any.
    pub(crate) fn change_every(&mut self, change: impl Fn(&mut Placement) -> bool) -> bool {
        self.placements().map(change).filter(|&did| did).count() > 0
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
        let placements = self.apps.iter_mut().flat_map(|(_, placements)| placements);
        let is_due = |it: &&mut Placement| it.recheck_at_ms().is_some_and(|at| at <= began_ms);
        let mut due: Vec<&mut Placement> = placements.filter(is_due).collect();
        // Those that wait longest first, so that none waits for ever.
        due.sort_by_key(|it| it.recheck_at_ms());
        let judge = Judge { interpreters, set };
        let rechecked = due
            .into_iter()
            .map(|it| it.recheck_due(judge, began_ms, clock));
        rechecked.max().unwrap_or(ViewChange::Nothing)
    }

    /// The time of the next recheck, in Unix milliseconds.
    pub(crate) fn recheck_at_ms(&self) -> Option<i64> {
        let placements = self.apps.iter().flat_map(|(_, placements)| placements);
        placements.filter_map(Placement::recheck_at_ms).min()
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
        let mut placements = self.apps.iter_mut().flat_map(|(_, placements)| placements);
        if !placements.all(|it| it.recheck(goal, &mut kinds, slice, now_ms)) {
            return SwapStep::Unfinished;
        }
        self.shown_by = Arc::clone(goal.set);
        let changes = self.placements().map(|it| it.commit_recheck(now_ms));
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
        let apps = self.apps.iter();
        let placements = apps.flat_map(|(app, all)| all.iter().map(move |it| (app, it)));
        placements.filter_map(move |(app, placement)| placement.reported(key, app))
    }

    fn placements(&mut self) -> impl Iterator<Item = &mut Placement> {
        self.apps.iter_mut().flat_map(|(_, placements)| placements)
    }

    /// The view that queries are answered from.
    pub(crate) fn view(&self, key: &ApplicationKey) -> ContextView {
        let apps = self.apps.iter().map(|(name, placements)| AppView {
            name: Arc::clone(name),
            clusters: placements.iter().filter_map(Placement::view).collect(),
        });
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
fn take(
    known: &mut [(Arc<str>, Vec<Placement>)],
    app: &str,
    cluster: &ClusterName,
) -> Option<Placement> {
    let mut apps = known.iter_mut();
    let (_, placements) = apps.find(|(name, _)| **name == *app)?;
    let position = placements.iter().position(|it| it.cluster() == cluster)?;
    Some(placements.swap_remove(position))
}

fn dig_name(meta: &ContextMeta) -> Option<DigName> {
    DigName::new(&meta.project, &meta.composite_app, &meta.version, &meta.dig).ok()
}
