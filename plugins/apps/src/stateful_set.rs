//! StatefulSet.
//!
//! The same as in kstatus and `kubectl rollout status`. With OnDelete, the controller does not
//! replace Pods, so only the counts are compared. A partition excludes replicas from the update on
//! purpose. In both cases, the message contains the number of updated Pods, because old Pods may
//! remain.

use kindsight_sdk::prelude::*;
use kindsight_sdk::standard::pods::Workload;

use crate::{METADATA, count, kept_old};

/// The counts of the status that equal `replicas` after a rollout.
const COUNTS: [&str; 3] = ["updatedReplicas", "readyReplicas", "availableReplicas"];

pub(crate) fn kind() -> Kind {
    Workload::kind(Kind::new("apps", "*", "StatefulSet"))
        .fields(&METADATA)
        .fields(&["/spec/replicas", "/spec/updateStrategy", "/status"])
}

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
    let verdict = by_counts(object, input);
    let want = object.replicas();
    let want = want.unwrap_or_else(|| object.status_count("replicas"));
    let status = object.status();
    let newest = status.get("updateRevision").text();
    let is_rolled_out = status.get("currentRevision").text() == newest;
    let mut workload = Workload::new(object, input, want);
    if is_rolled_out && object.status_count("replicas") == want {
        let ready = object.status_count("readyReplicas");
        let available = status.get("availableReplicas").integer();
        let working = available.map_or(ready, |available| available.min(ready));
        workload = workload.short_of(want.saturating_sub(working));
    }
    if newest.is_some() && !keeps_old(object) {
        workload = workload.newest("controller-revision-hash", newest);
    }
    workload.judge(verdict)
}

/// Returns whether Pods of an older template remain on purpose.
fn keeps_old(object: &Object<'_>) -> bool {
    let strategy = object.at("/spec/updateStrategy");
    let partition = strategy.at("/rollingUpdate/partition").integer();
    strategy.get("type").text() == Some("OnDelete")
        || partition.is_some_and(|partition| partition > 0)
}

fn by_counts(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    if let Some(verdict) = standard::checks(object, input) {
        return verdict;
    }
    if object.observed_generation().unwrap_or(0) <= 0 {
        let message = "the controller has not looked at it yet";
        return Verdict::pending("GenerationNotObserved", message);
    }
    let Some(want) = object.replicas() else {
        return standard::by_status_alone(object, &COUNTS);
    };
    if let Some(verdict) = standard::fewer_than_sent(object, &COUNTS) {
        return verdict;
    }
    short_of(object, want).unwrap_or_else(|| rollout(object, want))
}

/// Pending, while the counts differ from the spec, regardless of the update strategy.
fn short_of(object: &Object<'_>, want: i64) -> Option<Verdict> {
    let total = object.status_count("replicas");
    let ready = object.status_count("readyReplicas");
    let available = object.status().get("availableReplicas").integer();
    if ready < want {
        return Some(Verdict::pending("NotReady", count(ready, want, "ready")));
    }
    if total > want {
        let message = format!("{total} replicas exist, {want} are desired");
        return Some(Verdict::pending("ScalingDown", message));
    }
    if total < want {
        return Some(Verdict::pending("ScalingUp", count(total, want, "created")));
    }
    let available = available.filter(|&available| available < want)?;
    let message = count(available, want, "available");
    Some(Verdict::pending("Unavailable", message))
}

fn rollout(object: &Object<'_>, want: i64) -> Verdict {
    let strategy = object.spec().get("updateStrategy");
    if strategy.get("type").text() == Some("OnDelete") {
        return on_delete(object, want);
    }
    let partition = strategy
        .at("/rollingUpdate/partition")
        .integer()
        .unwrap_or(0);
    let updated = object.status_count("updatedReplicas");
    if partition > 0 {
        let expected = (want - partition).max(0);
        return if updated < expected {
            Verdict::pending("RollingOut", count(updated, expected, "updated"))
        } else {
            Verdict::ready("PartitionRolledOut", count(updated, want, "updated"))
        };
    }
    let current = object.status_count("currentReplicas");
    if !has_one_revision(object) {
        return Verdict::pending("RollingOut", count(updated, want, "updated"));
    }
    if current < want {
        return Verdict::pending("RollingOut", count(current, want, "current"));
    }
    match want {
        0 => Verdict::ready("ScaledToZero", "no replicas are desired"),
        _ => Verdict::ready("RolledOut", count(want, want, "ready")),
    }
}

/// Ready, whether or not old Pods remain.
///
/// The controller never changes the current revision of an OnDelete `StatefulSet`. If both revisions
/// are equal, the template was reverted or never changed. Both counts then have the Pods of this
/// revision; an older controller may write only one of them.
fn on_delete(object: &Object<'_>, want: i64) -> Verdict {
    let has_revision = object.status().get("updateRevision").is_present();
    let [updated, current] =
        ["updatedReplicas", "currentReplicas"].map(|field| object.status_count(field));
    let updated = if has_revision && has_one_revision(object) {
        updated.max(current)
    } else {
        updated
    };
    let message = if updated < want {
        kept_old(want, "ready", updated)
    } else {
        count(want, want, "ready")
    };
    Verdict::ready("OnDelete", message)
}

/// Returns whether the controller reports no revision besides the newest one.
fn has_one_revision(object: &Object<'_>) -> bool {
    let [current, update] =
        ["currentRevision", "updateRevision"].map(|field| object.status().get(field).text());
    current == update
}

#[cfg(test)]
mod tests {
    use kindsight_sdk::harness;

    use crate::Apps;

    /// The message about three replicas, with the numbers of updated and of current ones.
    fn message(strategy: &str, (updated, current): (i64, i64), current_revision: &str) -> String {
        let stateful_set = format!(
            r#"{{"apiVersion": "apps/v1", "kind": "StatefulSet",
                "spec": {{"replicas": 3, "updateStrategy": {strategy}}},
                "status": {{"observedGeneration": 1, "replicas": 3, "readyReplicas": 3,
                "updatedReplicas": {updated}, "currentReplicas": {current}, "currentRevision": "{current_revision}",
                "updateRevision": "db-2"}}}}"#
        );
        let verdict = harness::judge::<Apps>(&stateful_set).unwrap();
        assert_eq!(verdict.state, "Ready");
        verdict.message.into_owned()
    }

    #[test]
    fn the_message_of_a_stateful_set_that_keeps_old_pods_counts_the_updated_ones() {
        let on_delete = r#"{"type": "OnDelete"}"#;
        let kept = |updated: i64| {
            format!(
                "3 of 3 replicas are ready, {updated} of 3 are updated: \
                 OnDelete keeps old Pods until a user deletes them"
            )
        };
        assert_eq!(message(on_delete, (1, 2), "db-1"), kept(1));
        let done = "3 of 3 replicas are ready";
        assert_eq!(message(on_delete, (3, 0), "db-1"), done);
        assert_eq!(message(on_delete, (3, 3), "db-2"), done);
        let reverted = message(on_delete, (1, 1), "db-2");
        assert_eq!(reverted, kept(1), "a Pod has the revision between");
        assert_eq!(message(on_delete, (0, 0), "db-2"), kept(0));
        let counted_once = message(on_delete, (0, 3), "db-2");
        assert_eq!(counted_once, done, "the controller omits a count");
        let partition = r#"{"type": "RollingUpdate", "rollingUpdate": {"partition": 3}}"#;
        assert_eq!(
            message(partition, (0, 3), "db-1"),
            "0 of 3 replicas are updated"
        );
    }
}
