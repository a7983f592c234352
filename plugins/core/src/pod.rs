//! Pod.
//!
//! The rule is in the SDK, because owners of Pods use it too. In addition, ten minutes after the
//! deletion time of a Pod without finalizers, the verdict names the Node whose kubelet has not
//! confirmed the deletion, and whether this Node exists. kstatus and Argo CD name no cause.

use kindsight_sdk::prelude::*;
use kindsight_sdk::standard::pods;

pub(crate) fn kind() -> Kind {
    Kind::new("", "*", "Pod")
        .standard_checks()
        .fields(&pods::FIELDS)
}

/// Pods that are being deleted. Only they request their Node, so that the other Pods do not depend
/// on it.
pub(crate) fn deleted_kind() -> Kind {
    kind()
        .when("/metadata/deletionTimestamp")
        .fields(&["/spec/nodeName"])
        .related(("", "Node"), Relation::Named("/spec/nodeName"), &[], 1)
}

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
    match without_confirmation(object, input) {
        Some(verdict) => Ok(verdict),
        None => pods::judge(object, input),
    }
}

/// Terminating, if the Pod waits for the kubelet of its Node. A Pod with finalizers waits for their
/// controllers, and a Pod without a Node for nothing.
fn without_confirmation(object: &Object<'_>, input: &Input<'_>) -> Option<Verdict> {
    let deletion = object.deletion()?;
    let node = object.at("/spec/nodeName").text_or_empty();
    if node.is_empty() || !deletion.finalizers.is_empty() {
        return None;
    }
    let nodes = input.related(0);
    let is_gone = nodes.coverage() == Coverage::Complete && nodes.total() == 0;
    let early = Verdict::terminating("Deleting", "being deleted");
    Some(standard::deletion_delayed_by(object, input, early, || {
        if is_gone {
            let message = format!(
                "its deletion is delayed for more than ten minutes: its Node {node} does not exist, so no kubelet confirms the deletion; `kubectl delete pod --force` deletes the Pod"
            );
            ("NodeNotFound".into(), message)
        } else {
            let message = format!(
                "its deletion is delayed for more than ten minutes: the kubelet of its Node {node} has not confirmed that its containers have ended"
            );
            ("NotConfirmedByKubelet".into(), message)
        }
    }))
}

#[cfg(test)]
mod tests {
    use kindsight_sdk::harness;

    use crate::Core;

    const UNSCHEDULABLE: &str = r#"{"apiVersion": "v1", "kind": "Pod",
        "metadata": {"creationTimestamp": "1970-01-01T00:01:00Z"},
        "status": {"phase": "Pending", "conditions": [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}}"#;

    #[test]
    fn an_unschedulable_pod_is_looked_at_again_when_its_grace_ends() {
        let verdict = harness::judge_at::<Core>(UNSCHEDULABLE, 74_999).unwrap();
        assert_eq!(verdict.state, "Pending");
        assert_eq!(verdict.recheck_at_ms, Some(75_000));
        let verdict = harness::judge_at::<Core>(UNSCHEDULABLE, 75_000).unwrap();
        assert_eq!(verdict.state, "Failed");
        assert_eq!(verdict.recheck_at_ms, None);
    }

