//! Interpreter for the group `policy`: PodDisruptionBudget.

mod pod_disruption_budget;

use kindsight_sdk::prelude::*;

/// The interpreter.
pub struct Policy;

impl Interpreter for Policy {
    fn describe() -> Description {
        Description::new("policy", env!("CARGO_PKG_VERSION"), "PodDisruptionBudgets")
            .kind(pod_disruption_budget::kind())
            .states(&[READY, PRESENT, PENDING, FAILED, TERMINATING])
    }

    fn judge(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
        match object.kind() {
            "PodDisruptionBudget" => Ok(pod_disruption_budget::rule(object, input)),
            _ => Err(Failure::unsupported("another Kind of this group")),
        }
    }

    fn fixtures() -> Fixtures {
        fixtures!("fixtures")
    }
}

#[cfg(feature = "component")]
kindsight_sdk::export!(Policy);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_holds() {
        kindsight_sdk::harness::check_fixtures::<Policy>();
    }

    #[test]
    fn no_damage_makes_an_object_ready() {
        kindsight_sdk::harness::check_mutations::<Policy>();
    }
}
