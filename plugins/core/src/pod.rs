//! Pod.
//!
//! A failed Pod is Failed, with the message found as in Argo CD (kstatus calls it Current).
//! Containers that wait because of an error fail the Pod whatever its restart policy, and so do init
//! containers, which Argo CD leaves out. A running Pod that is expected to end, one of a Job or a
//! hook, is Pending although it is ready; any other is Ready when its condition is True, also with the
//! restart policies for which Argo CD waits forever. The 15 seconds for the scheduler are kstatus'.

mod containers;

use kindsight_sdk::prelude::*;

/// Default of `unschedulableGraceSeconds`.
const UNSCHEDULABLE_GRACE_S: i64 = 15;

pub(crate) const SETTINGS_SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "unschedulableGraceSeconds": {
      "type": "integer",
      "minimum": 0,
      "default": 15,
      "description": "Seconds after its creation that a Pod may be unschedulable before it is Failed; set more where nodes are added on demand."
    }
  },
  "additionalProperties": false
}"#;

/// Annotations of Pods that a deployment tool runs once.
const HOOKS: [&str; 2] = ["argocd.argoproj.io/hook", "helm.sh/hook"];

pub(crate) fn kind() -> Kind {
    Kind::new("", "*", "Pod")
        .fields(&standard::FIELDS)
        .fields(&[
            "/metadata/annotations/argocd.argoproj.io~1hook",
            "/metadata/annotations/helm.sh~1hook",
            "/metadata/creationTimestamp",
            "/metadata/ownerReferences",
            "/status/phase",
            "/status/reason",
            "/status/message",
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
        (_, Some(verdict)) => verdict,
        ("Running", None) => running(object),
        ("Pending", None) => return pending(object, input),
        ("", None) => Verdict::pending("NoPhaseYet", "it has no phase yet"),
        (other, None) => Verdict::unknown("UnknownPhase", format!("its phase is {other}")),
    })
}

fn running(object: &Object<'_>) -> Verdict {
    let ready = object.conditions().find("Ready");
    if ready.is_some_and(|ready| ready.is_true()) {
        return if is_expected_to_end(object) {
            Verdict::pending("Running", "it is running and expected to end")
        } else {
            Verdict::ready("Running", "")
        };
    }
    if let Some(verdict) = containers::crashed(object.status()) {
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

/// Pending within the grace period, then Failed; Failed at once without a creation time.
fn unschedulable(
    object: &Object<'_>,
    unscheduled: Condition<'_>,
    input: &Input<'_>,
) -> Result<Verdict, Failure> {
    let grace_ms = input.setting_ms("unschedulableGraceSeconds", UNSCHEDULABLE_GRACE_S)?;
    let created_ms = object.at("/metadata/creationTimestamp").time_ms();
    let deadline_ms = created_ms.map(|created_ms| created_ms.saturating_add(grace_ms));
    let (reason, message) = ("Unschedulable", unscheduled.message());
    Ok(match deadline_ms {
        Some(deadline_ms) if input.now_ms() < deadline_ms => {
            Verdict::pending(reason, message).recheck_at(deadline_ms)
        }
        _ => Verdict::failed(reason, message),
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
            ("ErrImagePull", "Failed"),
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
