//! Interpreter for the workloads of the Open Application Model (OAM): `ContainerizedWorkload` of the group `core.oam.dev`
//! and `PodSpecWorkload` of the group `standard.oam.dev`.
//!
//! Other Kinds of these groups are traits, scopes and definitions. A `WorkloadDefinition` may name any other Kind as a
//! workload, such as a Deployment. The interpreter of that Kind judges it.

mod deployment;
mod workload;

use kindsight_sdk::prelude::*;

/// The interpreter.
pub struct Oam;

/// The state of an object whose controller reports a failure and tries again.
const RETRYING: State = State::new(
    "Retrying",
    Phase::Pending,
    "The last attempt failed, and the controller tries again",
);

impl Interpreter for Oam {
    fn describe() -> Description {
        Description::new(
            "oam",
            env!("CARGO_PKG_VERSION"),
            "Workloads of the Open Application Model (OAM)",
        )
        .kinds([
            workload::kind("core.oam.dev", "ContainerizedWorkload"),
            workload::kind("standard.oam.dev", "PodSpecWorkload"),
        ])
        .states(&[
            READY,
            DEGRADED,
            PENDING,
            SUSPENDED,
            FAILED,
            TERMINATING,
            UNKNOWN,
            RETRYING,
        ])
        .settings_schema(standard::pods::SETTINGS_SCHEMA)
    }

    fn judge(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
        match object.kind() {
            "ContainerizedWorkload" | "PodSpecWorkload" => workload::rule(object, input),
            _ => Err(Failure::unsupported("another Kind of this group")),
        }
    }

    fn fixtures() -> Fixtures {
        fixtures!("fixtures")
    }
}

#[cfg(feature = "component")]
kindsight_sdk::export!(Oam);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_holds() {
        kindsight_sdk::harness::check_fixtures::<Oam>();
    }

    #[test]
    fn no_damage_makes_an_object_ready() {
        kindsight_sdk::harness::check_mutations::<Oam>();
    }
}
