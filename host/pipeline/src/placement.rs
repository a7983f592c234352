//! One app in one cluster: its manifests, the cluster's report, and the verdicts on it.

mod manifests;
mod settle;
mod staleness;

use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::sync::{Arc, LazyLock};

use kindsight_appcontext::ClusterSnapshot;
use kindsight_interpreter::Siblings;
use kindsight_model::{
    Bundle, ClusterName, Coverage, CoveredKinds, DeploymentId, Object, Rejected, Verdict,
    decode_status,
};
use kindsight_status::{
    ClusterInput, ClusterView, FAULTS_SHOWN_MAX, Report, Reported, Staleness as ShownStaleness,
    project,
};

use crate::affected::Kinds;
use crate::due::{self, Due};
use crate::judge::Judge;
use crate::recheck::{Recheck, Slice};
use crate::view_change::ViewChange;
use manifests::Manifests;
use settle::settle;
use staleness::Staleness;

/// Hashes stored reports, to recognize an unchanged one. Seeded anew in each process, since clusters choose them.
static REPORT_HASHER: LazyLock<foldhash::quality::RandomState> = LazyLock::new(Default::default);

/// One app in one cluster.
pub(crate) struct Placement {
    cluster: ClusterName,
    /// The namespace of manifests that name none.
    namespace: Arc<str>,
    manifests: Manifests,
    /// The last report; none until there was one.
    reported: Option<Arc<[Object]>>,
    /// The hash of the last report that came from the store.
    stored_hash: Option<u64>,
    /// The items of the last report that could not be read.
    rejected: Arc<[Rejected]>,
    coverage: Coverage,
    /// The Kinds of which the last report has all objects.
    covered: Arc<CoveredKinds>,
    /// True if any report had the list of any Kind: then reports without it cover every Kind too.
    covers_every_kind: bool,
    verdicts: Vec<Verdict>,
    due: Due,
    /// The recheck of the last report by the next set; none where it was not begun.
    recheck: Option<Recheck>,
    staleness: Staleness,
    /// Faults of the last report.
    report_faults: Vec<Arc<str>>,
    /// Reports since the last one that cannot be used, by origin; at most [`FAULTS_SHOWN_MAX`].
    unreadable: BTreeMap<String, Arc<str>>,
    /// Faults of the cluster as a whole.
    cluster_faults: Arc<[Arc<str>]>,
    view: Option<Arc<ClusterView>>,
}

impl Placement {
    /// A placement from the store's snapshot and its state `before`, judged and projected.
    pub(crate) fn reconciled(
        snapshot: ClusterSnapshot,
        before: Option<Self>,
        namespace: &Arc<str>,
        deployment: &DeploymentId,
        judge: Judge<'_>,
        now_ms: i64,
    ) -> Self {
        let mut placement = before.unwrap_or_else(|| Self::new(snapshot.cluster));
        placement.namespace = Arc::clone(namespace);
        placement.manifests = Manifests::read(&snapshot.resources);
        let stored = snapshot.bundle_status_json.as_deref();
        let is_new = stored.is_some_and(|json| placement.take_stored(deployment, json, now_ms));
        if is_new || placement.view.is_none() {
            placement.judge(judge, now_ms);
        } else {
            placement.project(now_ms);
        }
        placement
    }

    fn new(cluster: ClusterName) -> Self {
        Self {
            cluster,
            namespace: "".into(),
            manifests: Manifests::default(),
            reported: None,
            stored_hash: None,
            rejected: Arc::default(),
            coverage: Coverage::default(),
            covered: Arc::default(),
            covers_every_kind: false,
            verdicts: Vec::new(),
            due: Due::default(),
            recheck: None,
            staleness: Staleness::default(),
            report_faults: Vec::new(),
            unreadable: BTreeMap::new(),
            cluster_faults: Arc::default(),
            view: None,
        }
    }

    /// Takes over a report of the store, unless the cluster itself has reported in this process, which is
    /// newer, or it is unchanged. Returns whether it did.
    fn take_stored(&mut self, deployment: &DeploymentId, json: &str, now_ms: i64) -> bool {
        let hash = REPORT_HASHER.hash_one(json);
        let is_live = self.reported.is_some() && !self.staleness.is_remembered();
        if is_live || self.stored_hash == Some(hash) {
            return false;
        }
        self.stored_hash = Some(hash);
        self.discard_recheck();
        match decode_status(deployment.clone(), json.as_bytes()) {
            Ok(bundle) => {
                self.take(bundle);
                self.staleness.remember();
            }
            Err(error) => {
                let fault: Arc<str> = format!("stored report: {error}").into();
                self.staleness.unreadable(now_ms, &fault);
                self.report_faults = vec![fault];
            }
        }
        true
    }

    pub(crate) fn cluster(&self) -> &ClusterName {
        &self.cluster
    }

