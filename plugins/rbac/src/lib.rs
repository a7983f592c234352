//! Interpreter for the group `rbac.authorization.k8s.io`: roles and bindings, which take effect as
//! soon as they are stored and report no readiness.

use kindsight_sdk::prelude::*;

/// The interpreter.
pub struct Rbac;

const GROUP: &str = "rbac.authorization.k8s.io";

const KINDS: [&str; 4] = ["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"];

impl Interpreter for Rbac {
    fn describe() -> Description {
        let kinds =
            KINDS.map(|kind| Kind::new(GROUP, "*", kind).fields(&standard::DELETION_FIELDS));
        Description::new(GROUP, env!("CARGO_PKG_VERSION"), "Roles and their bindings")
            .kinds(kinds)
            .states(&[PRESENT, TERMINATING])
    }

    fn interpret(object: &Object<'_>, _: &Input<'_>) -> Result<Verdict, Failure> {
        match object.kind() {
            kind if KINDS.contains(&kind) => Ok(standard::presence(object)),
            _ => Err(Failure::Unsupported),
        }
    }

    fn fixtures() -> Vec<Fixture> {
        let object = |kind, body| {
            format!(r#"{{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "{kind}", {body}}}"#)
        };
        let deleted = r#""metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z"}"#;
        vec![
            Fixture::new("a role is present", "Present").object(&object("Role", r#""rules": []"#)),
            Fixture::new("a binding is present", "Present")
                .object(&object("ClusterRoleBinding", r#""subjects": []"#)),
            Fixture::new("a role with a deletion time is terminating", "Terminating")
                .object(&object("ClusterRole", deleted)),
        ]
    }
}

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
