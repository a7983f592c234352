//! Interpreter for the group `k8s.plugin.opnfv.org` of Nodus (formerly ovn4nfv-k8s-plugin): the
//! networks and provider networks that EMCO deploys.

mod network;

use kindsight_sdk::prelude::*;

/// The interpreter.
pub struct Nodus;

const GROUP: &str = "k8s.plugin.opnfv.org";

impl Interpreter for Nodus {
    fn describe() -> Description {
        Description::new(
            GROUP,
            env!("CARGO_PKG_VERSION"),
            "Networks and provider networks of Nodus (ovn4nfv)",
        )
        .kinds(["Network", "ProviderNetwork"].map(network::kind))
        .states(&[READY, PENDING, FAILED, TERMINATING, UNKNOWN])
    }

    fn judge(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
        match object.kind() {
            "Network" => network::rule(object, input, "its logical switch exists"),
            "ProviderNetwork" => network::rule(
                object,
                input,
                "its logical switch exists, and the operator has informed the agents on the nodes, which report no result",
            ),
            _ => Err(Failure::unsupported("another Kind of this group")),
        }
    }

    fn fixtures() -> Fixtures {
        fixtures!("fixtures")
    }
}

#[cfg(feature = "component")]
kindsight_sdk::export!(Nodus);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_holds() {
        kindsight_sdk::harness::check_fixtures::<Nodus>();
    }

    #[test]
    fn no_damage_makes_an_object_ready() {
        kindsight_sdk::harness::check_mutations::<Nodus>();
    }

    #[test]
    fn another_kind_of_the_group_is_declined() {
        let chaining = r#"{"apiVersion": "k8s.plugin.opnfv.org/v1alpha1", "kind": "NetworkChaining",
            "status": {"state": "Created"}}"#;
        let verdict = kindsight_sdk::harness::judge::<Nodus>(chaining);
        assert!(matches!(verdict, Err(Failure::Unsupported(_))));
    }
}
