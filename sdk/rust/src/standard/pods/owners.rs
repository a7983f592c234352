//! Verdicts on workloads, from the state of their Pods.
//!
//! A workload is Degraded by recent restarts if they affect its only Pod, or more than one Pod and
//! at least a tenth of all. Otherwise its message contains their number.

mod fields;
mod restarted;

use std::cmp::Ordering;

use super::judge;
use super::trouble::{Grade, Trouble};
use crate::{Failure, Input, Kind, Object, RelatedSet, Relation, Verdict, states};
use fields::POD_FIELDS;
use restarted::{PodCount, RestartedPods};

/// Maximum number of Pods of one workload that are checked.
const PODS_MAX: u32 = 256;

/// A workload still works if at most one Pod in this number is missing. By default, a Deployment
/// permits the same share of unavailable Pods.
const FEW: i64 = 4;

/// The label of a Pod with the hash in the name of its ReplicaSet.
const TEMPLATE_HASH: &str = "pod-template-hash";

/// A workload: an object that owns Pods, which its selector finds.
///
/// Its own counts determine that it is healthy. If it is not, its Pods show the cause, before any
/// deadline of the workload itself.
pub struct Workload<'o, 'a, 'i> {
    object: &'o Object<'a>,
    input: &'o Input<'i>,
    /// Number of desired Pods.
    wanted: i64,
    /// True if the workload is complete except for a few Pods.
    works: bool,
    /// True if the workload runs failed Pods again, up to its own limit.
    retries: bool,
    /// The least problem of a Pod that changes the verdict on the workload.
    least: Grade,
    /// The label that identifies Pods of the newest template, and its value if it is known.
    revision: Option<(&'static str, Option<&'a str>)>,
}

impl<'o, 'a, 'i> Workload<'o, 'a, 'i> {
    /// Adds the Pods of a workload as the first of its related objects, the time, and its name.
    #[must_use]
    pub fn kind(kind: Kind) -> Kind {
        let selected = Relation::SelectedBy("/spec/selector");
        Self::with_pods(kind, selected).fields(&["/metadata/name"])
    }

    /// Adds the Pods of all workloads that an object owns, as the first of its related objects, and
    /// the time. The workloads themselves must be a later rule, whose objects are passed to
    /// [`Self::new`].
    #[must_use]
    pub fn owner_kind(kind: Kind) -> Kind {
        Self::with_pods(kind, Relation::Descendant)
    }

    fn with_pods(kind: Kind, relation: Relation) -> Kind {
        kind.uses_now()
            .related(("", "Pod"), relation, &POD_FIELDS, PODS_MAX)
    }

    /// Makes a workload with this number of desired Pods. Its Kind must be declared with
    /// [`Self::kind`], or the Kind of its owner with [`Self::owner_kind`].
    pub fn new(object: &'o Object<'a>, input: &'o Input<'i>, wanted: i64) -> Self {
        Self {
            object,
            input,
            wanted,
            works: false,
            retries: false,
            least: Grade::Crashing,
            revision: None,
        }
    }

    /// Sets whether the workload works and is complete except for some Pods. If so, problems of
    /// these Pods make it Degraded at worst.
    #[must_use]
    pub fn works(self, works: bool) -> Self {
        Self { works, ..self }
    }

    /// Declares that the rollout is complete, but this number of Pods is missing. If the number is
    /// small, the workload still works.
    #[must_use]
    pub fn short_of(self, missing: i64) -> Self {
        let works = missing.saturating_mul(FEW) <= self.wanted;
        self.works(works)
    }

    /// Declares that the workload runs failed Pods again, up to its own limit.
    #[must_use]
    pub fn retries(self) -> Self {
        Self {
            retries: true,
            least: Grade::Lasting,
            ..self
        }
    }

    /// Declares that containers which crash repeatedly matter, also if the workload runs failed Pods again.
    #[must_use]
    pub fn counts_crash_loops(self) -> Self {
        Self {
            least: Grade::Crashing,
            ..self
        }
    }

    /// Counts only Pods of the newest template: Pods whose label has this value. If the value is
    /// unknown, the value of the newest Pod is used.
    #[must_use]
    pub fn newest(self, label: &'static str, value: Option<&'a str>) -> Self {
        Self {
            revision: Some((label, value)),
            ..self
        }
    }

    /// Explains an unhealthy workload with the state of its Pods. A verdict other than Ready and
    /// Pending is not changed.
    ///
    /// # Errors
    /// [`Failure::InvalidSettings`], as in [`super::judge`].
    pub fn judge(&self, verdict: Verdict) -> Result<Verdict, Failure> {
        let is_open = verdict.state == states::READY || verdict.state == states::PENDING;
        let related = self.input.related(0);
        if !is_open || related.objects().next().is_none() || self.object.is_stale() {
            return Ok(verdict);
        }
        let mut judged = Vec::new();
        for pod in self.pods(related) {
            let verdict = judge(&pod, self.input)?;
            judged.push((pod, verdict));
        }
        let troubles: Vec<Trouble<'_>> = judged
            .iter()
            .filter_map(|(pod, verdict)| Trouble::of(pod, verdict))
            .collect();
        let is_sample =
            usize::try_from(related.total()).is_ok_and(|total| total > related.objects().len());
        let seen = if is_sample { " seen" } else { "" };
        let of = format!("{}{seen}", judged.len());
        let verdict = self.by_troubles(verdict, &troubles, judged.len(), &of);
        match RestartedPods::among(&judged) {
            Some(restarted) => {
                let pods = PodCount::new(judged.len(), is_sample, self.wanted);
                restarted.explain(verdict, &pods, self.input)
            }
            None => Ok(verdict),
        }
    }

