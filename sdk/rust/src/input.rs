//! The input of a call in addition to the object.

use std::cell::Cell;

use kindsight_contract::{Coverage, member};

use crate::{Failure, Node, Object};

/// The input of a call in addition to the object: related objects, settings, and the time.
pub struct Input<'a> {
    root: Node<'a>,
    now_ms: Option<i64>,
    /// Set if the time was requested but was not passed.
    has_missed_time: Cell<bool>,
}

/// The related objects of a rule. They can be kept as long as the input.
#[derive(Clone, Copy)]
pub struct RelatedSet<'a> {
    set: Node<'a>,
}

impl<'a> RelatedSet<'a> {
    /// The objects, in order of namespace and name. There are fewer than [`Self::total`] if their
    /// number was over the rule's limit or their total size was too large.
    pub fn objects(self) -> impl ExactSizeIterator<Item = Object<'a>> + Clone {
        self.set.get(member::OBJECTS).items().map(Object::new)
    }

    /// Number of objects that were found.
    pub fn total(self) -> i64 {
        self.set.get(member::TOTAL).integer().unwrap_or_default()
    }

    /// The coverage of the objects that the rule requests. With [`Coverage::Complete`], an empty
    /// set means that there are none.
    pub fn coverage(self) -> Coverage {
        let word = self.set.get(member::COVERAGE).text_or_empty();
        Coverage::of(word).unwrap_or(Coverage::Unknown)
    }
}

impl<'a> Input<'a> {
    /// The input in a document with this root.
    pub(crate) fn new(root: Node<'a>, now_ms: Option<i64>) -> Self {
        Self {
            root,
            now_ms,
            has_missed_time: Cell::new(false),
        }
    }

    /// The time of the call, in Unix milliseconds, for Kinds that are declared with `uses_now`. A
    /// verdict that depends on the time should set a time for a recheck, with
    /// [`crate::Verdict::recheck_at`].
    ///
    /// If the Kind did not request the time, the call ends in a failure with this reason.
    pub fn now_ms(&self) -> i64 {
        self.now_ms.unwrap_or_else(|| {
            self.has_missed_time.set(true);
            0
        })
    }

    /// The time of the call, in Unix milliseconds, or `None` if the Kind does not request it. For
    /// rules of many Kinds.
    pub fn requested_now_ms(&self) -> Option<i64> {
        self.now_ms
    }

    /// Returns whether the time was requested but was not passed.
    pub(crate) fn has_missed_time(&self) -> bool {
        self.has_missed_time.get()
    }

    /// The related objects of the Kind's rule at `index`, in the order of their declaration.
    pub fn related(&self, index: usize) -> RelatedSet<'a> {
        let mut sets = self.root.get(member::RELATED).items();
        RelatedSet {
            set: sets.nth(index).unwrap_or_else(|| self.root.get("")),
        }
    }

    /// The operator's settings, with the schema's defaults, or an empty object without settings.
    pub fn settings(&self) -> Node<'a> {
        self.root.get(member::SETTINGS)
    }

    /// A setting in milliseconds that the operator gives in seconds under `name`. The default is
    /// `default_s` seconds.
    ///
    /// # Errors
    /// [`Failure::InvalidSettings`] if the setting is not a whole number, or is negative.
    pub fn setting_ms(&self, name: &str, default_s: i64) -> Result<i64, Failure> {
        let setting = self.settings().get(name);
        let seconds = match setting.integer() {
            _ if !setting.is_present() => default_s,
            Some(seconds) if seconds >= 0 => seconds,
            _ => {
                return Err(Failure::InvalidSettings(format!(
                    "`{name}` is not a number of seconds: use a whole number that is not negative"
                )));
            }
        };
        Ok(seconds.saturating_mul(1000))
    }

    /// A setting from 0 to 100 under `name`. The default is `default`.
    ///
    /// # Errors
    /// [`Failure::InvalidSettings`] if the setting is not a whole number in this range.
    pub fn setting_percent(&self, name: &str, default: i64) -> Result<i64, Failure> {
        let setting = self.settings().get(name);
        match setting.integer() {
            _ if !setting.is_present() => Ok(default),
            Some(percent @ 0..=100) => Ok(percent),
            _ => Err(Failure::InvalidSettings(format!(
                "`{name}` is not a percentage: use a whole number from 0 to 100"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use kindsight_contract::Tree;

    use super::*;

    #[test]
    fn a_time_is_set_in_seconds_and_read_in_milliseconds() {
        let table = [
            ("{}", Some(15_000)),
            (r#"{"settings": {}}"#, Some(15_000)),
            (r#"{"settings": {"grace": null}}"#, Some(15_000)),
            (r#"{"settings": {"grace": 0}}"#, Some(0)),
            (r#"{"settings": {"grace": "60"}}"#, Some(60_000)),
            (
                r#"{"settings": {"grace": 9223372036854775807}}"#,
                Some(i64::MAX),
            ),
            (r#"{"settings": {"grace": -1}}"#, None),
            (r#"{"settings": {"grace": "a while"}}"#, None),
        ];
        for (text, expected) in table {
            let tree = Tree::read(text).expect("JSON");
            let document = tree.document(text);
            let read = Input::new(document.root(), None).setting_ms("grace", 15);
            match expected {
                Some(expected) => assert_eq!(read, Ok(expected), "{text}"),
                None => assert!(matches!(read, Err(Failure::InvalidSettings(_))), "{text}"),
            }
        }
    }

    #[test]
    fn a_percentage_is_a_whole_number_up_to_a_hundred() {
        let table = [
            ("{}", Some(10)),
            (r#"{"settings": {"share": null}}"#, Some(10)),
            (r#"{"settings": {"share": 0}}"#, Some(0)),
            (r#"{"settings": {"share": "100"}}"#, Some(100)),
            (r#"{"settings": {"share": 101}}"#, None),
            (r#"{"settings": {"share": -1}}"#, None),
            (r#"{"settings": {"share": "some"}}"#, None),
        ];
        for (text, expected) in table {
            let tree = Tree::read(text).expect("JSON");
            let document = tree.document(text);
            let read = Input::new(document.root(), None).setting_percent("share", 10);
            match expected {
                Some(expected) => assert_eq!(read, Ok(expected), "{text}"),
                None => assert!(matches!(read, Err(Failure::InvalidSettings(_))), "{text}"),
            }
        }
    }
}
