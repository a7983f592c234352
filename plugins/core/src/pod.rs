//! Pod.
//!
//! A failed Pod is Failed, with the message found as in Argo CD (kstatus calls it Current).
//! Containers that wait because of an error fail the Pod whatever its restart policy, and so do init
//! containers, which Argo CD leaves out. The first pulls of an image that fail do not: many pass when
//! they are tried again. A crash counts against a container that runs again for ten minutes; to Argo CD
//! it counts for ever. A running Pod that is expected to end, one of a Job or a
//! hook, is Pending although it is ready; any other is Ready when its condition is True, also with the
//! restart policies for which Argo CD waits forever. The 15 seconds for the scheduler are kstatus', but
//! begin when it refused the Pod, which may be long after its creation.

mod containers;

use containers::Stuck;
use kindsight_sdk::prelude::*;

/// Default of `unschedulableGraceSeconds`.
const UNSCHEDULABLE_GRACE_S: i64 = 15;

/// Default of `imagePullGraceSeconds`: three attempts of the kubelet.
const IMAGE_PULL_GRACE_S: i64 = 60;

pub(crate) const SETTINGS_SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "unschedulableGraceSeconds": {
      "type": "integer",
      "minimum": 0,
      "default": 15,
      "description": "Seconds that a Pod may be unschedulable before it is Failed; set more where nodes are added on demand."
    },
    "imagePullGraceSeconds": {
      "type": "integer",
      "minimum": 0,
      "default": 60,
      "description": "Seconds after its containers could start that a Pod may fail to pull an image before it is Failed; back-off is Failed at once."
    }
  },
  "additionalProperties": false
}"#;

/// Annotations of Pods that a deployment tool runs once.
const HOOKS: [&str; 2] = ["argocd.argoproj.io/hook", "helm.sh/hook"];

pub(crate) fn kind() -> Kind {
    Kind::new("", "*", "Pod")
        .uses_now()
        .fields(&standard::FIELDS)
        .fields(&[
            "/metadata/annotations/argocd.argoproj.io~1hook",
            "/metadata/annotations/helm.sh~1hook",
            "/metadata/creationTimestamp",
            "/metadata/ownerReferences",
            "/status/phase",
            "/status/reason",
            "/status/message",
            "/status/startTime",
            "/status/initContainerStatuses",
            "/status/containerStatuses",
        ])
}

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
    if let Some(verdict) = standard::checks(object) {
        return Ok(verdict);
    }
    let status = object.status();
    let message = status.get("message").text_or_empty();
    let stuck = containers::stuck(status);
    Ok(match (status.get("phase").text_or_empty(), stuck) {
        ("Succeeded", _) => Verdict::succeeded("Completed", "every container succeeded"),
        ("Failed", _) => containers::failure(status),
        ("Unknown", _) => Verdict::unknown("NodeLost", message),
        (_, Some(stuck)) if stuck.may_pass() => return image_not_pulled(object, stuck, input),
        (_, Some(stuck)) => Verdict::failed(stuck.reason, stuck.message()),
        ("Running", None) => running(object, input.now_ms()),
        ("Pending", None) => return pending(object, input),
        ("", None) => Verdict::pending("NoPhaseYet", "it has no phase yet"),
        (other, None) => Verdict::unknown("UnknownPhase", format!("its phase is {other}")),
    })
}

/// Pending within the grace period, then Failed. Pending too where no time tells that it is not the first
/// attempt: if the next ones fail as well, the kubelet says that it backs off.
fn image_not_pulled(
    object: &Object<'_>,
    stuck: Stuck<'_>,
    input: &Input<'_>,
) -> Result<Verdict, Failure> {
    let grace_ms = input.setting_ms("imagePullGraceSeconds", IMAGE_PULL_GRACE_S)?;
    let (reason, message) = (stuck.reason, stuck.message());
    Ok(match could_start_ms(object).max(stuck.ended_ms()) {
        Some(start_ms) => {
            let deadline_ms = start_ms.saturating_add(grace_ms);
            Verdict::pending_until(deadline_ms, input.now_ms(), reason, message)
        }
        None => Verdict::pending(reason, message),
    })
}

/// Conditions of a Pod that become True before its containers start.
const BEFORE_START: [&str; 3] = ["PodScheduled", "PodReadyToStartContainers", "Initialized"];

/// The last known moment before its containers could start, in Unix milliseconds.
fn could_start_ms(object: &Object<'_>) -> Option<i64> {
    let conditions = object.conditions();
    let steps = BEFORE_START.iter().filter_map(|name| {
        let step = conditions.find(name).filter(Condition::is_true)?;
        step.since_ms()
    });
    let others = [
        object.at("/metadata/creationTimestamp").time_ms(),
        object.at("/status/startTime").time_ms(),
        containers::init_ended_ms(object.status()),
    ];
    steps.chain(others.into_iter().flatten()).max()
}

fn running(object: &Object<'_>, now_ms: i64) -> Verdict {
    let ready = object.conditions().find("Ready");
    if ready.is_some_and(|ready| ready.is_true()) {
        return if is_expected_to_end(object) {
            Verdict::pending("Running", "it is running and expected to end")
        } else {
            Verdict::ready("Running", "")
        };
    }
    if let Some(verdict) = containers::crashed(object.status(), now_ms) {
        return verdict;
    }
    match ready {
        Some(ready) => Verdict::pending(ready.reason_or("NotReady"), ready.message()),
        None => Verdict::pending("NotReady", "it does not report that it is ready"),
    }
}

/// Returns whether the Pod is expected to end, as one of a Job or a hook.
fn is_expected_to_end(object: &Object<'_>) -> bool {
    let mut owners = object.metadata().get("ownerReferences").items();
    owners.any(|owner| {
        let group = owner.get("apiVersion").text_or_empty();
        owner.get("kind").text() == Some("Job") && group.starts_with("batch/")
    }) || HOOKS.iter().any(|hook| object.annotation(hook).is_some())
}

fn pending(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
    let conditions = object.conditions();
    if let Some(unscheduled) = conditions.find("PodScheduled").filter(Condition::is_false) {
        return match unscheduled.reason() {
            "SchedulingGated" => Ok(Verdict::suspended("SchedulingGated", unscheduled.message())),
            "Unschedulable" => unschedulable(object, unscheduled, input),
            _ => Ok(Verdict::pending(
                unscheduled.reason_or("NotScheduled"),
                unscheduled.message(),
            )),
        };
    }
    let message = conditions.find("Ready").map(|ready| ready.message());
    Ok(Verdict::pending("Starting", message.unwrap_or_default()))
}

/// Pending within the grace period, then Failed. The time runs from the moment the scheduler refused the
/// Pod, which may be long after its creation; Failed at once, as in kstatus, where no time is known.
fn unschedulable(
    object: &Object<'_>,
    unscheduled: Condition<'_>,
    input: &Input<'_>,
) -> Result<Verdict, Failure> {
    let grace_ms = input.setting_ms("unschedulableGraceSeconds", UNSCHEDULABLE_GRACE_S)?;
    let created_ms = object.at("/metadata/creationTimestamp").time_ms();
    let (reason, message) = ("Unschedulable", unscheduled.message());
    Ok(match unscheduled.since_ms().or(created_ms) {
        Some(since_ms) => {
            let deadline_ms = since_ms.saturating_add(grace_ms);
            Verdict::pending_until(deadline_ms, input.now_ms(), reason, message)
        }
        None => Verdict::failed(reason, message),
    })
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
