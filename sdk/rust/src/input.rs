//! Input of a call beside the object.

use std::cell::Cell;

use kindsight_contract::{Coverage, member};

use crate::{Failure, Node, Object};

/// Input of a call beside the object: related objects, settings, and the time.
pub struct Input<'a> {
    root: Node<'a>,
    now_ms: Option<i64>,
    /// True once the time was asked for and there was none.
    has_missed_time: Cell<bool>,
}

/// The related objects that one rule found. They can be kept as long as the input.
#[derive(Clone, Copy)]
pub struct RelatedSet<'a> {
    set: Node<'a>,
}

impl<'a> RelatedSet<'a> {
    /// The objects, in order of namespace and name; fewer than [`Self::total`] where there were more
    /// than the rule's limit, or they were too large together.
    pub fn objects(self) -> impl ExactSizeIterator<Item = Object<'a>> + Clone {
        self.set.get(member::OBJECTS).items().map(Object::new)
    }

    /// Number of objects that were found.
    pub fn total(self) -> i64 {
        self.set.get(member::TOTAL).integer().unwrap_or_default()
    }

    /// Coverage of such objects: with [`Coverage::Complete`] an empty set means that there is none.
    pub fn coverage(self) -> Coverage {
        let word = self.set.get(member::COVERAGE).text_or_empty();
        Coverage::of(word).unwrap_or(Coverage::Unknown)
    }
}

impl<'a> Input<'a> {
    /// The input in a document whose root this is.
    pub(crate) fn new(root: Node<'a>, now_ms: Option<i64>) -> Self {
        Self {
            root,
            now_ms,
            has_missed_time: Cell::new(false),
        }
    }

    /// The time of judging, in Unix milliseconds, for Kinds that are declared with `uses_now`. A verdict
    /// that depends on it sets when to be judged again, with [`crate::Verdict::recheck_at`].
    ///
    /// Where the Kind did not ask for the time there is none: the call ends in a failure that says so.
    pub fn now_ms(&self) -> i64 {
        self.now_ms.unwrap_or_else(|| {
            self.has_missed_time.set(true);
            0
        })
    }

    /// True if the time was asked for and there was none.
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

    /// The operator's settings, with the schema's defaults; an empty object where there are none.
    pub fn settings(&self) -> Node<'a> {
        self.root.get(member::SETTINGS)
    }

    /// A time in milliseconds that the operator sets in seconds under `name`; `default_s` seconds
    /// where it is not set.
    ///
    /// # Errors
    /// [`Failure::InvalidSettings`] when it is set to anything but a whole number that is not negative.
    pub fn setting_ms(&self, name: &str, default_s: i64) -> Result<i64, Failure> {
        let setting = self.settings().get(name);
        let seconds = match setting.integer() {
            _ if !setting.is_present() => default_s,
            Some(seconds) if seconds >= 0 => seconds,
            _ => {
                return Err(Failure::InvalidSettings(format!(
                    "`{name}` is not a number of seconds: a whole number, 0 or more, is right"
                )));
            }
        };
        Ok(seconds.saturating_mul(1000))
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
}
