//! The status of a bundle as it is kept: parts that hold Secrets are replaced, the rest is as it came.

use std::ops::Range;
use std::sync::Arc;

use crate::redact::{Edit, edited, redacted};

/// A status, and the parts of it that are kept as another text.
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

    /// Replaces a part, which is borrowed from the status. Parts do not overlap.
    pub(super) fn replace(&mut self, part: &str, text: String) {
        let range = range_in(self.status, part);
        self.edits.extend(range.map(|range| (range, text)));
    }

    /// Takes the content of Secrets out of a part that is not read.
    pub(super) fn pass_over(&mut self, part: &str) {
        match redacted(part, false) {
            Ok(None) => {}
            Ok(Some(text)) => self.replace(part, text),
            Err(_) => self.replace(part, "null".to_owned()),
        }
    }

    /// Replaces the items of a list after `last`, or all, by as many numbers, since nobody searched them.
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

    /// The status as it is kept.
    pub(super) fn finish(mut self) -> Arc<str> {
        if self.edits.is_empty() {
            return self.status.into();
        }
        self.edits.sort_by_key(|(range, _)| range.start);
        edited(self.status, self.edits).into()
    }
}

/// The range of a part that is borrowed from this text; `None` if it is not.
fn range_in(text: &str, part: &str) -> Option<Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    let range = start..start.checked_add(part.len())?;
    text.get(range.clone()).map(|_| range)
}
