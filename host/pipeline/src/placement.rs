//! One app in one cluster: the desired resources, the last report, the verdicts on it, and its freshness.
//!
//! Every change enters by [`Placement::apply`]. It updates the part that changed, derives the rest from the
//! state of the cluster, and then does the least work that shows the change: mark, project, or judge.

mod autoscalers;
mod change;
mod confirmations;
mod desired;
mod freshness;
mod gaps;
mod held_report;
mod inputs;
mod manifests;
mod observed;
mod stored;
mod verdicts;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_model::{ClusterName, Identity, Object, Verdict};
use kindsight_status::{
    ApplicationKey, ClusterInput, ClusterView, FAULTS_SHOWN_MAX, Report as ReportState, Reported,
    Staleness, project,
};

use crate::application_state::ReportedObjects;
use crate::cluster_state::ClusterState;
use crate::judge::Judge;
use crate::live_kinds::LiveKinds;
use crate::shared::Timeouts;
pub(crate) use autoscalers::Autoscalers;
pub(crate) use change::Change;
use confirmations::{Confirmations, Manifested};
pub(crate) use confirmations::{NOT_CONFIRMED, spec_mark, status_mark};
use desired::Desired;
use freshness::{Causes, Freshness};
use held_report::{HeldReport, Unjudged};
use observed::Observed;
use stored::Stored;
use verdicts::Verdicts;

/// One app in one cluster.
pub(crate) struct Placement {
    cluster: ClusterName,
    /// The expected resources.
    desired: Desired,
    /// The last report; none until there was one.
    report: Option<HeldReport>,
    /// The verdicts on the objects of the report.
    verdicts: Verdicts,
    /// The changed manifests that the cluster has not confirmed.
    confirmations: Confirmations,
    freshness: Causes,
    /// The side of the store: what was seen in it, and the report that waits beside it.
    stored: Stored,
    /// Reports since the last one that cannot be used, by origin; at most [`FAULTS_SHOWN_MAX`].
    unreadable: BTreeMap<String, Arc<str>>,
    /// Faults of the cluster that name no app.
    cluster_faults: Arc<[Arc<str>]>,
    /// Kinds that the cluster has not answered, as text.
    unanswered: Arc<[Arc<str>]>,
    view: Option<Arc<ClusterView>>,
}

/// Everything that a change depends on beside the placement itself.
#[derive(Clone, Copy)]
pub(crate) struct Environment<'e> {
    pub(crate) judge: Judge<'e>,
    pub(crate) cluster: &'e ClusterState,
    pub(crate) kinds: &'e LiveKinds,
    pub(crate) timeouts: Timeouts,
    pub(crate) now_ms: i64,
}

/// The effect of a change.
#[derive(Debug, Default)]
pub(crate) struct Applied {
    /// True if the view differs.
    pub(crate) is_changed: bool,
    /// True if verdicts of the next set of interpreters on the previous report were discarded.
    pub(crate) is_set_back: bool,
    /// Objects that left the application, or the scope of the configuration.
    pub(crate) left: Vec<Identity>,
}

/// The work that shows a change, in ascending order of cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Work {
    Nothing,
    /// The view receives new marks: staleness and faults.
    Mark,
    /// The resources are joined again.
    Project,
    /// The objects are judged again.
    Judge,
    /// The objects are judged again, and the resources are joined again.
    JudgeAndProject,
}

/// The objects of a report that were judged.
enum Judged {
    All,
    At(BTreeSet<usize>),
}

/// The marks of a view.
#[derive(PartialEq)]
struct Marks {
    report: ReportState,
    faults: Vec<Arc<str>>,
    cluster_faults: Arc<[Arc<str>]>,
    unanswered: Arc<[Arc<str>]>,
}

impl Placement {
    /// A placement of a recorded application, before its `AppContext` is read.
    pub(crate) fn recorded(cluster: ClusterName) -> Self {
        Self::new(cluster, Desired::sent())
    }

    /// A placement of an application that was found, before its first report.
    pub(crate) fn found(cluster: ClusterName) -> Self {
        Self::new(cluster, Desired::observed())
    }

    /// A placement with its last-known state, which the source of the cluster has not confirmed.
    pub(crate) fn last_known(view: ClusterView, staleness: Staleness) -> Self {
        let observed = Observed::restored(&view, staleness.since_ms);
        let cluster = view.cluster().clone();
        let mut placement = Self::new(cluster, Desired::Observed(observed));
        let Staleness { since_ms, reason } = staleness;
        placement
            .freshness
            .set(Freshness::Unconfirmed, since_ms, reason);
        placement.view = Some(Arc::new(view));
        placement
    }

