//! Node.
//!
//! The condition `Ready`, as in kstatus, except that Unknown remains Unknown: the control plane has
//! lost the connection to the kubelet, so the state of the Node is not known. Cordoned is a reason
//! and not a state, because the Pods of the Node keep running.
//!
//! A ready Node that reports a shortage or no network is Degraded: the scheduler avoids it, and the
//! kubelet evicts Pods if memory or storage is short. A ready Node is also Degraded while
//! node-problem-detector reports a problem. kstatus does not read these conditions.

use kindsight_sdk::prelude::*;

/// Conditions of the kubelet and of the network that are True while a Node has a problem, although it
/// is ready.
const PROBLEMS: [&str; 4] = [
    "NetworkUnavailable",
    "MemoryPressure",
    "DiskPressure",
    "PIDPressure",
];

/// Conditions in the configurations of node-problem-detector. They are True while there is a problem.
const DETECTED: [&str; 14] = [
    "ContainerRuntimeUnhealthy",
    "CorruptDockerOverlay2",
    "CperHardwareErrorFatal",
    "DiskBadBlock",
    "FrequentContainerdRestart",
    "FrequentDockerRestart",
    "FrequentKubeletRestart",
    "FrequentUnregisterNetDevice",
    "KernelDeadlock",
    "KubeProxyUnhealthy",
    "KubeletUnhealthy",
    "NTPProblem",
    "ReadonlyFilesystem",
    "XfsShutdown",
];

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
    if let Some(problem) = problem(object).filter(|_| ready.is_true()) {
        let message = problem.message().to_owned();
        return Verdict::degraded(problem.name().to_owned(), message).since(problem.since_ms());
    }
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

/// The first condition that reports a problem of the Node.
fn problem<'a>(object: &Object<'a>) -> Option<Condition<'a>> {
    let conditions = object.conditions();
    let names = PROBLEMS.iter().chain(&DETECTED);
    let mut reported = names.filter_map(|name| conditions.find(name));
    reported.find(Condition::is_true)
}
