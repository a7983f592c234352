//! Interpreter for the group `apiregistration.k8s.io`: APIService.

mod api_service;

use kindsight_sdk::prelude::*;

/// The interpreter.
pub struct ApiRegistration;

impl Interpreter for ApiRegistration {
    fn describe() -> Description {
        Description::new(
            "apiregistration.k8s.io",
            env!("CARGO_PKG_VERSION"),
            "APIServices",
        )
        .kind(api_service::kind())
        .states(&[READY, PENDING, FAILED, TERMINATING])
    }

    fn judge(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
        match object.kind() {
            "APIService" => Ok(api_service::rule(object, input)),
            _ => Err(Failure::unsupported("another Kind of this group")),
        }
    }

    fn fixtures() -> Fixtures {
        fixtures!("fixtures")
    }
}

#[cfg(feature = "component")]
kindsight_sdk::export!(ApiRegistration);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_holds() {
        kindsight_sdk::harness::check_fixtures::<ApiRegistration>();
    }

    #[test]
    fn no_damage_makes_an_object_ready() {
        kindsight_sdk::harness::check_mutations::<ApiRegistration>();
    }
}