    /// Adds the recent restarts of all Pods that an object owns, and nothing else about them, to a
    /// verdict by other evidence. For the owners of Kinds without a rule: whether they need all of
    /// their Pods is not known. The Kind must be declared with [`Self::owner_kind`].
    ///
    /// # Errors
    /// [`Failure::InvalidSettings`], as in [`super::judge`].
    pub fn with_restarts(verdict: Verdict, input: &Input<'_>) -> Result<Verdict, Failure> {
        let related = input.related(0);
        let is_kept = |pod: &Object<'_>| pod.metadata().get("deletionTimestamp").is_empty();
        let mut judged = Vec::new();
        for pod in related.objects().filter(is_kept) {
            let verdict = judge(&pod, input)?;
            judged.push((pod, verdict));
        }
        let Some(restarted) = RestartedPods::among(&judged) else {
            return Ok(verdict);
        };
        let is_sample =
            usize::try_from(related.total()).is_ok_and(|total| total > related.objects().len());
        restarted.explain(verdict, &PodCount::new(judged.len(), is_sample, 0), input)
    }

    fn by_troubles(
        &self,
        verdict: Verdict,
        troubles: &[Trouble<'_>],
        pods: usize,
        of: &str,
    ) -> Verdict {
        // The first of the worst Pods; `max_by` would return the last.
        let worst = troubles
            .iter()
            .rev()
            .max_by(|one, other| one.by_grade(other));
        let Some(worst) = worst else {
            return verdict;
        };
        let lasting = troubles
            .iter()
            .filter(|trouble| trouble.grade >= self.least)
            .count();
        let is_ready = verdict.state == states::READY;
        let state = match () {
            () if is_ready && lasting == 0 => None,
            () if is_ready || self.works => Some(states::DEGRADED),
            () if lasting.saturating_mul(4) > pods => Some(states::FAILED),
            () => Some(states::PENDING),
        };
        let mut verdict = match state {
            None => verdict,
            Some(state) => {
                let message = worst.message(troubles.len(), of);
                let reason = worst.verdict.reason.clone();
                Verdict::new(state, reason, message).since(worst.verdict.since_ms)
            }
        };
        let rechecks = troubles
            .iter()
            .filter_map(|trouble| trouble.verdict.recheck_at_ms);
        verdict.recheck_at_ms = rechecks.chain(verdict.recheck_at_ms).min();
        verdict
    }

    /// The Pods that count. Pods that have ended count only if there are too few others, because
    /// otherwise they were replaced.
    fn pods(&self, related: RelatedSet<'i>) -> Vec<Object<'i>> {
        let own = |pod: &Object<'_>| {
            let is_kept = pod.metadata().get("deletionTimestamp").is_empty();
            is_kept && phase(pod) != "Succeeded" && self.owns(pod)
        };
        let mut pods: Vec<Object<'i>> = related.objects().filter(own).collect();
        if let Some((label, value)) = self.revision {
            let newest = || {
                pods.iter()
                    .max_by(|one, other| by_age(one, other))?
                    .label(label)
            };
            let value = value.or_else(newest);
            pods.retain(|pod| value.is_none() || pod.label(label) == value);
        }
        let alive = pods.iter().filter(|pod| phase(pod) != "Failed").count();
        let is_short = i64::try_from(alive).is_ok_and(|alive| alive < self.wanted);
        if self.retries || !is_short {
            pods.retain(|pod| phase(pod) != "Failed");
        }
        pods
    }

    /// Returns whether the workload owns a Pod, as far as is reported, because its selector may
    /// match other Pods.
    fn owns(&self, pod: &Object<'_>) -> bool {
        let mut owners = pod.metadata().get("ownerReferences").items();
        let Some(owner) = owners.find(|owner| owner.get("controller").is_true()) else {
            return true;
        };
        let (kind, name) = (self.object.kind(), self.object.metadata().get("name"));
        let (Some(name), Some(owner_name)) = (name.text(), owner.get("name").text()) else {
            return true;
        };
        match owner.get("kind").text_or_empty() {
            "ReplicaSet" if kind == "Deployment" => {
                let hash = owner_name
                    .strip_prefix(name)
                    .and_then(|rest| rest.strip_prefix('-'));
                // The ReplicaSets of a Deployment with a longer name begin with this name too.
                hash.is_some_and(|hash| pod.label(TEMPLATE_HASH).is_none_or(|label| label == hash))
            }
            owner_kind => owner_kind == kind && owner_name == name,
        }
    }
}

fn phase<'a>(pod: &Object<'a>) -> &'a str {
    pod.status().get("phase").text_or_empty()
}

fn by_age(one: &Object<'_>, other: &Object<'_>) -> Ordering {
    let created = |pod: &Object<'_>| pod.metadata().get("creationTimestamp").time_ms();
    created(one).cmp(&created(other))
}
