//! Verdicts of workloads, by their Pods.

use std::cmp::Ordering;

use super::trouble::{Grade, Trouble};
use crate::{Failure, Input, Kind, Object, RelatedSet, Relation, Verdict, states};

/// Pods of one workload that are looked at.
const PODS_MAX: u32 = 256;

/// Workloads with one Pod in so many that is not well are short of a few: as many as a Deployment may be
/// short of by default.
const FEW: i64 = 4;

/// The fields of Pods that the verdict on their owner depends on.
const POD_FIELDS: [&str; 32] = [
    "/metadata/annotations/argocd.argoproj.io~1hook",
    "/metadata/annotations/helm.sh~1hook",
    "/metadata/generation",
    "/metadata/ownerReferences/*/apiVersion",
    "/status/observedGeneration",
    "/metadata/creationTimestamp",
    "/metadata/deletionTimestamp",
    "/metadata/labels/controller-revision-hash",
    "/metadata/labels/pod-template-hash",
    "/metadata/ownerReferences/*/controller",
    "/metadata/ownerReferences/*/kind",
    "/metadata/ownerReferences/*/name",
    "/status/conditions/*/type",
    "/status/conditions/*/status",
    "/status/conditions/*/reason",
    "/status/conditions/*/message",
    "/status/conditions/*/lastTransitionTime",
    "/status/phase",
    "/status/reason",
    "/status/message",
    "/status/startTime",
    "/status/containerStatuses/*/name",
    "/status/containerStatuses/*/ready",
    "/status/containerStatuses/*/restartCount",
    "/status/containerStatuses/*/state/waiting",
    "/status/containerStatuses/*/state/terminated",
    "/status/containerStatuses/*/lastState/terminated",
    "/status/initContainerStatuses/*/name",
    "/status/initContainerStatuses/*/ready",
    "/status/initContainerStatuses/*/state/waiting",
    "/status/initContainerStatuses/*/state/terminated",
    "/status/initContainerStatuses/*/lastState/terminated",
];

/// A workload: an object that owns Pods, which its selector finds.
///
/// Its own counts decide that it is well. Its Pods tell why it is not, before any deadline of its own.
pub struct Workload<'o, 'a, 'i> {
    object: &'o Object<'a>,
    input: &'o Input<'i>,
    /// Pods that are desired.
    wanted: i64,
    /// True if it is complete but for a few Pods.
    works: bool,
    /// True if it runs Pods that failed again, up to a limit of its own.
    retries: bool,
    /// The label that tells Pods of the newest template, and its value where that is known.
    revision: Option<(&'static str, Option<&'a str>)>,
}

impl<'o, 'a, 'i> Workload<'o, 'a, 'i> {
    /// Adds the Pods of a workload, as the first of its related objects, the time, and its name.
    #[must_use]
    pub fn kind(kind: Kind) -> Kind {
        let selected = Relation::SelectedBy("/spec/selector");
        kind.uses_now().fields(&["/metadata/name"]).related(
            ("", "Pod"),
            selected,
            &POD_FIELDS,
            PODS_MAX,
        )
    }

    /// A workload that wants this many Pods, of its Kind declared with [`Self::kind`].
    pub fn new(object: &'o Object<'a>, input: &'o Input<'i>, wanted: i64) -> Self {
        Self {
            object,
            input,
            wanted,
            works: false,
            retries: false,
            revision: None,
        }
    }

    /// Says whether it works and is complete, apart from some Pods: then their troubles make it Degraded
    /// at worst.
    #[must_use]
    pub fn works(self, works: bool) -> Self {
        Self { works, ..self }
    }

    /// Says that its rollout is complete, and that it is short of so many of its Pods: it works where
    /// they are few.
    #[must_use]
    pub fn short_of(self, missing: i64) -> Self {
        let works = missing.saturating_mul(FEW) <= self.wanted;
        self.works(works)
    }

    /// Says that it runs Pods that failed again, up to a limit of its own.
    #[must_use]
    pub fn retries(self) -> Self {
        Self {
            retries: true,
            ..self
        }
    }

    /// Counts only Pods of the newest template: those whose label has this value, or where it is not
    /// known, that of the Pod that was created last.
    #[must_use]
    pub fn newest(self, label: &'static str, value: Option<&'a str>) -> Self {
        Self {
            revision: Some((label, value)),
            ..self
        }
    }

    /// Says with its Pods why it is not well; a verdict other than Ready and Pending remains.
    ///
    /// # Errors
    /// [`Failure::InvalidSettings`] as [`super::judge`].
    pub fn judge(&self, verdict: Verdict) -> Result<Verdict, Failure> {
        let is_open = verdict.state == states::READY || verdict.state == states::PENDING;
        let related = self.input.related(0);
        if !is_open || related.objects().next().is_none() || self.object.is_stale() {
            return Ok(verdict);
        }
        let pods = self.pods(related);
        let mut troubles = Vec::new();
        for pod in &pods {
            troubles.extend(Trouble::of(pod, self.input)?);
        }
        let of = match usize::try_from(related.total()) {
            Ok(total) if total > related.objects().len() => format!("{} seen", pods.len()),
            _ => pods.len().to_string(),
        };
        Ok(self.by_troubles(verdict, &troubles, pods.len(), &of))
    }

    fn by_troubles(
        &self,
        verdict: Verdict,
        troubles: &[Trouble<'_>],
        pods: usize,
        of: &str,
    ) -> Verdict {
        // The first of the worst; `max_by` would take the last.
        let worst = troubles
            .iter()
            .rev()
            .max_by(|one, other| one.by_grade(other));
        let Some(worst) = worst else {
            return verdict;
        };
        let least = if self.retries {
            Grade::Lasting
        } else {
            Grade::Crashing
        };
        let lasting = troubles.iter().filter(|it| it.grade >= least).count();
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
        let rechecks = troubles.iter().filter_map(|it| it.verdict.recheck_at_ms);
        verdict.recheck_at_ms = rechecks.chain(verdict.recheck_at_ms).min();
        verdict
    }

    /// The Pods that count. Those that have ended were replaced, unless there are too few others.
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

    /// Returns whether a Pod is one of its own, as far as is reported: a selector may match others.
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
            "ReplicaSet" if kind == "Deployment" => owner_name
                .strip_prefix(name)
                .is_some_and(|rest| rest.starts_with('-')),
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
