//! Roles of condition types: the meaning of their status.
//!
//! Only the name of a condition's type shows its polarity. The tables are taken from wrangler
//! (Rancher) and kubectl-status, merged with the 196 types in Argo CD's examples. A type is
//! compared word by word, without its domain.

use crate::evidence::Outweighed;
use crate::words::{entry, has, is_denied, is_negated, tokens};

/// The meaning of a condition's status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A summary of the object: True is ready.
    Summary,
    /// The same as [`Role::Summary`], but True means only that the object has ended.
    End,
    /// One aspect of the complete object. True is sufficient if there is no summary.
    Verdict,
    /// The same as [`Role::Verdict`], but False means that the object was refused.
    Acceptance,
    /// A step that must be True for the complete object, but is not sufficient.
    Step,
    /// A condition that must be True for a part of the object.
    Part,
    /// An abnormal condition: True is a failure.
    Abnormal,
    /// A transition: True means that a change is in progress.
    Transition,
    /// A pause: True means that the object was stopped on purpose.
    Pause,
    /// An unknown type.
    Other,
}

impl Role {
    /// Returns whether a condition of this role should be True.
    pub(crate) fn is_positive(self) -> bool {
        !matches!(
            self,
            Self::Abnormal | Self::Transition | Self::Pause | Self::Other
        )
    }
}

/// Roles of complete types, sorted.
const WHOLE: &[(&str, Role)] = &[
    ("accepted", Role::Acceptance),
    ("admitted", Role::Acceptance),
    ("available", Role::Summary),
    ("complete", Role::End),
    ("completed", Role::End),
    ("disabled", Role::Pause),
    ("finished", Role::End),
    ("halted", Role::Pause),
    ("healthy", Role::Summary),
    ("hibernated", Role::Pause),
    ("hibernation", Role::Pause),
    ("lastasyncoperation", Role::Step),
    ("notready", Role::Abnormal),
    ("paused", Role::Pause),
    ("ready", Role::Summary),
    ("resolvedrefs", Role::Acceptance),
    ("rollingupdate", Role::Transition),
    ("stopped", Role::Pause),
    ("succeeded", Role::Summary),
    ("suspended", Role::Pause),
    ("synced", Role::Acceptance),
];

/// Roles by the last word of a type, unless the complete type is listed; sorted.
const ENDINGS: &[(&str, Role)] = &[
    ("accepted", Role::Part),
    ("advertised", Role::Part),
    ("applied", Role::Part),
    ("available", Role::Part),
    ("bootstrapped", Role::Part),
    ("bound", Role::Part),
    ("cloning", Role::Transition),
    ("complete", Role::Part),
    ("completed", Role::Part),
    ("compliant", Role::Acceptance),
    ("configured", Role::Part),
    ("connected", Role::Part),
    ("created", Role::Part),
    ("creating", Role::Transition),
    ("date", Role::Verdict),
    ("deleting", Role::Transition),
    ("deployed", Role::Part),
    ("deploying", Role::Transition),
    ("discoverable", Role::Verdict),
    ("draining", Role::Transition),
    ("established", Role::Verdict),
    ("evicting", Role::Transition),
    ("generated", Role::Part),
    ("healthy", Role::Part),
    ("initialized", Role::Part),
    ("initializing", Role::Transition),
    ("installed", Role::Part),
    ("installing", Role::Transition),
    ("issuing", Role::Transition),
    ("launched", Role::Part),
    ("migrating", Role::Transition),
    ("pending", Role::Transition),
    ("preparing", Role::Transition),
    ("programmed", Role::Verdict),
    ("progress", Role::Transition),
    ("progressing", Role::Transition),
    ("promoted", Role::Part),
    ("provisioned", Role::Part),
    ("provisioning", Role::Transition),
    ("ready", Role::Part),
    ("reconciled", Role::Verdict),
    ("reconciling", Role::Transition),
    ("recovering", Role::Transition),
    ("registered", Role::Part),
    ("released", Role::Part),
    ("remediating", Role::Transition),
    ("resizing", Role::Transition),
    ("resolved", Role::Part),
    ("restarting", Role::Transition),
    ("restoring", Role::Transition),
    ("rolling", Role::Transition),
    ("scaling", Role::Transition),
    ("scheduled", Role::Part),
    ("starting", Role::Transition),
    ("stopping", Role::Transition),
    ("succeeded", Role::Part),
    ("success", Role::Part),
    ("synced", Role::Verdict),
    ("synchronized", Role::Verdict),
    ("terminating", Role::Transition),
    ("updating", Role::Transition),
    ("upgrading", Role::Transition),
    ("valid", Role::Acceptance),
    ("waiting", Role::Transition),
    // OrphanedResourceWarning.
    ("warning", Role::Other),
];

/// Words that make a type a failure at any position, unless it ends with a good word.
const ABNORMAL: &[&str] = &[
    "blocked",
    "conflict",
    "conflicted",
    "corrupt",
    "corrupted",
    "degraded",
    "denied",
    "error",
    "errored",
    "errors",
    "exceeded",
    "failed",
    "failure",
    "failures",
    "hung",
    "invalid",
    "mismatch",
    "missing",
    "orphan",
    "orphaned",
    "pressure",
    "problem",
    "rejected",
    "stalled",
    "terminal",
    "unavailable",
    "unhealthy",
    "unreachable",
    "unsupported",
    "violated",
];

/// Particles that follow the significant word: `ScalingUp`, `RollingOut`.
const PARTICLES: &[&str] = &["down", "out", "over", "up"];

