//! Interpreter: `ConfigMaps` that name a Lease. It requests objects of a Kind that is not watched
//! by default.

use kindsight_sdk::prelude::*;

/// The interpreter.
pub struct Leases;

impl Interpreter for Leases {
    fn describe() -> Description {
        let lease = ("coordination.k8s.io", "Lease");
        let kind = Kind::new("", "*", "ConfigMap").related(
            lease,
            Relation::Named("/data/lease"),
            &["/spec/holderIdentity"],
            1,
        );
        Description::new("leases", "1.0.0", "ConfigMaps that name a Lease")
            .kind(kind)
            .states(&[READY, PENDING, PRESENT])
    }

    fn judge(_: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
        let leases = input.related(0);
        let verdict = match leases.objects().next() {
            Some(lease) => {
                let holder = lease.at("/spec/holderIdentity").text_or_empty();
                Verdict::ready("Held", holder.to_owned())
            }
            None if leases.coverage() == Coverage::Complete => {
                Verdict::pending("NoLease", "nobody holds it")
            }
            None => Verdict::present("NotSearched", "the Leases are not known"),
        };
        Ok(verdict)
    }

    fn fixtures() -> Fixtures {
        fixtures!("fixtures")
    }
}

kindsight_sdk::export!(Leases);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_holds() {
        kindsight_sdk::harness::check_fixtures::<Leases>();
    }
}
