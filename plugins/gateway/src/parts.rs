//! Parts of an object with conditions of their own, and the verdict on all of them.

use kindsight_sdk::prelude::*;

/// Conditions that somebody has to act on when they are False.
const VERDICTS_OF_THE_CONTROLLER: [&str; 2] = ["ResolvedRefs", "Accepted"];

/// Conditions that become True by themselves, wherever a controller reports them.
const REPORTED: [&str; 3] = ["Accepted", "ResolvedRefs", "Programmed"];

/// A Gateway or one of its listeners, one parent of a route, one ancestor of a policy.
pub(crate) struct Part<'a> {
    /// Prefix of messages that names the part; empty for the object itself.
    pub(crate) name: String,
    /// Its conditions of this generation.
    pub(crate) conditions: Conditions<'a>,
    /// The condition without which there is no evidence.
    pub(crate) required: Option<&'static str>,
}

/// The worst verdict of any part, unless all are well: refused comes before unconfirmed.
pub(crate) fn complaint(parts: &[Part<'_>]) -> Option<Verdict> {
    let refused = parts.iter().find_map(Part::refused);
    refused.or_else(|| parts.iter().find_map(Part::unconfirmed))
}

impl Part<'_> {
    fn refused(&self) -> Option<Verdict> {
        let refused =
            |condition: &Condition<'_>| condition.is_false() && condition.reason() != "Pending";
        VERDICTS_OF_THE_CONTROLLER.iter().find_map(|name| {
            let condition = self.conditions.find(name).filter(refused)?;
            let message = self.message(condition.message());
            Some(Verdict::failed(condition.reason_or(name), message))
        })
    }

    fn unconfirmed(&self) -> Option<Verdict> {
        let waiting = REPORTED.iter().find_map(|name| {
            let condition = self.conditions.find(name)?;
            let message = || self.message(condition.message());
            (!condition.is_true()).then(|| Verdict::pending(condition.reason_or(name), message()))
        });
        waiting.or_else(|| self.unreported())
    }

    /// Pending, because the required condition is missing or of an older generation.
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

    fn message(&self, message: &str) -> String {
        match self.name.as_str() {
            "" => message.to_owned(),
            name => format!("{name}: {message}"),
        }
    }
}
