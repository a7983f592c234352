//! Interpreter for the group `autoscaling`: HorizontalPodAutoscaler.

mod horizontal_pod_autoscaler;

use kindsight_sdk::prelude::*;

/// The interpreter.
pub struct Autoscaling;

impl Interpreter for Autoscaling {
    fn describe() -> Description {
        Description::new(
            "autoscaling",
            env!("CARGO_PKG_VERSION"),
            "HorizontalPodAutoscalers",
        )
        .kind(horizontal_pod_autoscaler::kind())
        .states(&[READY, DEGRADED, PENDING, FAILED, TERMINATING])
        .settings_schema(horizontal_pod_autoscaler::SETTINGS_SCHEMA)
    }

    fn judge(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
        match object.kind() {
            "HorizontalPodAutoscaler" => horizontal_pod_autoscaler::rule(object, input),
            _ => Err(Failure::unsupported("another Kind of this group")),
        }
    }

    fn fixtures() -> Fixtures {
        fixtures!("fixtures")
    }
}

#[cfg(feature = "component")]
kindsight_sdk::export!(Autoscaling);

#[cfg(test)]
mod tests {
    use kindsight_sdk::harness;

    use super::*;

    #[test]
    fn every_fixture_holds() {
        harness::check_fixtures::<Autoscaling>();
    }

    #[test]
    fn no_damage_makes_an_object_ready() {
        harness::check_mutations::<Autoscaling>();
    }

    #[test]
    fn metrics_that_fail_are_looked_at_again_when_their_grace_ends() {
        let hpa = r#"{"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "status": {"conditions": [{"type": "AbleToScale", "status": "True"},
                {"type": "ScalingActive", "status": "False", "reason": "FailedGetResourceMetric",
                "lastTransitionTime": "1970-01-01T00:00:10Z"}]}}"#;
        let verdict = harness::judge_at::<Autoscaling>(hpa, 309_999).unwrap();
        assert_eq!(verdict.state, "Pending");
        assert_eq!(verdict.recheck_at_ms, Some(310_000));
        let verdict = harness::judge_at::<Autoscaling>(hpa, 310_000).unwrap();
        assert_eq!(verdict.state, "Failed");
        assert_eq!(verdict.recheck_at_ms, None);
    }
}
