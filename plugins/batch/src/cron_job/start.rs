//! Runs in progress whose Pods do not start.
//!
//! If the volume of a Pod cannot be mounted, the Pod waits and no container reports an error. If a
//! quota or an admission webhook refuses the Pod, the Job has none. Both problems may pass, so a run
//! has ten minutes, which include the first pull of an image.

use kindsight_sdk::prelude::*;

/// The position of the Pods of all Jobs among the related objects.
const PODS: usize = 0;

/// The time after the start of a Job until one of its Pods should start, in milliseconds.
const START_MS: i64 = 600_000;

/// Counts of a Job that has had a Pod that started or ended.
const BEGUN: [&str; 4] = ["failed", "ready", "succeeded", "terminating"];

/// Returns whether a Job waits on purpose, for example in the queue of a quota.
pub(super) fn is_suspended(job: &Object<'_>) -> bool {
    job.at("/spec/suspend").is_true()
}

/// Pending instead of Ready, if no Pod of one of these Jobs has started ten minutes after the start of
/// the Job. Before this time, `verdict` with a recheck at this time.
pub(super) fn judge(mut verdict: Verdict, active: &[Object<'_>], input: &Input<'_>) -> Verdict {
    let waiting = active.iter().filter_map(|job| Waiting::of(job, input));
    let Some(first) = waiting.min_by_key(|waiting| waiting.deadline_ms) else {
        return verdict;
    };
    if verdict.state != READY {
        return verdict;
    }
    let recheck_at_ms = verdict.recheck_at_ms;
    if first.deadline_ms <= input.now_ms() {
        let pending = Verdict::pending("RunNotStarted", first.message());
        return Verdict {
            recheck_at_ms,
            ..pending
        };
    }
    let deadline_ms = first.deadline_ms;
    verdict.recheck_at_ms = Some(recheck_at_ms.unwrap_or(deadline_ms).min(deadline_ms));
    verdict
}

/// A Job none of whose Pods has started yet.
struct Waiting<'a> {
    job: &'a str,
    has_pods: bool,
    deadline_ms: i64,
}

impl<'a> Waiting<'a> {
    /// `None` if a Pod has started, or if Pods or times are missing in the report.
    fn of(job: &Object<'a>, input: &Input<'_>) -> Option<Self> {
        let has_begun = BEGUN.iter().any(|field| job.status_count(field) > 0);
        if has_begun || is_suspended(job) {
            return None;
        }
        let name = job.metadata().get("name").text()?;
        let phases = phases(name, input);
        let are_reported =
            i64::try_from(phases.len()).is_ok_and(|pods| pods >= job.status_count("active"));
        let has_pods = !phases.is_empty();
        let are_pending = phases.iter().all(|phase| *phase == "Pending");
        let start = job.at("/status/startTime").time_ms();
        let start_ms = start.or_else(|| job.at("/metadata/creationTimestamp").time_ms())?;
        (are_reported && are_pending).then(|| Self {
            job: name,
            has_pods,
            deadline_ms: start_ms.saturating_add(START_MS),
        })
    }

    fn message(&self) -> String {
        let job = self.job;
        if self.has_pods {
            format!("no Pod of Job {job} has started within ten minutes after the start of the Job")
        } else {
            format!("Job {job} has no Pod, although it started more than ten minutes ago")
        }
    }
}

/// The phases of the Pods of a Job that are not being deleted.
fn phases<'i>(job: &str, input: &Input<'i>) -> Vec<&'i str> {
    let of_job = |pod: &Object<'_>| {
        let mut owners = pod.metadata().get("ownerReferences").items();
        owners.any(|owner| {
            owner.get("kind").text() == Some("Job") && owner.get("name").text() == Some(job)
        })
    };
    let is_kept = |pod: &Object<'_>| pod.metadata().get("deletionTimestamp").is_empty();
    let pods = input.related(PODS).objects();
    let pods = pods.filter(|pod| is_kept(pod) && of_job(pod));
    pods.map(|pod| pod.at("/status/phase").text_or_empty())
        .collect()
}
