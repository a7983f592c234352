//! Interpreter for the core group: Pods, Services, volumes, Namespaces, Nodes, ReplicationController,
//! and the Kinds of that group that report no readiness.

mod namespace;
mod node;
mod persistent_volume;
mod persistent_volume_claim;
mod pod;
mod replication_controller;
mod service;

use kindsight_sdk::prelude::*;

/// The interpreter.
pub struct Core;

/// Kinds without readiness: Present as soon as they are stored.
const WITHOUT_READINESS: [&str; 8] = [
    "ConfigMap",
    "Secret",
    "ServiceAccount",
    "Endpoints",
    "Event",
    "LimitRange",
    "ResourceQuota",
    "PodTemplate",
];

impl Interpreter for Core {
    fn describe() -> Description {
        Description::new(
            "core",
            env!("CARGO_PKG_VERSION"),
            "Pods, Services, volumes, Namespaces, Nodes and the other Kinds of the core group",
        )
        .kinds([
            pod::kind(),
            pod::deleted_kind(),
            service::kind(),
            persistent_volume_claim::kind(),
            persistent_volume::kind(),
            namespace::kind(),
            node::kind(),
            replication_controller::kind(),
        ])
        .kinds(WITHOUT_READINESS.map(|kind| Kind::new("", "*", kind).deletion_check()))
        .states(&ALL)
        .settings_schema(&settings_schema())
    }

    fn judge(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
        let rule = match object.kind() {
            "Pod" => return pod::rule(object, input),
            "ReplicationController" => return replication_controller::rule(object, input),
            "Service" => service::rule,
            "PersistentVolumeClaim" => persistent_volume_claim::rule,
            "PersistentVolume" => persistent_volume::rule,
            "Namespace" => namespace::rule,
            "Node" => node::rule,
            kind if WITHOUT_READINESS.contains(&kind) => standard::presence,
            _ => return Err(Failure::unsupported("another Kind of this group")),
        };
        Ok(rule(object, input))
    }

    fn fixtures() -> Fixtures {
        fixtures!("fixtures")
    }
}

#[cfg(feature = "component")]
kindsight_sdk::export!(Core);

/// The schema of the settings for Pods and for Services.
fn settings_schema() -> String {
    format!(
        r#"{{"type": "object", "additionalProperties": false, "properties": {{{}, {}}}}}"#,
        standard::pods::SETTINGS,
        service::SETTINGS
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_holds() {
        kindsight_sdk::harness::check_fixtures::<Core>();
    }

    #[test]
    fn no_damage_makes_an_object_ready() {
        kindsight_sdk::harness::check_mutations::<Core>();
    }

    #[test]
    fn an_undeclared_kind_is_declined() {
        let binding = r#"{"apiVersion": "v1", "kind": "Binding"}"#;
        let verdict = kindsight_sdk::harness::judge::<Core>(binding);
        assert!(matches!(verdict, Err(Failure::Unsupported(_))));
    }
}
