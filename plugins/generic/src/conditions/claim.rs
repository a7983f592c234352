//! One condition.

use kindsight_sdk::prelude::*;

use crate::condition_types::{Role, role};
use crate::evidence::{Evidence, Says};
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
        let status = match node.get("status").flag().or_else(|| node.flag()) {
            Some(true) => ConditionStatus::True,
            Some(false) => ConditionStatus::False,
            None => ConditionStatus::Unknown,
        };
        Self {
            name,
            role: role(name),
            status,
            node,
        }
    }

    pub(super) fn is(self, status: ConditionStatus) -> bool {
        self.status == status
    }

    pub(super) fn reason(self) -> &'a str {
        self.node.get("reason").text_or_empty()
    }

    pub(super) fn message(self) -> &'a str {
        self.node.get("message").text_or_empty()
    }

    /// Meaning of the reason; without one, that of the message if it is a failure.
    pub(super) fn why(self) -> Option<Meaning> {
        match self.reason() {
            "" => meaning(self.message()).filter(|why| *why == Meaning::Failed),
            reason => meaning(reason),
        }
    }

    /// `severity` of a negative status, as Cluster API and Knative add it.
    pub(super) fn severity(self) -> Option<&'a str> {
        self.node.get("severity").text()
    }

    /// Returns whether a negative status is a failure, by its severity or its reason.
    pub(super) fn is_failure(self) -> bool {
        match self.severity() {
            Some("Error") => true,
            Some("Info") => false,
            // As a state, `NotFound` is the object itself; as a reason, something it needs.
            _ => matches!(self.why(), Some(Meaning::Failed | Meaning::Absent)),
        }
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
        let message = match self.message() {
            "" => format!("{} is {:?}", self.name, self.status),
            message => message.to_owned(),
        };
        Evidence::new(says, &reasons, message)
    }
}
