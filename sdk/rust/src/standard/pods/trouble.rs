//! Problems of Pods, for the verdict on their owners.

use std::cmp::Ordering;

use super::containers;
use crate::{Object, Verdict, states};

/// Number of restarts from which a crashing container counts as crashing repeatedly.
pub(super) const LOOP_RESTARTS: i64 = 2;

/// The effort that solves a problem, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Grade {
    /// Only time, as far as is known: a first crash, a grace period, or a Pod that is being
    /// replaced.
    Passing,
    /// A change by a user, unless the workload retries until it works: containers that crash
    /// repeatedly.
    Crashing,
    /// A change by a user, also of a workload that retries: containers that do not start.
    Lasting,
}

/// A Pod that crashes, cannot be scheduled, cannot start or was evicted.
pub(super) struct Trouble<'p> {
    /// The Pod's name.
    pod: &'p str,
    /// The verdict on it.
    pub(super) verdict: &'p Verdict,
    pub(super) grade: Grade,
}

impl<'p> Trouble<'p> {
    /// The problem of a Pod with this verdict, if it has one.
    pub(super) fn of(pod: &Object<'p>, verdict: &'p Verdict) -> Option<Self> {
        let grade = grade(pod, verdict)?;
        Some(Self {
            pod: pod.metadata().get("name").text_or_empty(),
            verdict,
            grade,
        })
    }

    /// "Pod web-7f9c is `ImagePullBackOff`: no such image (1 of 3)".
    pub(super) fn message(&self, troubled: usize, of: &str) -> String {
        let (pod, reason) = (self.pod, &self.verdict.reason);
        match &*self.verdict.message {
            "" => format!("Pod {pod} is {reason} ({troubled} of {of})"),
            message => format!("Pod {pod} is {reason}: {message} ({troubled} of {of})"),
        }
    }

    /// Compares only the grades.
    pub(super) fn by_grade(&self, other: &Self) -> Ordering {
        self.grade.cmp(&other.grade)
    }
}

fn grade(pod: &Object<'_>, verdict: &Verdict) -> Option<Grade> {
    let status = pod.status();
    let state = verdict.state;
    if state == states::PENDING {
        let is_graced = matches!(&*verdict.reason, "ErrImagePull" | "Unschedulable");
        return is_graced.then_some(Grade::Passing);
    }
    if state != states::FAILED {
        return None;
    }
    if status.get("phase").text() == Some("Failed") {
        return Some(Grade::Passing);
    }
    Some(match containers::stuck(status) {
        Some(stuck) if stuck.reason == "CrashLoopBackOff" && !stuck.cannot_start() => {
            Grade::Crashing
        }
        None if status.get("phase").text() == Some("Running") => crash(pod),
        _ => Grade::Lasting,
    })
}

/// A container that starts before its dependencies may crash once.
fn crash(pod: &Object<'_>) -> Grade {
    let mut containers = pod.status().get("containerStatuses").items();
    let is_loop = containers.any(|container| {
        let restarts = container.get("restartCount").integer();
        restarts.is_some_and(|restarts| restarts >= LOOP_RESTARTS)
    });
    if is_loop {
        Grade::Crashing
    } else {
        Grade::Passing
    }
}
