//! Interpreter for the group `rbac.authorization.k8s.io`: roles and bindings, which take effect as
//! soon as they are stored and report no readiness.

use kindsight_sdk::prelude::*;

/// The interpreter.
pub struct Rbac;

const GROUP: &str = "rbac.authorization.k8s.io";

const KINDS: [&str; 4] = ["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"];

impl Interpreter for Rbac {
    fn describe() -> Description {
        let kinds = KINDS.map(|kind| Kind::new(GROUP, "*", kind).deletion_check());
        Description::new(GROUP, env!("CARGO_PKG_VERSION"), "Roles and their bindings")
            .kinds(kinds)
            .states(&[PRESENT, TERMINATING])
    }

    fn judge(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
        match object.kind() {
            kind if KINDS.contains(&kind) => Ok(standard::presence(object, input)),
            _ => Err(Failure::unsupported("another Kind of this group")),
        }
    }

    fn fixtures() -> Fixtures {
        fixtures!("fixtures")
    }
}

#[cfg(feature = "component")]
kindsight_sdk::export!(Rbac);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_holds() {
        kindsight_sdk::harness::check_fixtures::<Rbac>();
    }

    #[test]
    fn no_damage_makes_an_object_ready() {
        kindsight_sdk::harness::check_mutations::<Rbac>();
    }
}
