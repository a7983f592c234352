//! Pod. The rule is in the SDK, because owners of Pods use it too.

use kindsight_sdk::prelude::*;
use kindsight_sdk::standard::pods;

pub(crate) fn kind() -> Kind {
    Kind::new("", "*", "Pod")
        .standard_checks()
        .fields(&pods::FIELDS)
}

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
    pods::judge(object, input)
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
