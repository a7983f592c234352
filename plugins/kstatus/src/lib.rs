//! The rules of kstatus (`github.com/fluxcd/cli-utils/pkg/kstatus/status`), for teams whose tools
//! already decide by them.
//!
//! Current is Ready here, `InProgress` is Pending. An object that kstatus cannot read is Unknown. This
//! component is not part of the live set, because kstatus calls an object without evidence Current.

mod kinds;
mod workloads;

use kindsight_sdk::prelude::*;

/// The interpreter.
pub struct Kstatus;

/// Fields that every rule reads.
const COMMON: [&str; 4] = [
    "/metadata/deletionTimestamp",
    "/metadata/generation",
    "/status/conditions",
    "/status/observedGeneration",
];

impl Interpreter for Kstatus {
    fn describe() -> Description {
        let kind = |group: &str, kind: &str| Kind::new(group, "*", kind).fields(&COMMON);
        let mut description = Description::new(
            "kstatus",
            env!("CARGO_PKG_VERSION"),
            "Any Kind, by the rules of kstatus",
        )
        .kind(kind("*", "*"))
        .kind(kind("", "Pod").uses_now().fields(&kinds::POD_FIELDS))
        .kind(kind("", "Service").fields(&["/spec/type", "/spec/clusterIP"]))
        .kind(kind("", "PersistentVolumeClaim").fields(&["/status/phase"]))
        .kind(kind("batch", "Job").fields(&kinds::JOB_FIELDS))
        .kind(kind("apps", "StatefulSet").fields(&workloads::STATEFUL_SET_FIELDS));
        for group in ["apps", "extensions"] {
            description = description
                .kind(kind(group, "Deployment").fields(&workloads::DEPLOYMENT_FIELDS))
                .kind(kind(group, "ReplicaSet").fields(&workloads::REPLICA_SET_FIELDS))
                .kind(kind(group, "DaemonSet").fields(&workloads::DAEMON_SET_FIELDS));
        }
        description.states(&[READY, PENDING, FAILED, TERMINATING, UNKNOWN])
    }

    fn judge(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
        Ok(common(object)
            .or_else(|| of_kind(object, input))
            .or_else(|| by_ready_condition(object))
            .unwrap_or_else(|| current("nothing shows that it is not reconciled")))
    }

    fn fixtures() -> Fixtures {
        fixtures!("fixtures")
    }
}

kindsight_sdk::export!(Kstatus);

/// kstatus's Current.
fn current(message: impl Into<String>) -> Verdict {
    Verdict::ready("Current", message.into())
}

/// kstatus's `InProgress` because of a count that is below another.
fn fewer(reason: &'static str, what: &str, have: i64, want: i64) -> Option<Verdict> {
    (have < want).then(|| Verdict::pending(reason, format!("{what}: {have} of {want}")))
}

/// The entries of `status.conditions`, whatever their generation, as type, status, reason and
/// message.
fn conditions<'a>(object: &Object<'a>) -> impl Iterator<Item = [&'a str; 4]> {
    let conditions = object.status().get("conditions").items();
    conditions.map(|condition| {
        ["type", "status", "reason", "message"].map(|name| condition.get(name).text_or_empty())
    })
}

/// Deletion, the observed generation, Reconciling and Stalled, which come before every rule.
fn common(object: &Object<'_>) -> Option<Verdict> {
    if !object
        .at("/metadata/deletionTimestamp")
        .text_or_empty()
        .is_empty()
    {
        return Some(Verdict::terminating(
            "Deleting",
            "its deletion was requested",
        ));
    }
    let whole = |pointer: &str| {
        object
            .at(pointer)
            .number()
            .and_then(|digits| digits.parse().ok())
    };
    let (generation, observed): (Option<i64>, Option<i64>) = (
        whole("/metadata/generation"),
        whole("/status/observedGeneration"),
    );
    if let (Some(generation), Some(observed)) = (generation, observed)
        && generation != observed
    {
        let message = format!("generation {generation} is not observed yet, only {observed}");
        return Some(Verdict::pending("LatestGenerationNotObserved", message));
    }
    conditions(object).find_map(|condition| match condition {
        ["Reconciling", "True", reason, message] => Some(in_progress(reason, message)),
        ["Stalled", "True", reason, message] => Some(failed(reason, message)),
        _ => None,
    })
}

/// The value of the condition Ready, for Kinds without a rule.
fn by_ready_condition(object: &Object<'_>) -> Option<Verdict> {
    conditions(object).find_map(|condition| match condition {
        ["Ready", "True", ..] => Some(current("its condition Ready is True")),
        ["Ready", "False" | "Unknown", reason, message] => Some(in_progress(reason, message)),
        _ => None,
    })
}

/// `InProgress` with the texts of a condition.
fn in_progress(reason: &str, message: &str) -> Verdict {
    let reason = if reason.is_empty() {
        "InProgress"
    } else {
        reason
    };
    Verdict::pending(reason.to_owned(), message.to_owned())
}

/// Failed with the texts of a condition.
fn failed(reason: &str, message: &str) -> Verdict {
    let reason = if reason.is_empty() { "Failed" } else { reason };
    Verdict::failed(reason.to_owned(), message.to_owned())
}

/// The verdict of a rule for this Kind. kstatus has rules for the next Kinds alone.
fn of_kind(object: &Object<'_>, input: &Input<'_>) -> Option<Verdict> {
    match (object.group(), object.kind()) {
        ("", "Pod") => Some(kinds::pod(object, input)),
        ("", "Service") => Some(kinds::service(object)),
        ("", "PersistentVolumeClaim") => Some(kinds::persistent_volume_claim(object)),
        ("", "Secret" | "ConfigMap") | ("batch", "CronJob") => Some(current("it is always ready")),
        ("policy", "PodDisruptionBudget") => Some(current("its controller has observed it")),
        ("batch", "Job") => Some(kinds::job(object)),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            Some(kinds::custom_resource_definition(object))
        }
        ("apps", "StatefulSet") => Some(workloads::stateful_set(object)),
        ("apps" | "extensions", "Deployment") => Some(workloads::deployment(object)),
        ("apps" | "extensions", "ReplicaSet") => Some(workloads::replica_set(object)),
        ("apps" | "extensions", "DaemonSet") => Some(workloads::daemon_set(object)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_holds() {
        kindsight_sdk::harness::check_fixtures::<Kstatus>();
    }
}
