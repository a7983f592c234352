//! HorizontalPodAutoscaler.
//!
//! The signals are the same as in Argo CD, but are read with their status (Argo CD only checks the
//! reasons). If the target cannot be scaled, this is a failure immediately. Metrics are missing for
//! minutes whenever Pods are new, so missing metrics are a failure only after a grace period
//! (argo-cd#6287). An invalid spec has no grace period. Ready requires both `AbleToScale` and
//! `ScalingActive`, while Argo CD requires one of them.
//!
//! v1 contains its conditions in an annotation, as JSON text.

use kindsight_sdk::prelude::*;

/// Default of `metricsGraceSeconds`.
const METRICS_GRACE_S: i64 = 300;

pub(crate) const SETTINGS_SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "metricsGraceSeconds": {
      "type": "integer",
      "minimum": 0,
      "default": 300,
      "description": "Seconds that a HorizontalPodAutoscaler may go without metrics before it is Failed."
    }
  },
  "additionalProperties": false
}"#;

const V1_CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";

/// Reasons of `ScalingActive` that require a change of the spec.
const WRONG_SPEC: [&str; 3] = [
    "InvalidSelector",
    "AmbiguousSelector",
    "InvalidMetricSourceType",
];

pub(crate) fn kind() -> Kind {
    Kind::new("autoscaling", "*", "HorizontalPodAutoscaler")
        .uses_now()
        .standard_checks()
        .fields(&["/metadata/annotations/autoscaling.alpha.kubernetes.io~1conditions"])
}

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
    if let Some(verdict) = standard::checks(object, input) {
        return Ok(verdict);
    }
    if !object.status().is_object() {
        return Ok(Verdict::pending(
            "NoStatusYet",
            "the controller has not looked at it yet",
        ));
    }
    let grace_ms = input.setting_ms("metricsGraceSeconds", METRICS_GRACE_S)?;
    let now_ms = input.now_ms();
    if let Some(annotation) = object.annotation(V1_CONDITIONS) {
        let as_status = format!(r#"{{"status": {{"conditions": {annotation}}}}}"#);
        let verdict = Object::read(&as_status, |v1| {
            Ok(judge(v1.conditions(), grace_ms, now_ms))
        });
        return Ok(verdict.unwrap_or_else(|_| {
            Verdict::pending(
                "UnreadableConditions",
                "its annotation is not a list of conditions",
            )
        }));
    }
    Ok(judge(object.conditions(), grace_ms, now_ms))
}

fn judge(conditions: Conditions<'_>, grace_ms: i64, now_ms: i64) -> Verdict {
    let Some(able) = conditions.find("AbleToScale") else {
        let message = "it does not report that it can scale its target";
        return Verdict::pending("WaitingToScale", message);
    };
    if able.is_false() && able.reason().starts_with("Failed") {
        return Verdict::failed(able.reason().to_owned(), able.message().to_owned())
            .since(able.since_ms());
    }
    if !able.is_true() {
        return Verdict::pending(able.reason_or("WaitingToScale"), able.message().to_owned());
    }
    match conditions.find("ScalingActive") {
        Some(active) if active.is_true() => Verdict::ready(
            active.reason_or("ScalingActive"),
            active.message().to_owned(),
        )
        .since(active.since_ms()),
        Some(active) if active.is_false() => inactive(active, grace_ms, now_ms),
        _ => Verdict::pending("WaitingForMetrics", "it has received no metrics yet"),
    }
}

fn inactive(active: Condition<'_>, grace_ms: i64, now_ms: i64) -> Verdict {
    let (reason, message) = (
        active.reason_or("ScalingInactive"),
        active.message().to_owned(),
    );
    if reason == "ScalingDisabled" {
        return Verdict::ready(reason, message);
    }
    if WRONG_SPEC.contains(&&*reason) {
        return Verdict::failed(reason, message);
    }
    match active.since_ms() {
        Some(since_ms) => {
            let deadline_ms = since_ms.saturating_add(grace_ms);
            Verdict::pending_until(deadline_ms, now_ms, reason, message).since(since_ms)
        }
        // The metrics may have been lost just now.
        None => Verdict::pending(reason, message),
    }
}
