//! DaemonSet.
//!
//! The same as in kstatus: a DaemonSet without `observedGeneration` was never observed. kstatus
//! also requires `metadata.generation`. Here, it is only compared if it is reported, because some
//! reporters omit it and the counts are sufficient. With OnDelete, the controller does not replace
//! Pods, so a DaemonSet with old Pods is Ready, and its message contains the number of updated Pods.
//! The other counts are compared (Argo CD ignores all counts).

use kindsight_sdk::prelude::*;
use kindsight_sdk::standard::pods::Workload;

use crate::{METADATA, count, kept_old};

pub(crate) fn kind() -> Kind {
    Workload::kind(Kind::new("apps", "*", "DaemonSet"))
        .fields(&METADATA)
        .fields(&["/spec/updateStrategy/type", "/status"])
}

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
    let verdict = by_counts(object, input);
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

fn by_counts(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    if let Some(verdict) = standard::checks(object, input) {
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
    short_of(object, want).unwrap_or_else(|| done(object, want))
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

fn done(object: &Object<'_>, want: i64) -> Verdict {
    let updated = object.status_count("updatedNumberScheduled");
    match want {
        0 => Verdict::ready("NoMatchingNodes", "no node matches"),
        _ if updated < want => Verdict::ready("OnDelete", kept_old(want, "available", updated)),
        _ => Verdict::ready("RolledOut", count(want, want, "available")),
    }
}

#[cfg(test)]
mod tests {
    use kindsight_sdk::harness;

    use crate::Apps;

    #[test]
    fn the_message_of_a_daemon_set_that_keeps_old_pods_counts_the_updated_ones() {
        let table = [
            (
                0,
                "2 of 2 replicas are available, 0 of 2 are updated: \
                 OnDelete keeps old Pods until a user deletes them",
            ),
            (
                1,
                "2 of 2 replicas are available, 1 of 2 are updated: \
                 OnDelete keeps old Pods until a user deletes them",
            ),
            (2, "2 of 2 replicas are available"),
        ];
        for (updated, message) in table {
            let daemon_set = format!(
                r#"{{"apiVersion": "apps/v1", "kind": "DaemonSet",
                    "spec": {{"updateStrategy": {{"type": "OnDelete"}}}},
                    "status": {{"observedGeneration": 1, "desiredNumberScheduled": 2,
                    "currentNumberScheduled": 2, "updatedNumberScheduled": {updated},
                    "numberAvailable": 2, "numberReady": 2}}}}"#
            );
            let verdict = harness::judge::<Apps>(&daemon_set).unwrap();
            assert_eq!((&*verdict.state, &*verdict.message), ("Ready", message));
        }
    }
}