    /// Its view; none before it is first judged.
    pub(crate) fn view(&self) -> Option<Arc<ClusterView>> {
        self.view.clone()
    }

    /// The objects of the last report, as each other's related objects; none until there was one.
    fn siblings(&self) -> Option<Arc<Siblings>> {
        let siblings = Siblings::of(Arc::clone(self.reported.as_ref()?));
        Some(Arc::new(siblings.covered(Arc::clone(&self.covered))))
    }

    /// The objects of the last report, and the Kinds of which they are all; none until there was one.
    pub(crate) fn reported(&self) -> Option<(&Arc<[Object]>, &Arc<CoveredKinds>)> {
        Some((self.reported.as_ref()?, &self.covered))
    }

    /// Handles a report of the cluster and judges it. Verdicts of the next set on the previous report are
    /// discarded; returns whether there were any.
    pub(crate) fn report(&mut self, bundle: Bundle, judge: Judge<'_>, now_ms: i64) -> bool {
        let is_set_back = self.discard_recheck();
        self.staleness = Staleness::default();
        self.unreadable.clear();
        self.take(bundle);
        self.judge(judge, now_ms);
        is_set_back
    }

    /// Completes a report that is to be stored with what earlier ones told about their reporter.
    pub(crate) fn complete(&self, bundle: &mut Bundle) {
        if self.covers_every_kind {
            bundle.cover_every_kind();
        }
    }

    fn take(&mut self, mut bundle: Bundle) {
        self.complete(&mut bundle);
        self.covers_every_kind = bundle.coverage.is_every_kind();
        // No answer shows more.
        let rejected = bundle.rejected.iter().take(FAULTS_SHOWN_MAX);
        let faults = rejected.map(|it| format!("report: {}: {}", it.pointer, it.error).into());
        self.report_faults = faults.collect();
        self.covered = Arc::new(bundle.covered_kinds());
        self.reported = Some(bundle.objects.into());
        self.rejected = bundle.rejected.into();
        self.coverage = bundle.coverage;
    }

    /// Judges the last report; verdicts on equal objects come from the memo.
    pub(crate) fn judge(&mut self, judge: Judge<'_>, now_ms: i64) {
        if let Some(siblings) = self.siblings() {
            self.verdicts = judge.judge(&siblings, now_ms);
        }
        if let Some(objects) = &mut self.reported {
            settle(objects);
        }
        self.show(now_ms);
    }

    /// Judges the objects affected by the next set, as far as the slice allows. The view stays. Returns
    /// whether all of them were judged.
    pub(crate) fn recheck(
        &mut self,
        goal: Judge<'_>,
        kinds: &mut Kinds<'_>,
        slice: &mut Slice,
        now_ms: i64,
    ) -> bool {
        let Some(objects) = &self.reported else {
            return true;
        };
        if self.recheck.is_none() && slice.is_spent() {
            return false;
        }
        let recheck = self.recheck.get_or_insert_with(|| {
            slice.count_lookups(objects.len());
            let siblings = Siblings::of(Arc::clone(objects)).covered(Arc::clone(&self.covered));
            Recheck::of(Arc::new(siblings), |gvk| kinds.are_affected(gvk))
        });
        while !recheck.is_done() && !slice.is_spent() {
            slice.count_judged(recheck.part(goal, slice.objects_max(), now_ms));
        }
        recheck.is_done()
    }

    /// Projects the verdicts of the next set. Returns the change of the view.
    pub(crate) fn commit_recheck(&mut self, now_ms: i64) -> ViewChange {
        let recheck = self.recheck.take().map(Recheck::into_verdicts);
        let verdicts = recheck.unwrap_or_default();
        let is_other = |(at, new): &(usize, Verdict)| self.verdicts.get(*at) != Some(new);
        let is_any = verdicts.iter().any(is_other);
        let change = self.replace(verdicts);
        if is_any {
            self.due = Due::of(&self.verdicts, now_ms);
        }
        if change > ViewChange::Nothing {
            self.project(now_ms);
        }
        change
    }

    /// Replaces verdicts at positions of the last report. Returns the change of the view, which is not
    /// projected yet.
    fn replace(&mut self, verdicts: impl IntoIterator<Item = (usize, Verdict)>) -> ViewChange {
        let mut change = ViewChange::Nothing;
        for (at, verdict) in verdicts {
            if let Some(shown) = self.verdicts.get_mut(at) {
                change = change.max(ViewChange::between(shown, &verdict));
                *shown = verdict;
            }
        }
        change
    }

    /// Discards the verdicts of the next set. Returns whether there were any.
    pub(crate) fn discard_recheck(&mut self) -> bool {
        self.recheck
            .take()
            .is_some_and(|recheck| recheck.is_begun())
    }

    /// The time of the next recheck, in Unix milliseconds.
    pub(crate) fn recheck_at_ms(&self) -> Option<i64> {
        self.due.next_ms()
    }

