//! Parts of an object with their own conditions, and the verdict on all of them.

use kindsight_sdk::prelude::*;

/// Conditions that require a change by a user if they are False.
const VERDICTS_OF_THE_CONTROLLER: [&str; 2] = ["ResolvedRefs", "Accepted"];

/// The condition of a listener that conflicts with another one.
const CONFLICTED: &str = "Conflicted";

/// Conditions that become True without intervention, in any part that reports them.
const REPORTED: [&str; 3] = ["Accepted", "ResolvedRefs", "Programmed"];

/// Conditions with the status that means a problem, although the part works.
const IMPAIRMENTS: [(&str, ConditionStatus); 2] = [
    // Some rules of a route are dropped, or an older generation of the route is still in use.
    ("PartiallyInvalid", ConditionStatus::True),
    // The controller does not know the installed version of the API, and does what it can.
    ("SupportedVersion", ConditionStatus::False),
];

/// The reason of a Gateway that is accepted although some of its listeners are not.
const SOME_LISTENERS_INVALID: &str = "ListenersNotValid";

/// A Gateway or one of its listeners, one parent of a route, one ancestor of a policy.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    /// The kind of part.
    pub(crate) what: &'static str,
    /// The node that contains the part's `name`, or `None` for the object itself.
    pub(crate) named_by: Option<Node<'a>>,
    /// The conditions of the part for the present generation.
    pub(crate) conditions: Conditions<'a>,
    /// The condition that is required as evidence.
    pub(crate) required: Option<&'static str>,
}

/// The worst verdict of any part, unless all are ready. A refused part has priority over an impaired
/// one, and an impaired part over an unconfirmed one: the controller of an impaired route may keep
/// the condition Accepted of an older generation.
#[expect(
    single_use_lifetimes,
    reason = "an anonymous one in `impl Trait` is unstable"
)]
pub(crate) fn complaint<'a>(mut parts: impl Iterator<Item = Part<'a>> + Clone) -> Option<Verdict> {
    let refused = |part: Part<'_>| part.refused().or_else(|| part.conflicted());
    let refused = parts.clone().find_map(refused);
    let impaired = || parts.clone().find_map(|part| part.impaired());
    refused
        .or_else(impaired)
        .or_else(|| parts.find_map(|part| part.unconfirmed()))
}

impl Part<'_> {
    fn refused(&self) -> Option<Verdict> {
        let refused =
            |condition: &Condition<'_>| condition.is_false() && condition.reason() != "Pending";
        VERDICTS_OF_THE_CONTROLLER.iter().find_map(|name| {
            let condition = self.conditions.find(name).filter(refused)?;
            Some(self.failed(condition, name))
        })
    }

    /// Failed, if a listener conflicts with another one. Its port is then not served.
    fn conflicted(&self) -> Option<Verdict> {
        let conflicted = self.conditions.find(CONFLICTED)?;
        conflicted
            .is_true()
            .then(|| self.failed(conflicted, CONFLICTED))
    }

    fn failed(&self, condition: Condition<'_>, name: &'static str) -> Verdict {
        let message = self.message(condition.message());
        Verdict::failed(condition.reason_or(name), message).since(condition.since_ms())
    }

    fn impaired(&self) -> Option<Verdict> {
        let reported = IMPAIRMENTS.iter().find_map(|(name, status)| {
            let condition = self.conditions.find(name)?;
            let is_impaired = condition.has_status() && condition.status() == *status;
            is_impaired.then(|| self.degraded(condition, name))
        });
        reported.or_else(|| {
            let accepted = self.conditions.find("Accepted")?;
            let is_impaired = accepted.is_true() && accepted.reason() == SOME_LISTENERS_INVALID;
            is_impaired.then(|| self.degraded(accepted, SOME_LISTENERS_INVALID))
        })
    }

    fn degraded(&self, condition: Condition<'_>, name: &'static str) -> Verdict {
        let message = self.message(condition.message());
        Verdict::degraded(condition.reason_or(name), message).since(condition.since_ms())
    }

    fn unconfirmed(&self) -> Option<Verdict> {
        let waiting = REPORTED.iter().find_map(|name| {
            let condition = self.conditions.find(name)?;
            let message = || self.message(condition.message());
            (!condition.is_true()).then(|| {
                let verdict = Verdict::pending(condition.reason_or(name), message());
                verdict.since(condition.since_ms())
            })
        });
        waiting.or_else(|| self.unreported())
    }

    /// Pending, because the required condition is missing or belongs to an older generation.
    fn unreported(&self) -> Option<Verdict> {
        let name = self.required?;
        if self.conditions.find(name).is_some() {
            return None;
        }
        let message = format!("it reports no condition {name} of the newest generation");
        Some(Verdict::pending(
            "WaitingForController",
            self.message(&message),
        ))
    }

    /// "parent web, section https: the message".
    fn message(&self, message: &str) -> String {
        let Some(named_by) = self.named_by else {
            return message.to_owned();
        };
        let (what, name) = (self.what, named_by.get("name").text_or_empty());
        match named_by.get("sectionName").text() {
            // The status of a listener has no such member.
            Some(section) => format!("{what} {name}, section {section}: {message}"),
            None => format!("{what} {name}: {message}"),
        }
    }
}
