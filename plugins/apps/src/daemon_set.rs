//! DaemonSet.
//!
//! The same as in kstatus: a DaemonSet without `observedGeneration` was never observed. kstatus
//! also requires `metadata.generation`. Here, it is only compared if it is reported, because some
//! reporters omit it and the counts are sufficient. With OnDelete, the controller does not replace
//! Pods, so the count of updated Pods is ignored, but the other counts are not (Argo CD ignores all
//! counts).

use kindsight_sdk::prelude::*;
use kindsight_sdk::standard::pods::Workload;

use crate::{METADATA, count};

pub(crate) fn kind() -> Kind {
    Workload::kind(Kind::new("apps", "*", "DaemonSet"))
        .fields(&METADATA)
        .fields(&["/spec/updateStrategy/type", "/status"])
}

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
    let verdict = by_counts(object);
    let want = object.status_count("desiredNumberScheduled");
    let have = |field| object.status_count(field);
    let is_everywhere = have("currentNumberScheduled") >= want;
    let is_updated = have("updatedNumberScheduled") >= want;
    let working = have("numberAvailable").min(have("numberReady"));
    let mut workload = Workload::new(object, input, want);
    if is_everywhere && (is_updated || is_by_hand(object)) {
        workload = workload.short_of(want.saturating_sub(working));
    } else if !is_by_hand(object) {
        workload = workload.newest("controller-revision-hash", None);
    }
    workload.judge(verdict)
}

/// Returns whether Pods of an older template remain until a user deletes them.
fn is_by_hand(object: &Object<'_>) -> bool {
    object.at("/spec/updateStrategy/type").text() == Some("OnDelete")
}

fn by_counts(object: &Object<'_>) -> Verdict {
    if let Some(verdict) = standard::checks(object) {
        return verdict;
    }
    if object.observed_generation().is_none() {
        let message = "the controller has not looked at it yet";
        return Verdict::pending("GenerationNotObserved", message);
    }
    let Some(want) = object.status().get("desiredNumberScheduled").integer() else {
        let message = "the controller has not counted the nodes yet";
        return Verdict::pending("NodesNotCounted", message);
    };
    short_of(object, want).unwrap_or_else(|| done(want))
}

fn short_of(object: &Object<'_>, want: i64) -> Option<Verdict> {
    let by_hand = is_by_hand(object);
    let checks = [
        ("currentNumberScheduled", "Scheduling", "scheduled"),
        ("updatedNumberScheduled", "RollingOut", "updated"),
        ("numberAvailable", "Unavailable", "available"),
        ("numberReady", "NotReady", "ready"),
    ];
    let relevant = checks
        .iter()
        .filter(|(field, ..)| !(by_hand && *field == "updatedNumberScheduled"));
    for (field, reason, what) in relevant {
        let have = object.status_count(field);
        if have < want {
            return Some(Verdict::pending(*reason, count(have, want, what)));
        }
    }
    None
}

fn done(want: i64) -> Verdict {
    match want {
        0 => Verdict::ready("NoMatchingNodes", "no node matches"),
        _ => Verdict::ready("RolledOut", count(want, want, "available")),
    }
}
