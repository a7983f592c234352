//! Interpreter for the group `networking.k8s.io`: Ingress, also in its old group `extensions`, and
//! NetworkPolicy and `IngressClass`, which report no readiness, like `EndpointSlice` of
//! `discovery.k8s.io`.

mod ingress;

use kindsight_sdk::prelude::*;

/// The interpreter.
pub struct Networking;

const GROUP: &str = "networking.k8s.io";

impl Interpreter for Networking {
    fn describe() -> Description {
        let presence = |kind| Kind::new(GROUP, "*", kind).deletion_check();
        Description::new(
            GROUP,
            env!("CARGO_PKG_VERSION"),
            "Ingresses, NetworkPolicies, IngressClasses and EndpointSlices",
        )
        .kinds(ingress::kinds())
        .kinds(["NetworkPolicy", "IngressClass"].map(presence))
        .kinds([Kind::new("discovery.k8s.io", "*", "EndpointSlice").deletion_check()])
        .states(&[READY, PRESENT, DEGRADED, PENDING, FAILED, TERMINATING])
        .settings_schema(ingress::SETTINGS_SCHEMA)
    }

    fn judge(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
        match object.kind() {
            "Ingress" => Ok(ingress::rule(object, input)),
            "NetworkPolicy" | "IngressClass" | "EndpointSlice" => {
                Ok(standard::presence(object, input))
            }
            _ => Err(Failure::unsupported("another Kind of this group")),
        }
    }

    fn fixtures() -> Fixtures {
        fixtures!("fixtures")
    }
}

#[cfg(feature = "component")]
kindsight_sdk::export!(Networking);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_holds() {
        kindsight_sdk::harness::check_fixtures::<Networking>();
    }

    #[test]
    fn no_damage_makes_an_object_ready() {
        kindsight_sdk::harness::check_mutations::<Networking>();
    }
}
