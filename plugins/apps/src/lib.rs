//! Interpreter for the group `apps`: Deployment, StatefulSet, DaemonSet, ReplicaSet, and `ControllerRevision`,
//! which reports no readiness.

mod daemon_set;
mod deployment;
mod replica_set;
mod stateful_set;

use kindsight_sdk::prelude::*;

/// The interpreter.
pub struct Apps;

impl Interpreter for Apps {
    fn describe() -> Description {
        Description::new(
            "apps",
            env!("CARGO_PKG_VERSION"),
            "Deployments, StatefulSets, DaemonSets, ReplicaSets and ControllerRevisions",
        )
        .kinds([
            deployment::kind(),
            stateful_set::kind(),
            daemon_set::kind(),
            replica_set::kind(),
            Kind::new("apps", "*", "ControllerRevision").deletion_check(),
        ])
        .states(&[
            READY,
            PRESENT,
            DEGRADED,
            PENDING,
            SUSPENDED,
            FAILED,
            TERMINATING,
        ])
        .settings_schema(standard::pods::SETTINGS_SCHEMA)
    }

    fn judge(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
        let rule = match object.kind() {
            "Deployment" => deployment::rule,
            "StatefulSet" => stateful_set::rule,
            "DaemonSet" => daemon_set::rule,
            "ReplicaSet" => replica_set::rule,
            "ControllerRevision" => return Ok(standard::presence(object, input)),
            _ => return Err(Failure::unsupported("another Kind of this group")),
        };
        rule(object, input)
    }

    fn fixtures() -> Fixtures {
        fixtures!("fixtures")
    }
}

#[cfg(feature = "component")]
kindsight_sdk::export!(Apps);

/// Metadata fields that every rule of this group reads.
const METADATA: [&str; 3] = [
    "/metadata/deletionTimestamp",
    "/metadata/finalizers",
    "/metadata/generation",
];

/// "2 of 3 replicas are …".
fn count(have: i64, want: i64, what: &str) -> String {
    format!("{have} of {want} replicas are {what}")
}

/// The message of a workload with OnDelete that has old Pods. `what` is the property that all
/// replicas have.
fn kept_old(want: i64, what: &str, updated: i64) -> String {
    let count = count(want, want, what);
    format!(
        "{count}, {updated} of {want} are updated: OnDelete keeps old Pods until a user deletes them"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_holds() {
        kindsight_sdk::harness::check_fixtures::<Apps>();
    }

    #[test]
    fn no_damage_makes_an_object_ready() {
        kindsight_sdk::harness::check_mutations::<Apps>();
    }
}
