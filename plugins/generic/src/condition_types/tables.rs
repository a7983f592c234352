//! Tables of condition types and of the words in them.

use super::Role;

/// Roles of complete types, sorted.
pub(super) const WHOLE: &[(&str, Role)] = &[
    ("accepted", Role::Acceptance),
    ("admitted", Role::Acceptance),
    ("available", Role::Summary),
    ("complete", Role::End),
    ("completed", Role::End),
    ("disabled", Role::Pause),
    // KEDA: False is usual, with the reason NoFallbackFound.
    ("fallback", Role::Abnormal),
    ("finished", Role::End),
    ("halted", Role::Pause),
    ("healthy", Role::Summary),
    ("hibernated", Role::Pause),
    ("hibernation", Role::Pause),
    ("lastasyncoperation", Role::Step),
    ("notready", Role::Abnormal),
    ("outofsync", Role::Transition),
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
pub(super) const ENDINGS: &[(&str, Role)] = &[
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
    ("consolidatable", Role::Ability),
    ("created", Role::Part),
    ("creating", Role::Transition),
    ("date", Role::Verdict),
    ("deletable", Role::Ability),
    ("deleting", Role::Transition),
    ("deployed", Role::Part),
    ("deploying", Role::Transition),
    ("discoverable", Role::Verdict),
    ("drainable", Role::Ability),
    ("draining", Role::Transition),
    // CrashRecoveryEnabled.
    ("enabled", Role::Other),
    ("established", Role::Verdict),
    ("evictable", Role::Ability),
    ("evicting", Role::Transition),
    ("generated", Role::Part),
    ("healthy", Role::Part),
    ("initialized", Role::Part),
    ("initializing", Role::Transition),
    ("installed", Role::Part),
    ("installing", Role::Transition),
    ("issuing", Role::Transition),
    ("launched", Role::Part),
    ("migratable", Role::Ability),
    ("migrating", Role::Transition),
    ("pending", Role::Transition),
    ("preparing", Role::Transition),
    ("programmed", Role::Verdict),
    ("progress", Role::Transition),
    ("progressing", Role::Transition),
    ("promoted", Role::Part),
    ("provisioned", Role::Part),
    ("provisioning", Role::Transition),
    ("reachable", Role::Part),
    ("ready", Role::Part),
    ("reconciled", Role::Verdict),
    ("reconciling", Role::Transition),
    ("recovered", Role::Other),
    ("recovering", Role::Transition),
    ("registered", Role::Part),
    ("released", Role::Part),
    ("remediating", Role::Transition),
    ("resizable", Role::Ability),
    ("resizing", Role::Transition),
    ("resolved", Role::Part),
    ("restarting", Role::Transition),
    ("restoring", Role::Transition),
    ("rolling", Role::Transition),
    ("scalable", Role::Ability),
    ("scaling", Role::Transition),
    ("scheduled", Role::Part),
    ("starting", Role::Transition),
    ("stopping", Role::Transition),
    ("succeeded", Role::Part),
    ("success", Role::Part),
    ("synced", Role::Verdict),
    ("synchronized", Role::Verdict),
    ("terminating", Role::Transition),
    ("updatable", Role::Ability),
    ("updating", Role::Transition),
    ("upgradable", Role::Ability),
    ("upgradeable", Role::Ability),
    ("upgrading", Role::Transition),
    ("valid", Role::Acceptance),
    ("waiting", Role::Transition),
    ("warn", Role::Other),
    // OrphanedResourceWarning.
    ("warning", Role::Other),
];

/// Words that make a type a failure at any position, in addition to all words for a failure, unless
/// it ends with a good word. As a state, they have another meaning or none.
pub(super) const ABNORMAL: &[&str] = &[
    "orphan",
    "orphaned",
    "pressure",
    "problem",
    "problems",
    "unavailable",
];

/// Particles that follow the significant word: `ScalingUp`, `RollingOut`.
pub(super) const PARTICLES: &[&str] = &["down", "out", "over", "up"];

/// Words for a failed attempt. A later attempt may have succeeded.
pub(super) const ATTEMPTS: &[&str] = &[
    "error", "errored", "errors", "failed", "failure", "failures",
];

/// Words for a reference to a missing object, which may not be needed.
pub(super) const REFERENCES: &[&str] = &["mismatch", "missing", "orphan", "orphaned"];

/// Words for the things that counts in the status count, and for a change of their number.
pub(super) const COUNTED: &[&str] = &[
    "instance",
    "instances",
    "pod",
    "pods",
    "replica",
    "replicas",
    "rollout",
    "scale",
    "scaling",
];

/// Words for the work of a controller, in types and reasons that report a pause.
pub(super) const WORK: &[&str] = &[
    "reconcile",
    "reconciler",
    "reconciliation",
    "reconciling",
    "rollout",
    "sync",
    "synchronization",
    "syncing",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_sorted() {
        assert!(WHOLE.is_sorted_by_key(|(word, _)| word));
        assert!(ENDINGS.is_sorted_by_key(|(word, _)| word));
        assert!(ABNORMAL.is_sorted());
        assert!(COUNTED.is_sorted());
    }
}
