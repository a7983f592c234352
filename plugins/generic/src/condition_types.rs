//! Roles of condition types: the meaning of their status.
//!
//! Only the name of a condition's type shows its polarity. The tables are taken from wrangler
//! (Rancher) and kubectl-status, merged with the 196 types in Argo CD's examples. A type is
//! compared word by word, without its domain.

mod tables;

use crate::evidence::Outweighed;
use crate::words::{entry, has, is_denied, is_negated, names_a_failure, tokens};
use tables::{ABNORMAL, ATTEMPTS, COUNTED, ENDINGS, PARTICLES, REFERENCES, WHOLE, WORK};

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
    /// A later operation that is possible while it is True. Neither status is evidence.
    Ability,
    /// An unknown type.
    Other,
}

impl Role {
    /// Returns whether a condition of this role should be True.
    pub(crate) fn is_positive(self) -> bool {
        !matches!(
            self,
            Self::Abnormal | Self::Transition | Self::Pause | Self::Ability | Self::Other
        )
    }
}

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
    if is_abnormal(&tokens) && !is_denied(&tokens) {
        Role::Abnormal
    } else {
        Role::Other
    }
}

/// Returns whether any word of a type is a failure.
fn is_abnormal(tokens: &[String]) -> bool {
    names_a_failure(tokens) || tokens.iter().any(|token| has(ABNORMAL, token))
}

/// The evidence that outweighs a failure in a condition of this type. Types of one word, such as
/// `Degraded`, are about the complete object and cannot be outweighed.
pub(crate) fn outweighed(name: &str) -> Outweighed {
    let tokens = tokens(without_domain(name));
    let abnormal = tokens.chunks(1).filter(|token| is_abnormal(token));
    let abnormal: Vec<_> = abnormal.flatten().map(String::as_str).collect();
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

/// Returns whether a type is about things that the counts in the status count. Full counts say
/// nothing about other types, such as `ContinuousArchiving`.
pub(crate) fn is_counted(name: &str) -> bool {
    let tokens = tokens(without_domain(name));
    tokens.iter().any(|token| has(COUNTED, token))
}

/// Returns whether a positive type is about the health of a part, such as `DatabaseHealthy`.
pub(crate) fn is_about_health(name: &str) -> bool {
    let tokens = tokens(without_domain(name));
    tokens.last().is_some_and(|last| last == "healthy")
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
    any(&["paused", "suspended"]) && any(WORK) && !is_abnormal(tokens) && !is_negated(tokens)
}

fn without_domain(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("Failing", Role::Abnormal),
            ("TimedOut", Role::Abnormal),
            ("Down", Role::Abnormal),
            ("NodeOffline", Role::Abnormal),
            ("ScaledDown", Role::Other),
            ("FailingOver", Role::Other),
            ("FaultTolerance", Role::Other),
            ("CrashRecoveryEnabled", Role::Other),
            ("Fallback", Role::Abnormal),
            ("OutOfSync", Role::Transition),
            ("Upgradeable", Role::Ability),
            ("ElasticsearchIsReachable", Role::Part),
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
