//! Troubles of Pods, for those who own them.

use std::cmp::Ordering;

use super::{containers, judge};
use crate::{Failure, Input, Object, Verdict, states};

/// Runs that ended, from which on a container crashes again and again.
const LOOP_RESTARTS: i64 = 2;

/// Effort it takes to mend a trouble; the worst is last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Grade {
    /// Time, as far as is known: a first crash, a grace period, a Pod that is replaced.
    Passing,
    /// Somebody, unless it is tried until it works: containers that crash again and again.
    Crashing,
    /// Somebody who changes something.
    Lasting,
}

/// A Pod that crashes, cannot be scheduled, cannot start or was evicted.
pub(super) struct Trouble<'a> {
    /// The Pod's name.
    pod: &'a str,
    /// The verdict on it.
    pub(super) verdict: Verdict,
    pub(super) grade: Grade,
}

impl<'a> Trouble<'a> {
    /// The trouble of a Pod, if it has any.
    pub(super) fn of(pod: &Object<'a>, input: &Input<'_>) -> Result<Option<Self>, Failure> {
        let verdict = judge(pod, input)?;
        Ok(grade(pod, &verdict).map(|grade| Self {
            pod: pod.metadata().get("name").text_or_empty(),
            verdict,
            grade,
        }))
    }

    /// "Pod web-7f9c is `ImagePullBackOff`: no such image (1 of 3)".
    pub(super) fn message(&self, troubled: usize, of: &str) -> String {
        let (pod, reason) = (self.pod, &self.verdict.reason);
        match &*self.verdict.message {
            "" => format!("Pod {pod} is {reason} ({troubled} of {of})"),
            message => format!("Pod {pod} is {reason}: {message} ({troubled} of {of})"),
        }
    }

    /// Compares by the grade alone.
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
        Some(stuck) if stuck.reason == "CrashLoopBackOff" => Grade::Crashing,
        None if status.get("phase").text() == Some("Running") => crash(pod),
        _ => Grade::Lasting,
    })
}

/// A single crash may be that of a container which starts before what it needs is there.
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