    /// Judges objects again that asked for it and are due, until the round is over. Returns the change of
    /// the view.
    pub(crate) fn recheck_due(
        &mut self,
        judge: Judge<'_>,
        began_ms: i64,
        clock: &dyn Fn() -> i64,
    ) -> ViewChange {
        let mut change = ViewChange::Nothing;
        let Some(objects) = self.reported.clone() else {
            return change;
        };
        let siblings = self.siblings().unwrap_or_default();
        while !due::is_over(began_ms, clock()) {
            let positions = self.due.take(began_ms);
            if positions.is_empty() {
                break;
            }
            let part = positions.iter().filter_map(|&at| objects.get(at));
            let part: Arc<[Object]> = part.cloned().collect();
            let verdicts = judge.judge_among(&part, &siblings, began_ms);
            for (&at, verdict) in positions.iter().zip(&verdicts) {
                self.due.add(at, verdict, began_ms);
            }
            change = change.max(self.replace(positions.into_iter().zip(verdicts)));
        }
        if change > ViewChange::Nothing {
            self.project(began_ms);
        }
        change
    }

    /// Marks the last report as stale, since the cluster cannot be reached. Returns whether that is new.
    pub(crate) fn unreachable(&mut self, cause: &ShownStaleness) -> bool {
        self.mark(|staleness| staleness.unreachable(cause))
    }

    /// Handles a complete listing of the cluster: it can be reached, and is silent on this app if it has not
    /// reported on it since the start. Returns whether that changes anything.
    pub(crate) fn synced(&mut self, now_ms: i64) -> bool {
        self.mark(|staleness| staleness.synced(now_ms))
    }

    /// Marks the last report as stale, since the cluster no longer reports on this app.
    pub(crate) fn gone(&mut self, now_ms: i64) -> bool {
        self.unreadable.clear();
        self.mark(|staleness| staleness.silent(now_ms))
    }

    /// Handles a report that cannot be used: the previous one stays, marked as stale if this may be newer,
    /// and the fault is published.
    pub(crate) fn fault(
        &mut self,
        origin: String,
        error: &str,
        may_be_newer: bool,
        now_ms: i64,
    ) -> bool {
        let fault: Arc<str> = format!("report `{origin}`: {error}").into();
        self.mark(|staleness| {
            if may_be_newer {
                staleness.unreadable(now_ms, &fault);
            }
            false
        });
        if self.unreadable.len() < FAULTS_SHOWN_MAX || self.unreadable.contains_key(&origin) {
            self.unreadable.insert(origin, fault);
        }
        self.mark(|_| true);
        // Without a report there is no projection to replace.
        if self.view.is_none() {
            self.project(now_ms);
        }
        true
    }

    /// Replaces the faults of the cluster as a whole. Returns whether that changes anything.
    pub(crate) fn set_cluster_faults(&mut self, faults: &Arc<[Arc<str>]>) -> bool {
        let is_new = self.cluster_faults != *faults;
        self.cluster_faults = Arc::clone(faults);
        self.mark(|_| is_new)
    }

    /// Replaces the staleness and the faults in the view, without projecting the resources again.
    fn mark(&mut self, mark: impl FnOnce(&mut Staleness) -> bool) -> bool {
        let is_new = mark(&mut self.staleness);
        if is_new && let Some(view) = &self.view {
            let view = view.with_report(self.report_state(), self.faults());
            let view = view.with_cluster_faults(Arc::clone(&self.cluster_faults));
            self.view = Some(Arc::new(view));
        }
        is_new
    }

    /// Projects new verdicts.
    fn show(&mut self, now_ms: i64) {
        self.due = Due::of(&self.verdicts, now_ms);
        self.project(now_ms);
    }

    fn project(&mut self, now_ms: i64) {
        let reported = self.reported.as_ref().map(|objects| Reported {
            objects: Arc::clone(objects),
            verdicts: self.verdicts.clone(),
            rejected: Arc::clone(&self.rejected),
            coverage: self.coverage.clone(),
            stale: self.staleness.shown(),
        });
        let input = ClusterInput {
            cluster: self.cluster.clone(),
            namespace: Arc::clone(&self.namespace),
            expected: self.manifests.expected.clone(),
            reported,
            faults: self.faults(),
        };
        let view = project(input, self.view.as_deref(), now_ms);
        let view = view.with_cluster_faults(Arc::clone(&self.cluster_faults));
        self.view = Some(Arc::new(view));
    }

    fn report_state(&self) -> Report {
        match &self.reported {
            None => Report::NotYet,
            Some(_) => Report::Received {
                stale: self.staleness.shown(),
            },
        }
    }

    fn faults(&self) -> Vec<Arc<str>> {
        let faults = self.manifests.faults.iter().chain(self.unreadable.values());
        faults.chain(&self.report_faults).cloned().collect()
    }
}

#[cfg(test)]
mod tests;
