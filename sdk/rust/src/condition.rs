//! Conditions, the list that most controllers use for their reports.

use std::borrow::Cow;

use crate::Node;

/// `True`, `False` or `Unknown`. Any other value reads as `Unknown`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConditionStatus {
    /// The condition holds.
    True,
    /// The condition does not hold.
    False,
    /// The controller does not know, or wrote something else.
    Unknown,
}

/// One entry of a list of conditions.
#[derive(Clone, Copy)]
pub struct Condition<'a> {
    node: Node<'a>,
}

impl<'a> Condition<'a> {
    /// The complete condition.
    pub fn node(&self) -> Node<'a> {
        self.node
    }

    /// The `type` of the condition.
    pub fn name(&self) -> &'a str {
        self.node.get("type").text_or_empty()
    }

    /// The `status` of the condition, also if it is a boolean or has a different case. `Unknown` if
    /// it is missing: see [`Condition::holds`].
    pub fn status(&self) -> ConditionStatus {
        match self.node.get("status").flag() {
            Some(true) => ConditionStatus::True,
            Some(false) => ConditionStatus::False,
            None => ConditionStatus::Unknown,
        }
    }

    /// Returns whether the condition has a `status`. Some Kinds list a condition only while it
    /// holds, with only a type and a message (Argo CD's Application).
    pub fn has_status(&self) -> bool {
        self.node.get("status").is_present()
    }

    /// Returns whether the condition holds: its status is `True`, or it is listed without a status.
    /// Use it for Kinds whose conditions have no status, and for failures. For all other
    /// conditions, use [`Condition::is_true`].
    pub fn holds(&self) -> bool {
        self.is_true() || !self.has_status()
    }

    /// Returns whether its status is `True`.
    pub fn is_true(&self) -> bool {
        self.status() == ConditionStatus::True
    }

    /// Returns whether its status is `False`.
    pub fn is_false(&self) -> bool {
        self.status() == ConditionStatus::False
    }

    /// The `reason` of the condition, or an empty text.
    pub fn reason(&self) -> &'a str {
        self.node.get("reason").text_or_empty()
    }

    /// The `reason` of the condition, or `default` if it has none, for the reason of a verdict.
    pub fn reason_or(&self, default: &'static str) -> Cow<'static, str> {
        match self.reason() {
            "" => Cow::Borrowed(default),
            reason => Cow::Owned(reason.to_owned()),
        }
    }

    /// The `message` of the condition, or an empty text.
    pub fn message(&self) -> &'a str {
        self.node.get("message").text_or_empty()
    }

    /// The `lastTransitionTime` of the condition, in Unix milliseconds.
    pub fn since_ms(&self) -> Option<i64> {
        self.node.get("lastTransitionTime").time_ms()
    }

    /// The `observedGeneration` of the condition itself.
    pub fn observed_generation(&self) -> Option<i64> {
        self.node.get("observedGeneration").integer()
    }
}

/// A list of conditions, without the conditions of older generations.
///
/// A condition with an `observedGeneration` below the object's generation was written before the
/// controller observed the newest spec, and is outdated (Gateway API, and the API conventions).
#[derive(Clone, Copy)]
pub struct Conditions<'a> {
    list: Node<'a>,
    generation: Option<i64>,
}

impl<'a> Conditions<'a> {
    pub(crate) fn new(list: Node<'a>, generation: Option<i64>) -> Self {
        Self { list, generation }
    }

    /// All conditions of the present generation, in their order. Entries that are not objects are
    /// skipped.
    pub fn iter(&self) -> impl Iterator<Item = Condition<'a>> + use<'a> {
        let generation = self.generation;
        self.list
            .items()
            .filter(|node| node.is_object())
            .map(|node| Condition { node })
            .filter(move |condition| !is_older(*condition, generation))
    }

    /// Returns whether the list is not empty and all its conditions are of an older generation.
    pub fn are_all_stale(&self) -> bool {
        self.list.items().len() > 0 && self.iter().next().is_none()
    }

    /// The first condition of this type.
    pub fn find(&self, name: &str) -> Option<Condition<'a>> {
        let conditions = self.list.items().map(|node| Condition { node });
        // An entry that is not an object has no name. The generation is compared last, because this
        // takes the longest.
        conditions
            .filter(|condition| !name.is_empty() && condition.name() == name)
            .find(|condition| !is_older(*condition, self.generation))
    }

    /// Returns whether there is a condition of this type with status `True`.
    pub fn is_true(&self, name: &str) -> bool {
        self.find(name).is_some_and(|condition| condition.is_true())
    }

    /// Returns whether there is a condition of this type with status `False`.
    pub fn is_false(&self, name: &str) -> bool {
        self.find(name)
            .is_some_and(|condition| condition.is_false())
    }
}

fn is_older(condition: Condition<'_>, generation: Option<i64>) -> bool {
    generation.is_some_and(|generation| {
        let observed = condition.observed_generation();
        observed.is_some_and(|observed| observed < generation)
    })
}

#[cfg(test)]
mod tests {
    use crate::Object;

    #[test]
    fn a_condition_without_status_holds_and_is_not_true() {
        let object = r#"{"status": {"conditions": [
            {"type": "SyncError", "message": "no such revision"}, {"type": "Null", "status": null},
            {"type": "True", "status": "True"}, {"type": "False", "status": "False"},
            {"type": "Unknown", "status": "Unknown"}]}}"#;
        let table = [
            ("SyncError", false, true, false),
            ("Null", false, true, false),
            ("True", true, true, true),
            ("False", true, false, false),
            ("Unknown", true, false, false),
        ];
        let read = Object::read(object, |object| {
            for (name, has_status, holds, is_true) in table {
                let condition = object.conditions().find(name).unwrap();
                assert_eq!(condition.has_status(), has_status, "{name}");
                assert_eq!(condition.holds(), holds, "{name}");
                assert_eq!(condition.is_true(), is_true, "{name}");
            }
            Ok(())
        });
        assert_eq!(read, Ok(()));
    }
}
