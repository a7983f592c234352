//! One app in one cluster: what was sent there, what was reported, and how it fares.

use std::sync::Arc;

use kindsight_appcontext::{ClusterSnapshot, ResourceSnapshot};
use kindsight_model::{
    Bundle, ClusterName, ContextId, DeploymentId, Object, Verdict, decode_status,
};
use kindsight_status::{ClusterInput, ClusterView, Expected, Reported, project};

use crate::manifest;
use crate::road::affected::Kinds;
use crate::road::again::{Again, Slice};
use crate::road::known::By;

/// One app in one cluster.
pub(crate) struct Place {
    cluster: ClusterName,
    /// Where manifests go that name no namespace.
    namespace: Arc<str>,
    expected: Vec<Expected>,
    /// What is known comes from the store: the cluster has not spoken since the start.
    remembered: bool,
    /// What the cluster said last; none until it said something.
    reported: Option<Arc<[Object]>>,
    judged: Vec<Verdict>,
    /// When a verdict wants to be looked at again: the earliest.
    look_again_at_ms: Option<i64>,
    /// What the next set says of the last report; none where nobody has asked it.
    again: Option<Again>,
    /// Since when the cluster cannot be reached.
    unreachable_since_ms: Option<i64>,
    /// Since when the cluster does not report on this app any more; for what the store remembers,
    /// since the start.
    silent_since_ms: Option<i64>,
    /// What could not be read of the manifests.
    manifest_faults: Vec<Arc<str>>,
    /// What could not be read of the last report.
    report_faults: Vec<Arc<str>>,
    view: Option<Arc<ClusterView>>,
}

impl Place {
    /// From what the store holds. Not judged yet.
    pub(crate) fn new(
        snapshot: ClusterSnapshot,
        namespace: &Arc<str>,
        context: &ContextId,
        app: &Arc<str>,
    ) -> Self {
        let mut place = Self {
            cluster: snapshot.cluster,
            namespace: Arc::clone(namespace),
            expected: Vec::with_capacity(snapshot.resources.len()),
            remembered: false,
            reported: None,
            judged: Vec::new(),
            look_again_at_ms: None,
            again: None,
            unreachable_since_ms: None,
            silent_since_ms: None,
            manifest_faults: Vec::new(),
            report_faults: Vec::new(),
            view: None,
        };
        for resource in snapshot.resources {
            let expected = place.expect(&resource);
            place.expected.push(expected);
        }
        if let Some(json) = snapshot.bundle_status_json {
            let deployment = DeploymentId {
                context: context.clone(),
                app: Arc::clone(app),
            };
            match decode_status(deployment, json.as_bytes()) {
                Ok(bundle) => {
                    place.take_in(bundle);
                    place.remembered = true;
                }
                Err(error) => place
                    .report_faults
                    .push(format!("stored report: {error}").into()),
            }
        }
        place
    }

    /// What was sent. A manifest that cannot be read is said to be so; the resource stays.
    fn expect(&mut self, resource: &ResourceSnapshot) -> Expected {
        let ResourceSnapshot {
            name,
            kind,
            manifest,
            status,
        } = resource;
        match manifest.as_deref().map(manifest::object) {
            Some(Ok(object)) => return Expected::new(object, *status),
            Some(Err(why)) => {
                let fault = format!("manifest of {kind} {name}: {why}");
                self.manifest_faults.push(fault.into());
            }
            None => {}
        }
        Expected::without_manifest(name, kind, *status)
    }

    pub(crate) fn cluster(&self) -> &ClusterName {
        &self.cluster
    }

    /// How it fares; made when it is first judged.
    pub(crate) fn view(&self) -> Option<Arc<ClusterView>> {
        self.view.clone()
    }

    /// What the cluster said last; none until it said something.
    pub(crate) fn reported(&self) -> Option<&Arc<[Object]>> {
        self.reported.as_ref()
    }

    /// Takes in what the cluster reported and judges it. What the next set said of the report before
    /// is dropped; answers whether there was something.
    pub(crate) fn report(&mut self, bundle: Bundle, by: By<'_>, now_ms: i64) -> bool {
        let is_set_back = self.forget_again();
        self.unreachable_since_ms = None;
        self.silent_since_ms = None;
        self.remembered = false;
        self.take_in(bundle);
        self.judge(by, now_ms);
        is_set_back
    }

    fn take_in(&mut self, bundle: Bundle) {
        let rejected = bundle.rejected.iter();
        let faults = rejected.map(|it| format!("report: {}: {}", it.pointer, it.error).into());
        self.report_faults = faults.collect();
        self.reported = Some(bundle.objects.into());
    }

