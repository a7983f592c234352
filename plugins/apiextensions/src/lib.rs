//! Interpreter for the group `apiextensions.k8s.io`: CustomResourceDefinition.

mod custom_resource_definition;

use kindsight_sdk::prelude::*;

/// The interpreter.
pub struct ApiExtensions;

impl Interpreter for ApiExtensions {
    fn describe() -> Description {
        Description::new(
            "apiextensions.k8s.io",
            env!("CARGO_PKG_VERSION"),
            "CustomResourceDefinitions",
        )
        .kind(custom_resource_definition::kind())
        .states(&[READY, DEGRADED, PENDING, FAILED, TERMINATING])
    }

    fn judge(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
        match object.kind() {
            "CustomResourceDefinition" => Ok(custom_resource_definition::rule(object, input)),
            _ => Err(Failure::unsupported("another Kind of this group")),
        }
    }

    fn fixtures() -> Fixtures {
        fixtures!("fixtures")
    }
}

#[cfg(feature = "component")]
kindsight_sdk::export!(ApiExtensions);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_holds() {
        kindsight_sdk::harness::check_fixtures::<ApiExtensions>();
    }

    #[test]
    fn no_damage_makes_an_object_ready() {
        kindsight_sdk::harness::check_mutations::<ApiExtensions>();
    }
}