/// Words of [`ABNORMAL`] for a failed attempt. A later attempt may have succeeded.
const ATTEMPTS: &[&str] = &[
    "error", "errored", "errors", "failed", "failure", "failures",
];

/// Words of [`ABNORMAL`] for a reference to a missing object, which may not be needed.
const REFERENCES: &[&str] = &["mismatch", "missing", "orphan", "orphaned"];

/// Words for the work of a controller, in types and reasons that report a pause.
const WORK: &[&str] = &[
    "reconcile",
    "reconciler",
    "reconciliation",
    "reconciling",
    "rollout",
    "sync",
    "synchronization",
    "syncing",
];

/// The role of a condition type.
pub(crate) fn role(name: &str) -> Role {
    let tokens = tokens(without_domain(name));
    let whole = tokens.concat();
    if let Some(role) = entry(WHOLE, whole.as_str()) {
        return role;
    }
    if pauses_work(&tokens) {
        return Role::Pause;
    }
    let mut from_the_end = tokens.iter().rev().map(String::as_str);
    let last = from_the_end.find(|token| !PARTICLES.contains(token));
    if let Some(role) = last.and_then(|last| entry(ENDINGS, last)) {
        return match role {
            // NoPodsReady and PartiallyAvailable mean that a change is in progress while they are
            // True.
            role if role.is_positive() && is_negated(&tokens) => Role::Transition,
            Role::Part if tokens.len() == 1 => Role::Step,
            role => role,
        };
    }
    let mut words = tokens.iter().map(String::as_str);
    if words.any(|word| has(ABNORMAL, word)) && !is_denied(&tokens) {
        Role::Abnormal
    } else {
        Role::Other
    }
}

/// The evidence that outweighs a failure in a condition of this type. Types of one word, such as
/// `Degraded`, are about the complete object and cannot be outweighed.
pub(crate) fn outweighed(name: &str) -> Outweighed {
    let tokens = tokens(without_domain(name));
    let abnormal = tokens.iter().map(String::as_str);
    let abnormal: Vec<_> = abnormal.filter(|token| has(ABNORMAL, token)).collect();
    let are_all = |words: &[&str]| abnormal.iter().all(|token| words.contains(token));
    // A quota or a webhook refuses Pods, as for the Kinds with their own rules.
    if tokens.len() < 2 || tokens.concat() == "replicafailure" {
        Outweighed::Never
    } else if !abnormal.is_empty() && are_all(REFERENCES) {
        Outweighed::ByHealth
    } else if are_all(ATTEMPTS) {
        Outweighed::ByCounts
    } else {
        Outweighed::Never
    }
}

/// Returns whether a reason reports that the controller's work on the object is paused.
pub(crate) fn is_pause_of_work(reason: &str) -> bool {
    // Fast path: most reasons do not contain these endings.
    let endings = ["aused", "AUSED", "uspended", "USPENDED"];
    endings.iter().any(|ending| reason.contains(ending)) && pauses_work(&tokens(reason))
}

/// True for `ReconciliationPaused`, but not for `PausedPodsMissing` or `ReconciliationNotPaused`.
fn pauses_work(tokens: &[String]) -> bool {
    let any = |words: &[&str]| tokens.iter().any(|token| words.contains(&token.as_str()));
    any(&["paused", "suspended"]) && any(WORK) && !any(ABNORMAL) && !is_negated(tokens)
}

fn without_domain(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_sorted() {
        assert!(WHOLE.is_sorted_by_key(|(word, _)| word));
        assert!(ENDINGS.is_sorted_by_key(|(word, _)| word));
        assert!(ABNORMAL.is_sorted());
    }

    #[test]
    fn a_type_says_how_to_read_it() {
        let table = [
            ("Ready", Role::Summary),
            ("Completed", Role::End),
            ("Accepted", Role::Acceptance),
            ("ACK.ResourceSynced", Role::Verdict),
            ("ResourcesUpToDate", Role::Verdict),
            ("Installed", Role::Step),
            ("example.com/statefulset-available", Role::Part),
            ("NotReady", Role::Abnormal),
            ("HasErrors", Role::Abnormal),
            ("NotDegraded", Role::Other),
            ("PartiallyFailed", Role::Abnormal),
            ("InvalidSpec", Role::Abnormal),
            ("CatalogSourcesUnhealthy", Role::Abnormal),
            ("ErrorHandlingReady", Role::Part),
            ("InstallPlanPending", Role::Transition),
            ("ScalingUp", Role::Transition),
            ("Paused", Role::Pause),
            ("ReconciliationPaused", Role::Pause),
            ("ReconcileSuspended", Role::Pause),
            ("ReconciliationNotPaused", Role::Other),
            ("PodsPaused", Role::Other),
            ("NoPodsReady", Role::Transition),
            ("PartiallyAvailable", Role::Transition),
            ("ContinuousArchiving", Role::Other),
            ("", Role::Other),
        ];
        for (name, expected) in table {
            assert_eq!(role(name), expected, "{name}");
        }
    }

    #[test]
    fn a_failure_of_one_attempt_weighs_less_than_one_of_the_whole() {
        let table = [
            ("Degraded", Outweighed::Never),
            ("Failed", Outweighed::Never),
            ("ReplicaFailure", Outweighed::Never),
            ("InvalidSpec", Outweighed::Never),
            ("CatalogSourcesUnhealthy", Outweighed::Never),
            ("example.com/FailedScale", Outweighed::ByCounts),
            ("PodsScheduledByQueue", Outweighed::ByCounts),
            ("InstallPlanMissing", Outweighed::ByHealth),
        ];
        for (name, expected) in table {
            assert_eq!(outweighed(name), expected, "{name}");
        }
    }
}
