//! Node.
//!
//! The condition `Ready`, as in kstatus, except that Unknown remains Unknown: the control plane has
//! lost the connection to the kubelet, so the state of the Node is not known. Cordoned is a reason
//! and not a state, because the Pods of the Node keep running.

use kindsight_sdk::prelude::*;

pub(crate) fn kind() -> Kind {
    Kind::new("", "*", "Node")
        .deletion_check()
        .fields(&["/spec/unschedulable", "/status/conditions"])
}

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    if let Some(verdict) = standard::deletion(object, input) {
        return verdict;
    }
    let Some(ready) = object.conditions().find("Ready") else {
        return Verdict::pending("NoConditionYet", "the kubelet has not reported yet");
    };
    let verdict = match ready.status() {
        ConditionStatus::True if object.at("/spec/unschedulable").is_true() => {
            Verdict::ready("Cordoned", "works, but is unschedulable for new Pods")
        }
        ConditionStatus::True => Verdict::ready("Ready", ready.message().to_owned()),
        ConditionStatus::False => {
            Verdict::pending(ready.reason_or("NotReady"), ready.message().to_owned())
        }
        ConditionStatus::Unknown => {
            Verdict::unknown(ready.reason_or("Unknown"), ready.message().to_owned())
        }
    };
    verdict.since(ready.since_ms())
}
