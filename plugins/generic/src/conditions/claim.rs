//! One condition.

use kindsight_sdk::prelude::*;

use crate::condition_types::{
    Role, is_about_health, is_counted, is_pause_of_work, outweighed, role,
};
use crate::evidence::{Evidence, Outweighed, Says};
use crate::words::{Meaning, meaning};

/// One condition, from a list or from a map by type.
#[derive(Clone, Copy)]
pub(super) struct Claim<'a> {
    pub(super) name: &'a str,
    pub(super) role: Role,
    pub(super) status: ConditionStatus,
    node: Node<'a>,
}

impl<'a> Claim<'a> {
    pub(super) fn new(name: &'a str, node: Node<'a>) -> Self {
        let role = role(name);
        let status = match node.get("status").flag().or_else(|| node.flag()) {
            Some(true) => ConditionStatus::True,
            Some(false) => ConditionStatus::False,
            // Some controllers list it only while it holds, for example Argo CD's Application.
            None if role == Role::Abnormal && is_without_status(node) => ConditionStatus::True,
            None => ConditionStatus::Unknown,
        };
        Self {
            name,
            role,
            status,
            node,
        }
    }

    /// Returns whether the status is a string, as the API requires, or is missing and the condition
    /// is not good evidence.
    pub(super) fn is_genuine(self) -> bool {
        let says_nothing_good = !self.role.is_positive() && is_without_status(self.node);
        self.node.get("status").text().is_some() || says_nothing_good
    }

    pub(super) fn is(self, status: ConditionStatus) -> bool {
        self.status == status
    }

    /// Returns whether the status is about the complete object.
    pub(super) fn is_summary(self) -> bool {
        matches!(self.role, Role::Summary | Role::End)
    }

    /// Returns whether a condition for a pause holds, and the pause is not the consequence of a
    /// failure (`PausedIOError`).
    pub(super) fn is_pause(self) -> bool {
        let is_failure = meaning(self.reason()) == Some(Meaning::Failed);
        self.is(ConditionStatus::True) && !is_failure
    }

    /// Returns whether the reason is that the controller's work on the object is paused.
    pub(super) fn is_pause_of_work(self) -> bool {
        is_pause_of_work(self.reason())
    }

    pub(super) fn reason(self) -> &'a str {
        self.node.get("reason").text_or_empty()
    }

    pub(super) fn message(self) -> &'a str {
        self.node.get("message").text_or_empty()
    }

    /// The meaning of the reason. Without a reason, the meaning of the message if it is a failure.
    pub(super) fn why(self) -> Option<Meaning> {
        match self.reason() {
            "" => meaning(self.message()).filter(|why| *why == Meaning::Failed),
            reason => meaning(reason),
        }
    }

    /// The `severity` of a negative status, as Cluster API and Knative add it.
    pub(super) fn severity(self) -> Option<&'a str> {
        self.node.get("severity").text()
    }

    /// Returns whether a negative status is a failure, according to its severity or its reason.
    pub(super) fn is_failure(self) -> bool {
        match self.severity() {
            Some("Error") => true,
            Some("Info") => false,
            // As a state, `NotFound` refers to the object itself; as a reason, it refers to
            // something that the object needs.
            _ => matches!(self.why(), Some(Meaning::Failed | Meaning::Absent)),
        }
    }

    /// Returns whether the condition is about health, and no reason explains that it does not hold.
    pub(super) fn denies_health(self) -> bool {
        let is_explained = matches!(self.why(), Some(Meaning::Suspended | Meaning::Pending));
        is_about_health(self.name) && !is_explained && self.severity() != Some("Info")
    }

    pub(super) fn is_stale(self, generation: Option<i64>) -> bool {
        let observed = self.node.get("observedGeneration").integer();
        matches!((observed, generation), (Some(observed), Some(generation)) if observed < generation)
    }

    pub(super) fn evidence(self, says: Says) -> Evidence {
        let fallback = match says {
            Says::Doubtful => "Contradictory",
            _ => "ConditionUnclear",
        };
        let reasons = [self.reason(), self.name, fallback];
        let signal = match (says, self.status) {
            (Says::Impaired, ConditionStatus::True) => {
                format!("{} is True for the reason {}", self.name, self.reason())
            }
            _ => format!("{} is {:?}", self.name, self.status),
        };
        let evidence = Evidence::new(says, &reasons, self.message()).signal(signal);
        let evidence = evidence.since(self.node.get("lastTransitionTime").time_ms());
        match (says, self.role) {
            (Says::Failed, Role::Abnormal) => evidence.outweighed(outweighed(self.name)),
            (Says::Failed, Role::Other) => evidence.outweighed(Outweighed::ByCounts),
            (Says::Impaired, Role::Other) if is_counted(self.name) => {
                evidence.outweighed(Outweighed::ByCounts)
            }
            _ => evidence,
        }
    }
}

/// Returns whether a condition is an object without a status, both under the usual name and under
/// the name in Argo's Experiment.
fn is_without_status(node: Node<'_>) -> bool {
    let mut names = node.members().map(|(name, _)| name);
    node.is_object() && !names.any(|name| matches!(name, "status" | "phase"))
}