    /// Asks the interpreters; what they have said of equal objects before comes from the memo.
    pub(crate) fn judge(&mut self, by: By<'_>, now_ms: i64) {
        if let Some(objects) = &self.reported {
            self.judged = by.judge(objects, now_ms);
        }
        self.show(now_ms);
    }

    /// Asks the next set about what it may see differently, as far as the slice allows. What is shown
    /// stays. Answers whether all was asked.
    pub(crate) fn judge_again(
        &mut self,
        goal: By<'_>,
        kinds: &mut Kinds<'_>,
        slice: &mut Slice,
        now_ms: i64,
    ) -> bool {
        let Some(objects) = &self.reported else {
            return true;
        };
        if self.again.is_none() && slice.is_spent() {
            return false;
        }
        let again = self.again.get_or_insert_with(|| {
            slice.count_looks(objects.len());
            Again::of(objects, |gvk| kinds.are_affected(gvk))
        });
        while !again.is_done() && !slice.is_spent() {
            slice.count_judged(again.part(goal, slice.objects_max(), now_ms));
        }
        again.is_done()
    }

    /// Takes over what the next set said. Answers whether that changes anything.
    pub(crate) fn adopt(&mut self, now_ms: i64) -> bool {
        let again = self.again.take().map(Again::into_judged);
        let mut is_new = false;
        for (at, judged) in again.into_iter().flatten() {
            if let Some(shown) = self.judged.get_mut(at)
                && *shown != judged
            {
                *shown = judged;
                is_new = true;
            }
        }
        if is_new {
            self.show(now_ms);
        }
        is_new
    }

    /// Drops what the next set said. Answers whether there was something.
    pub(crate) fn forget_again(&mut self) -> bool {
        self.again.take().is_some_and(|again| again.is_begun())
    }

    /// When a verdict wants to be looked at again: the earliest.
    pub(crate) fn look_again_at_ms(&self) -> Option<i64> {
        self.look_again_at_ms
    }

    /// The cluster cannot be reached: its last word stays, marked. Answers whether that is new.
    pub(crate) fn unreachable(&mut self, now_ms: i64) -> bool {
        let is_new = begin(&mut self.unreachable_since_ms, now_ms);
        if is_new {
            self.project(now_ms);
        }
        is_new
    }

    /// The cluster has said all it has to say: it can be reached, and where it did not report on
    /// this app since the start it is silent. Answers whether that changes anything.
    pub(crate) fn synced(&mut self, now_ms: i64) -> bool {
        let was_unreachable = self.unreachable_since_ms.take().is_some();
        let fell_silent = self.remembered && begin(&mut self.silent_since_ms, now_ms);
        if was_unreachable || fell_silent {
            self.project(now_ms);
        }
        was_unreachable || fell_silent
    }

    /// The cluster stopped reporting on this app: its last word stays, marked, until it speaks again.
    pub(crate) fn gone(&mut self, now_ms: i64) -> bool {
        let is_new = begin(&mut self.silent_since_ms, now_ms);
        if is_new {
            self.project(now_ms);
        }
        is_new
    }

    /// The last report could not be read: what was said before stays, and this is said too.
    pub(crate) fn fault(&mut self, error: &str, now_ms: i64) -> bool {
        self.report_faults = vec![format!("report: {error}").into()];
        self.project(now_ms);
        true
    }

    /// Since when what is shown may be out of date, whatever the cause.
    fn stale_since_ms(&self) -> Option<i64> {
        let causes = [self.unreachable_since_ms, self.silent_since_ms];
        causes.into_iter().flatten().min()
    }

    /// Shows verdicts that are new.
    fn show(&mut self, now_ms: i64) {
        let judged = self.judged.iter();
        let times = judged.filter_map(|verdict| verdict.recheck_at_ms);
        self.look_again_at_ms = times.min();
        self.project(now_ms);
    }

    fn project(&mut self, now_ms: i64) {
        let reported = self.reported.as_ref().map(|objects| Reported {
            objects: Arc::clone(objects),
            verdicts: self.judged.clone(),
            stale_since_ms: self.stale_since_ms(),
        });
        let faults = self.manifest_faults.iter().chain(&self.report_faults);
        let input = ClusterInput {
            cluster: self.cluster.clone(),
            namespace: Arc::clone(&self.namespace),
            expected: self.expected.clone(),
            reported,
            faults: faults.cloned().collect(),
        };
        let view = project(input, self.view.as_deref(), now_ms);
        self.view = Some(Arc::new(view));
    }
}

/// Notes since when something is so; answers whether it was not so before.
fn begin(since_ms: &mut Option<i64>, now_ms: i64) -> bool {
    let is_new = since_ms.is_none();
    since_ms.get_or_insert(now_ms);
    is_new
}
