//! HorizontalPodAutoscaler.
//!
//! The signals are the same as in Argo CD, but are read with their status (Argo CD only checks the
//! reasons). If the target cannot be scaled, this is a failure immediately. Metrics are missing for
//! minutes whenever Pods are new, so missing metrics are a failure only after a grace period
//! (argo-cd#6287). An invalid spec has no grace period. Ready requires both `AbleToScale` and
//! `ScalingActive`, while Argo CD requires one of them.
//!
//! If the controller can read only some metrics, it scales up by these metrics and does not scale
//! down. `ScalingActive` is False only while these metrics would scale down. So the object is
//! Degraded, whatever this condition is. Argo CD does not compare the metrics.
//!
//! If the spec is not reported, a status with metrics decides only if it is about the newest
//! generation. The controller of Kubernetes writes no generation, but other controllers may.
//!
//! v1 contains its conditions and its current metrics in annotations, as JSON text.

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

const V1_CURRENT_METRICS: &str = "autoscaling.alpha.kubernetes.io/current-metrics";

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
        .fields(&[
            "/metadata/annotations/autoscaling.alpha.kubernetes.io~1conditions",
            "/metadata/annotations/autoscaling.alpha.kubernetes.io~1current-metrics",
            "/spec/metrics/*/type",
            "/status/currentMetrics/*/type",
        ])
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
    let Some(conditions) = object.annotation(V1_CONDITIONS) else {
        let verdict = judge(object, grace_ms, now_ms);
        let is_open = verdict.state == READY && may_lack_metrics(object);
        return Ok(if is_open {
            standard::spec_not_reported()
        } else {
            verdict
        });
    };
    let metrics = object.annotation(V1_CURRENT_METRICS).unwrap_or("[]");
    let as_v2 =
        format!(r#"{{"status": {{"conditions": {conditions}, "currentMetrics": {metrics}}}}}"#);
    let verdict = Object::read(&as_v2, |v2| Ok(judge(v2, grace_ms, now_ms)));
    Ok(verdict.unwrap_or_else(|_| {
        Verdict::pending(
            "UnreadableConditions",
            "its annotations are not lists of conditions and metrics",
        )
    }))
}

/// Returns whether an active autoscaler may have more metrics than its status, because its spec is
/// not reported.
/// A status about the newest generation has an entry for each metric of the spec, unless it has none.
fn may_lack_metrics(object: &Object<'_>) -> bool {
    let is_current = object.generation().is_some() && object.observed_generation().is_some();
    let metrics = object.at("/status/currentMetrics").items();
    let is_active = object.conditions().is_true("ScalingActive");
    !object.spec().is_object() && is_active && !is_current && metrics.len() > 0
}

fn judge(object: &Object<'_>, grace_ms: i64, now_ms: i64) -> Verdict {
    let conditions = object.conditions();
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
    let metrics = Metrics::of(object);
    match conditions.find("ScalingActive") {
        Some(active) if active.is_true() => metrics.unread().unwrap_or_else(|| {
            Verdict::ready(
                active.reason_or("ScalingActive"),
                active.message().to_owned(),
            )
            .since(active.since_ms())
        }),
        Some(active) if active.is_false() => inactive(active, metrics, grace_ms, now_ms),
        _ => Verdict::pending("WaitingForMetrics", "it has received no metrics yet"),
    }
}

fn inactive(active: Condition<'_>, metrics: Metrics, grace_ms: i64, now_ms: i64) -> Verdict {
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
    if metrics.read > 0 {
        return Verdict::degraded(reason, message).since(active.since_ms());
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

/// The number of metrics according to the spec and the status.
#[derive(Clone, Copy)]
struct Metrics {
    /// Metrics that the controller read. It writes an entry without a type for any other metric.
    read: usize,
    /// All metrics, or 0 if the controller read none on purpose: it needs no metrics while the
    /// number of replicas is 0 or outside the bounds.
    all: usize,
}

impl Metrics {
    fn of(object: &Object<'_>) -> Self {
        let current = object.at("/status/currentMetrics").items();
        let is_read = |metric: &Node<'_>| !metric.get("type").text_or_empty().is_empty();
        let reported = current.len();
        Self {
            read: current.filter(is_read).count(),
            all: match reported {
                0 => 0,
                // The spec may have changed after the controller wrote the status.
                reported => reported.max(object.at("/spec/metrics").items().len()),
            },
        }
    }

    /// Degraded, if the controller did not read all metrics.
    fn unread(self) -> Option<Verdict> {
        let Self { read, all } = self;
        let message =
            || format!("only {read} of its {all} metrics can be read, so it does not scale down");
        (read < all).then(|| Verdict::degraded("InvalidMetrics", message()))
    }
}