    fn new(cluster: ClusterName, desired: Desired) -> Self {
        Self {
            cluster,
            desired,
            report: None,
            verdicts: Verdicts::default(),
            confirmations: Confirmations::default(),
            freshness: Causes::default(),
            stored: Stored::default(),
            unreadable: BTreeMap::new(),
            cluster_faults: Arc::default(),
            unanswered: Arc::default(),
            view: None,
        }
    }

    /// Applies a change: the only way to change a placement, apart from verdicts that are given again.
    pub(crate) fn apply(&mut self, change: Change<'_>, env: Environment<'_>) -> Applied {
        let mut applied = Applied::default();
        let before = self.marks();
        let taken = self.take(change, env, &mut applied);
        let followed = self.follow_cluster(env, &mut applied);
        let followed = followed.max(self.confirm(env));
        let is_marked = self.view.is_some() && before != self.marks();
        let marked = if is_marked { Work::Mark } else { Work::Nothing };
        let work = taken.max(followed).max(marked);
        match work {
            Work::Nothing => {}
            Work::Mark => self.mark(),
            Work::Project => self.project(env.now_ms),
            Work::Judge | Work::JudgeAndProject => {
                let judged = self.judge(env);
                let is_joined = work == Work::JudgeAndProject || followed >= Work::Project;
                if is_joined || !self.show_objects(&judged, env.now_ms) {
                    self.project(env.now_ms);
                }
            }
        }
        applied.is_changed = work > Work::Nothing;
        applied
    }

    pub(crate) fn cluster(&self) -> &ClusterName {
        &self.cluster
    }

    /// Its view; none before it is first judged.
    pub(crate) fn view(&self) -> Option<Arc<ClusterView>> {
        self.view.clone()
    }

    /// Returns whether it shows a state that the source of the cluster has not confirmed: of before the start, of a
    /// previous owner of the cluster, or of an earlier source.
    pub(crate) fn is_unconfirmed(&self) -> bool {
        self.freshness.has(Freshness::Unconfirmed)
    }

    /// Returns whether nothing is left of it: no object exists and none is missing. A recorded placement always
    /// has something left.
    pub(crate) fn is_empty(&self) -> bool {
        let Desired::Observed(observed) = &self.desired else {
            return false;
        };
        let is_report_empty = self.report.as_ref().is_none_or(HeldReport::is_empty);
        observed.is_empty() && is_report_empty && !self.is_unconfirmed()
    }

    /// Returns whether inventories list missing resources of the app, and the cluster has not reported on it since the
    /// start.
    pub(crate) fn awaits_first_report(&self) -> bool {
        let Desired::Observed(observed) = &self.desired else {
            return false;
        };
        let is_heard = self.report.is_some() && !self.is_unconfirmed();
        !is_heard && observed.is_any_listed()
    }

    /// When the first object is forgotten or counts as gone, or a changed manifest waits no longer for its confirmation,
    /// in Unix milliseconds. Objects that are gone stay listed while the cluster is not heard.
    pub(crate) fn expires_at_ms(&self, timeouts: Timeouts) -> Option<i64> {
        match &self.desired {
            Desired::Observed(observed) if !self.is_outdated() => {
                observed.due_ms(timeouts.gone_for)
            }
            Desired::Observed(_) => None,
            Desired::Sent { .. } => self.confirmations.due_ms(timeouts),
        }
    }

    /// Ends the waits of changed manifests that the cluster has confirmed, or that waited long enough.
    fn confirm(&mut self, env: Environment<'_>) -> Work {
        if self.confirmations.is_empty() {
            return Work::Nothing;
        }
        let now = Manifested {
            expected: self.desired.expected(),
            namespace: &self.desired.namespace(),
            objects: self.report.as_ref().map(|report| &report.objects),
        };
        if self.confirmations.settle(now, env.timeouts, env.now_ms) {
            Work::Project
        } else {
            Work::Nothing
        }
    }

    /// Returns whether its objects may have changed since the last report of the cluster.
    fn is_outdated(&self) -> bool {
        self.freshness.has(Freshness::Unreachable) || self.is_unconfirmed()
    }

    /// The last report on an app of an application, for shadow runs; none until there was one.
    pub(crate) fn reported(&self, key: &ApplicationKey, app: &str) -> Option<ReportedObjects> {
        let report = self.report.as_ref()?;
        Some(ReportedObjects {
            application: key.clone(),
            placement: format!("{key}/{app}/{}", self.cluster),
            cluster: self.cluster.clone(),
            objects: report.inputs().clone(),
            related: report.related.clone(),
            covered: report.related_coverage.clone(),
        })
    }

