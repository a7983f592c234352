//! An interpreter that amends a built-in rule: a Deployment that its owner has parked is Suspended, and the built-in
//! rule judges every other Deployment.

use kindsight_rules::apps::Apps;
use kindsight_sdk::prelude::*;

/// The interpreter.
pub struct Parked;

/// The annotation of a parked Deployment.
const PARKED: &str = "example.com/parked";

impl Interpreter for Parked {
    fn describe() -> Description {
        Apps::describe()
            .renamed("parked", "1.0.0", "Deployments that may be parked")
            .only(&["Deployment"])
            .reading("Deployment", &["/metadata/annotations/example.com~1parked"])
    }

    fn judge(deployment: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
        if deployment.annotation(PARKED) == Some("true") {
            return Ok(Verdict::suspended("Parked", "its owner has parked it"));
        }
        Apps::judge(deployment, input)
    }

    fn fixtures() -> Fixtures {
        fixtures!("fixtures")
    }
}

kindsight_sdk::export!(Parked);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_holds() {
        kindsight_sdk::harness::check_fixtures::<Parked>();
    }
}
