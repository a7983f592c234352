//! Interpreter for the group `certificates.k8s.io`: CertificateSigningRequest.

mod certificate_signing_request;

use kindsight_sdk::prelude::*;

/// The interpreter.
pub struct Certificates;

impl Interpreter for Certificates {
    fn describe() -> Description {
        Description::new(
            "certificates.k8s.io",
            env!("CARGO_PKG_VERSION"),
            "CertificateSigningRequests",
        )
        .kind(certificate_signing_request::kind())
        .states(&[READY, PENDING, FAILED, TERMINATING])
    }

    fn judge(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
        match object.kind() {
            "CertificateSigningRequest" => Ok(certificate_signing_request::rule(object, input)),
            _ => Err(Failure::unsupported("another Kind of this group")),
        }
    }

    fn fixtures() -> Fixtures {
        fixtures!("fixtures")
    }
}

#[cfg(feature = "component")]
kindsight_sdk::export!(Certificates);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_holds() {
        kindsight_sdk::harness::check_fixtures::<Certificates>();
    }

    #[test]
    fn no_damage_makes_an_object_ready() {
        kindsight_sdk::harness::check_mutations::<Certificates>();
    }
}
