//! The stored status of a bundle: parts that hold Secrets are replaced, the rest is unchanged.

use std::ops::Range;
use std::sync::Arc;

use crate::redact::{Edit, edited, redacted};

/// A status, and the replacements of some of its parts.
pub(super) struct Edits<'s> {
    status: &'s str,
    edits: Vec<Edit>,
}

impl<'s> Edits<'s> {
    pub(super) fn of(status: &'s str) -> Self {
        Self {
            status,
            edits: Vec::new(),
        }
    }

    /// Replaces a part of the status. `part` must be a slice of the status; parts must not overlap.
    pub(super) fn replace(&mut self, part: &str, text: String) {
        let range = range_in(self.status, part);
        self.edits.extend(range.map(|range| (range, text)));
    }

    /// Removes the content of Secrets from a part that is not decoded.
    pub(super) fn pass_over(&mut self, part: &str) {
        match redacted(part, false) {
            Ok(None) => {}
            Ok(Some(text)) => self.replace(part, text),
            Err(_) => self.replace(part, "null".to_owned()),
        }
    }

    /// Replaces the items of a list after `last` (all items if `last` is `None`) by as many zeros, because
    /// these items were not searched for Secrets.
    pub(super) fn cut(&mut self, list: &str, last: Option<&str>, count: usize) {
        let mut numbers = ",0".repeat(count);
        numbers.push(']');
        let rest = if let Some(last) = last {
            range_in(list, last).and_then(|range| list.get(range.end..))
        } else {
            numbers.remove(0);
            list.get(1..)
        };
        if let Some(rest) = rest {
            self.replace(rest, numbers);
        }
    }

    /// The status with all replacements.
    pub(super) fn finish(mut self) -> Arc<str> {
        if self.edits.is_empty() {
            return self.status.into();
        }
        self.edits.sort_by_key(|(range, _)| range.start);
        edited(self.status, self.edits).into()
    }
}

/// The range of a part in a text; `None` if the part is not a slice of the text.
fn range_in(text: &str, part: &str) -> Option<Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    let range = start..start.checked_add(part.len())?;
    text.get(range.clone()).map(|_| range)
}