    #[test]
    fn a_crash_is_forgotten_ten_minutes_after_it() {
        let pod = r#"{"apiVersion": "v1", "kind": "Pod", "status": {"phase": "Running",
            "containerStatuses": [{"name": "a", "ready": false, "state": {"running": {}},
            "lastState": {"terminated": {"exitCode": 1, "finishedAt": "1970-01-01T00:01:00Z"}}}]}}"#;
        let verdict = harness::judge_at::<Core>(pod, 659_999).unwrap();
        assert_eq!(verdict.state, "Failed");
        assert_eq!(verdict.recheck_at_ms, Some(660_000));
        let verdict = harness::judge_at::<Core>(pod, 660_000).unwrap();
        assert_eq!((&*verdict.state, &*verdict.reason), ("Pending", "NotReady"));
        assert_eq!(verdict.recheck_at_ms, None);
    }

    #[test]
    fn an_image_that_is_not_pulled_is_looked_at_again_when_its_grace_ends() {
        let pod = |times: &str| {
            format!(
                r#"{{"apiVersion": "v1", "kind": "Pod",
                    "metadata": {{"creationTimestamp": "1970-01-01T00:00:00Z"}},
                    "status": {{"phase": "Pending", {times} "containerStatuses": [{{"name": "a",
                    "state": {{"waiting": {{"reason": "ErrImagePull", "message": "no such host"}}}}}}]}}}}"#
            )
        };
        let scheduled = r#""conditions": [{"type": "PodScheduled", "status": "True",
            "lastTransitionTime": "1970-01-01T00:05:00Z"}],"#;
        let initialized = r#""startTime": "1970-01-01T00:05:00Z", "initContainerStatuses": [
            {"state": {"terminated": {"exitCode": 0, "finishedAt": "1970-01-01T00:10:00Z"}}}],"#;
        let table = [
            (pod(""), 60_000),
            (pod(scheduled), 360_000),
            (pod(initialized), 660_000),
        ];
        for (pod, deadline_ms) in table {
            let verdict = harness::judge_at::<Core>(&pod, deadline_ms - 1).unwrap();
            assert_eq!(
                (&*verdict.state, &*verdict.reason),
                ("Pending", "ErrImagePull")
            );
            assert_eq!(verdict.recheck_at_ms, Some(deadline_ms), "{pod}");
            let verdict = harness::judge_at::<Core>(&pod, deadline_ms).unwrap();
            assert_eq!(verdict.state, "Failed");
            assert_eq!(verdict.message, "container a: no such host");
        }
    }

    #[test]
    fn the_message_of_a_failed_pod_is_its_own_then_that_of_a_container() {
        let own = r#""message": "node was low on memory", "reason": "Evicted""#;
        let killed = r#""containerStatuses": [
            {"name": "a", "state": {"terminated": {"exitCode": 0, "message": "fine"}}},
            {"name": "b", "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}]"#;
        let said = r#""initContainerStatuses": [
            {"name": "i", "state": {"terminated": {"exitCode": "2", "message": "no such table"}}}]"#;
        let code = r#""containerStatuses": [
            {"name": "b", "state": {"terminated": {"exitCode": 3}}}]"#;
        let table = [
            (
                format!("{own}, {killed}"),
                "Evicted",
                "node was low on memory",
            ),
            (
                format!("{said}, {killed}"),
                "Error",
                "container i: no such table",
            ),
            (
                killed.to_owned(),
                "OOMKilled",
                "container b ran out of memory",
            ),
            (
                code.to_owned(),
                "Error",
                "container b ended with exit code 3",
            ),
        ];
        for (status, reason, message) in table {
            let pod = format!(
                r#"{{"apiVersion": "v1", "kind": "Pod", "status": {{"phase": "Failed", {status}}}}}"#
            );
            let verdict = harness::judge::<Core>(&pod).unwrap();
            assert_eq!((&*verdict.reason, &*verdict.message), (reason, message));
        }
    }

    #[test]
    fn only_waits_for_which_somebody_is_needed_fail_a_pod() {
        let table = [
            ("CrashLoopBackOff", "Failed"),
            ("ImagePullBackOff", "Failed"),
            ("ErrImageNeverPull", "Failed"),
            ("ErrImagePull", "Pending"),
            ("CreateContainerConfigError", "Failed"),
            ("InvalidImageName", "Failed"),
            ("ContainerCreating", "Pending"),
            ("PodInitializing", "Pending"),
        ];
        for (reason, state) in table {
            for list in ["initContainerStatuses", "containerStatuses"] {
                let pod = format!(
                    r#"{{"apiVersion": "v1", "kind": "Pod", "status": {{"phase": "Pending",
                        "{list}": [{{"name": "a", "state": {{"waiting": {{"reason": "{reason}"}}}}}}]}}}}"#
                );
                let verdict = harness::judge::<Core>(&pod).unwrap();
                assert_eq!(verdict.state, state, "{reason} in {list}");
            }
        }
    }
}