    /// Judges the objects of the last report that changed, and those that are related to them. Returns the objects
    /// that were judged.
    fn judge(&mut self, env: Environment<'_>) -> Judged {
        let Some(report) = &mut self.report else {
            return Judged::All;
        };
        match report.take_unjudged() {
            Unjudged::All => {
                self.verdicts.judge(report, env.judge, env.now_ms);
                Judged::All
            }
            Unjudged::Changed(changed) => {
                let affected = report.affected(&changed, env.judge.set);
                self.verdicts
                    .judge_at(&affected, report, env.judge, env.now_ms);
                Judged::At(affected)
            }
        }
    }

    /// Shows the new versions of some objects and their verdicts in the view. Returns false if all resources have to
    /// be joined again.
    fn show_objects(&mut self, judged: &Judged, now_ms: i64) -> bool {
        let (Judged::At(positions), Some(report), Some(view)) =
            (judged, &self.report, self.view.as_deref())
        else {
            return false;
        };
        let changed = positions.iter().filter_map(|&at| {
            let verdict = self.confirmations.verdict(at);
            let verdict = verdict.or_else(|| self.verdicts.get(at))?;
            let object = report.objects.get(at)?;
            Some((at, object, verdict))
        });
        let changed: Vec<(usize, &Object, &Verdict)> = changed.collect();
        let is_reported = changed
            .iter()
            .all(|(_, object, _)| report.is_reported(object));
        let shown = is_reported.then(|| view.with_objects(changed, now_ms));
        let Some(view) = shown.flatten() else {
            return false;
        };
        let view = view.with_report(self.report_state(), self.faults());
        self.view = Some(Arc::new(self.marked(view)));
        true
    }

    fn project(&mut self, now_ms: i64) {
        if self.desired.is_observed() && self.is_unconfirmed() && self.report.is_none() {
            return self.mark();
        }
        let stale = self.freshness.shown();
        let report = self.report.as_ref();
        let mut verdicts = self.verdicts.all();
        self.confirmations.replace(&mut verdicts);
        let unreadable = report.filter(|_| self.desired.is_observed());
        // Without a report, the resources keep the states that the previous owner of the cluster showed.
        let last = self.view.as_deref().filter(|_| self.is_unconfirmed());
        let reported = match (report, last) {
            (Some(report), _) => Some(report.input(verdicts, stale)),
            (None, Some(last)) => Some(Reported::shown_by(last, stale)),
            (None, None) => None,
        };
        let input = ClusterInput {
            cluster: self.cluster.clone(),
            namespace: self.desired.namespace(),
            expected: self.desired.expected().to_vec(),
            reported,
            unseen: self.desired.unseen(unreadable),
            faults: self.faults(),
        };
        let view = project(input, self.view.as_deref(), now_ms);
        self.view = Some(Arc::new(view));
        self.mark();
    }

    /// Replaces the marks of the view, without joining the resources again.
    fn mark(&mut self) {
        if let Some(view) = &self.view {
            let view = view.with_report(self.report_state(), self.faults());
            self.view = Some(Arc::new(self.marked(view)));
        }
    }

    fn marked(&self, view: ClusterView) -> ClusterView {
        view.with_cluster_faults(Arc::clone(&self.cluster_faults))
            .with_unanswered(Arc::clone(&self.unanswered))
            .with_connectivity(self.connectivity())
    }

    fn marks(&self) -> Marks {
        Marks {
            report: self.report_state(),
            faults: self.faults(),
            cluster_faults: Arc::clone(&self.cluster_faults),
            unanswered: Arc::clone(&self.unanswered),
        }
    }

    fn report_state(&self) -> ReportState {
        if self.report.is_none() && !self.is_unconfirmed() {
            return ReportState::NotYet;
        }
        ReportState::Received {
            stale: self.freshness.shown(),
        }
    }

    fn faults(&self) -> Vec<Arc<str>> {
        let faults = self.desired.faults().iter().chain(self.unreadable.values());
        let reported = self.report.iter().flat_map(|report| &report.faults);
        let stored = self.stored.fault();
        faults.chain(stored).chain(reported).cloned().collect()
    }

    /// Notes a report that cannot be used.
    fn note_unreadable(&mut self, origin: &str, fault: Arc<str>) {
        let is_known = self.unreadable.contains_key(origin);
        if is_known || self.unreadable.len() < FAULTS_SHOWN_MAX {
            self.unreadable.insert(origin.to_owned(), fault);
        }
    }
}

#[cfg(test)]
mod tests;
