//! One app in one cluster: its manifests, the cluster's report, and the verdicts on it.

mod absent;
mod found;
mod manifests;
mod marks;
mod rechecks;
mod seen;
mod settle;
mod staleness;
mod stored;
mod uncovered;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_appcontext::ClusterSnapshot;
use kindsight_interpreter::Siblings;
use kindsight_model::{
    Bundle, ClusterName, Coverage, CoveredKinds, DeploymentId, Object, Rejected, Verdict,
};
use kindsight_status::{
    ApplicationKey, ClusterInput, ClusterView, FAULTS_SHOWN_MAX, Reported, project,
};

use crate::application_state::ReportedObjects;
use crate::due::Due;
use crate::judge::Judge;
use crate::recheck::Recheck;
use found::Found;
use manifests::Manifests;
use settle::settle;
use staleness::Staleness;
use stored::Stored;
pub(crate) use uncovered::Uncovered;

/// One app in one cluster.
pub(crate) struct Placement {
    cluster: ClusterName,
    /// The namespace of manifests that name none.
    namespace: Arc<str>,
    manifests: Manifests,
    /// The last report; none until there was one.
    reported: Option<Arc<[Object]>>,
    /// Objects that its own name by a relation and that belong elsewhere: seen by rules, never shown.
    related: Arc<[Object]>,
    /// What is known from the store.
    stored: Stored,
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
    /// The part that only a placement of a found application has; none of a recorded one.
    found: Option<Found>,
    /// True if the view is of before the start, and nothing was reported since.
    is_remembered: bool,
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
        if stored.is_none() {
            placement.lose_stored(snapshot.is_bundle_damaged, now_ms);
        }
        let is_new = stored.is_some_and(|json| placement.take_stored(deployment, json, now_ms));
        // After it: which of the two is newer is not known, and what may be out of date must not look fresh.
        placement.take_connectivity(snapshot.connectivity, now_ms);
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
            related: Arc::default(),
            stored: Stored::default(),
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
            found: None,
            is_remembered: false,
        }
    }

    pub(crate) fn cluster(&self) -> &ClusterName {
        &self.cluster
    }

    /// Its view; none before it is first judged.
    pub(crate) fn view(&self) -> Option<Arc<ClusterView>> {
        self.view.clone()
    }

    /// The objects of the last report, as each other's related objects, with those beside them; none until
    /// there was one.
    fn siblings(&self) -> Option<Arc<Siblings>> {
        let siblings = Siblings::beside(self.reported.as_ref()?, &self.related);
        Some(Arc::new(siblings.covered(Arc::clone(&self.covered))))
    }

    /// The last report on an app of an application, for shadow runs; none until there was one.
    pub(crate) fn reported(&self, key: &ApplicationKey, app: &str) -> Option<ReportedObjects> {
        Some(ReportedObjects {
            placement: format!("{key}/{app}/{}", self.cluster),
            objects: Arc::clone(self.reported.as_ref()?),
            related: Arc::clone(&self.related),
            covered: Arc::clone(&self.covered),
        })
    }

    /// Handles a report of the cluster and judges it. Verdicts of the next set on the previous report are
    /// discarded; returns whether there were any.
    pub(crate) fn report(&mut self, bundle: Bundle, judge: Judge<'_>, now_ms: i64) -> bool {
        let is_set_back = self.discard_recheck();
        self.staleness = Staleness::default();
        self.unreadable.clear();
        self.stored.reported(Some(&bundle.status_json));
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
        self.report_faults = faults_of(&bundle.rejected);
        self.covered = Arc::new(bundle.covered_kinds());
        self.reported = Some(bundle.objects.into());
        self.related = Arc::default();
        self.rejected = bundle.rejected.into();
        self.coverage = bundle.coverage;
    }

    /// Judges the last report; verdicts on equal objects come from the memo.
    pub(crate) fn judge(&mut self, judge: Judge<'_>, now_ms: i64) {
        if let (Some(objects), Some(siblings)) = (&self.reported, self.siblings()) {
            self.verdicts = judge.judge_among(objects, &siblings, now_ms);
        }
        if let Some(objects) = &mut self.reported {
            settle(objects);
        }
        settle(&mut self.related);
        self.show(now_ms);
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
            hooks: self.found.as_ref().map_or_else(BTreeSet::new, Found::hooks),
            stale: self.staleness.shown(),
        });
        let input = ClusterInput {
            cluster: self.cluster.clone(),
            namespace: Arc::clone(&self.namespace),
            expected: self.manifests.expected.clone(),
            reported,
            unseen: self.unseen(),
            faults: self.faults(),
        };
        let view = project(input, self.view.as_deref(), now_ms);
        let view = view
            .with_cluster_faults(Arc::clone(&self.cluster_faults))
            .with_connectivity(self.connectivity());
        self.view = Some(Arc::new(view));
    }
}

/// Items of a report that could not be read, as text for people. No answer shows more.
fn faults_of(rejected: &[Rejected]) -> Vec<Arc<str>> {
    let rejected = rejected.iter().take(FAULTS_SHOWN_MAX);
    let faults = rejected.map(|it| format!("report: {}: {}", it.pointer, it.error).into());
    faults.collect()
}

#[cfg(test)]
mod tests;
