//! Reads untrusted JSON. A missing or malformed value reads as absent.

use crate::document::Document;
use crate::entry::{NONE, Value};
use crate::time;
use crate::trace::Look;

/// A value in the object, or an absent value.
///
/// Every reader returns `None`, an empty string or an empty iterator if the value has a different
/// type, so a rule needs no checks.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    document: &'a Document<'a>,
    /// The index in the document, or [`NONE`].
    index: u32,
}

impl<'a> Node<'a> {
    /// The outermost value of a document.
    pub(crate) fn root(document: &'a Document<'a>) -> Self {
        Self { document, index: 0 }
    }

    /// The index in the document.
    pub(crate) fn index(self) -> u32 {
        self.index
    }

    /// The document that contains the value.
    pub(crate) fn document(self) -> &'a Document<'a> {
        self.document
    }

    #[inline]
    fn value(self) -> Option<Value> {
        self.document.value(self.index)
    }

    /// The member of an object with the name `key`. If there are several, the last one.
    #[must_use]
    #[inline]
    pub fn get(self, key: &str) -> Self {
        Self {
            document: self.document,
            index: self.document.member(self.index, key),
        }
    }

    /// The same as [`Self::get`] without a record in the trace, for a value that is read in
    /// advance.
    #[doc(hidden)]
    #[must_use]
    #[inline]
    pub fn peek(self, key: &str) -> Self {
        Self {
            document: self.document,
            index: self.document.find(self.index, key),
        }
    }

    /// Records in the document's trace that the member `key`, which was [peeked](Self::peek), is
    /// now read.
    #[doc(hidden)]
    #[inline]
    pub fn note(self, key: &str) {
        self.document.note_member(self.index, key);
    }

    /// The same as [`Self::note`] for a reader that uses the member only if it is passed: the read
    /// counts, but needs no request.
    #[doc(hidden)]
    #[inline]
    pub fn note_if_passed(self, key: &str) {
        let look = || Look::MemberIfPassed(key.to_owned());
        self.document.note(self.index, look);
    }

    /// The direct parts, in an object with their keys, without a record in the trace.
    pub(crate) fn parts(self) -> impl Iterator<Item = (Option<&'a str>, Node<'a>)> {
        let (end, is_object) = match self.value() {
            Some(Value::Object { end, .. }) => (end, true),
            Some(Value::Array { end, .. }) => (end, false),
            _ => (0, false),
        };
        let parts = Parts::within(self, end);
        parts.map(move |node| (is_object.then(|| node.document.key(node.index)), node))
    }

    /// The value at a JSON pointer (`/status/phase`) or at a dotted path (`.status.phase`), through
    /// objects and arrays. A key that contains a dot needs a pointer.
    #[must_use]
    pub fn at(self, path: &str) -> Self {
        let separator = if path.starts_with('.') { b'.' } else { b'/' };
        let (mut node, mut rest) = (self, path.get(1..));
        while let Some(path) = rest {
            // Compares single bytes: in Wasm, the standard searches take longer for steps of a few
            // letters.
            let end = path.bytes().position(|byte| byte == separator);
            let token = end.map_or(path, |end| path.get(..end).unwrap_or_default());
            rest = end.and_then(|end| path.get(end + 1..));
            node = if separator == b'/' && token.bytes().any(|byte| byte == b'~') {
                node.get(&token.replace("~1", "/").replace("~0", "~"))
            } else if node.is_array() {
                let item = token.parse().ok().and_then(|index| node.items().nth(index));
                item.unwrap_or(Self {
                    document: self.document,
                    index: NONE,
                })
            } else {
                node.get(token)
            };
        }
        node
    }

    /// Returns whether there is a value, other than `null`.
    pub fn is_present(self) -> bool {
        !matches!(self.value(), None | Some(Value::Null))
    }

    /// Returns whether this is `null`, not an absent value.
    pub fn is_null(self) -> bool {
        matches!(self.value(), Some(Value::Null))
    }

    /// A string.
    pub fn text(self) -> Option<&'a str> {
        match self.value()? {
            Value::Text(span) => Some(self.document.text(span)),
            _ => None,
        }
    }

    /// A string, or the empty string.
    pub fn text_or_empty(self) -> &'a str {
        self.text().unwrap_or_default()
    }

    /// A whole number. Also accepts a number written as a string (`"3"`) or with a zero fraction
    /// (`3.0`).
    pub fn integer(self) -> Option<i64> {
        if let Some(text) = self.text() {
            return text.trim().parse().ok();
        }
        let digits = self.number()?;
        digits
            .parse()
            .ok()
            .or_else(|| digits.parse().ok().and_then(whole))
    }

    /// The digits of a number, as written.
    pub fn number(self) -> Option<&'a str> {
        match self.value()? {
            Value::Number(span) => Some(self.document.text(span)),
            _ => None,
        }
    }

    /// A number, a boolean or `null` as JSON. Returns `null` for any other value.
    pub(crate) fn scalar_json(self) -> &'a str {
        match self.value() {
            Some(Value::Number(span)) => self.document.text(span),
            Some(Value::Bool(true)) => "true",
            Some(Value::Bool(false)) => "false",
            _ => "null",
        }
    }

    /// A boolean. Also accepts a string (`"true"`, `"False"`).
    pub fn flag(self) -> Option<bool> {
        if let Some(Value::Bool(flag)) = self.value() {
            return Some(flag);
        }
        match self.text()? {
            text if text.eq_ignore_ascii_case("true") => Some(true),
            text if text.eq_ignore_ascii_case("false") => Some(false),
            _ => None,
        }
    }

    /// Returns whether this is `true`, or a string with this value.
    pub fn is_true(self) -> bool {
        self.flag() == Some(true)
    }

    /// The time in an RFC 3339 string, in Unix milliseconds.
    pub fn time_ms(self) -> Option<i64> {
        time::unix_ms(self.text()?)
    }

    /// The time in a string as Go prints it (`2026-01-31 12:00:00 +0000 UTC`), in Unix
    /// milliseconds. Use it only for fields into which a controller writes such a text.
    pub fn go_time_ms(self) -> Option<i64> {
        time::go_unix_ms(self.text()?)
    }

    /// The items of an array. Empty for any other value.
    pub fn items(self) -> impl ExactSizeIterator<Item = Node<'a>> + Clone {
        match self.value() {
            Some(Value::Array { end, .. }) => {
                self.document.note(self.index, || Look::Items);
                Parts::within(self, end)
            }
            _ => Parts::within(self, 0),
        }
    }

    /// The members of an object, in their order. Empty for any other value.
    pub fn members(self) -> impl Iterator<Item = (&'a str, Node<'a>)> + Clone {
        let parts = match self.value() {
            Some(Value::Object { end, .. }) => {
                self.document.note(self.index, || Look::Members);
                Parts::within(self, end)
            }
            _ => Parts::within(self, 0),
        };
        parts.map(|node| (node.document.key(node.index), node))
    }

    /// Returns whether both are the same node of the same document.
    pub fn is_same_node(self, other: Node<'_>) -> bool {
        std::ptr::eq(self.document, other.document) && self.index == other.index
    }

    /// Returns whether both are the same JSON, even in different documents. The order of members is
    /// not significant. Numbers are compared as written.
    pub fn is_same(self, other: Node<'_>) -> bool {
        match (self.value(), other.value()) {
            (Some(Value::Object { .. }), Some(Value::Object { .. })) => {
                self.members().count() == other.members().count()
                    && self
                        .members()
                        .all(|(key, member)| member.is_same(other.get(key)))
            }
            (Some(Value::Array { .. }), Some(Value::Array { .. })) => {
                self.items().len() == other.items().len()
                    && self
                        .items()
                        .zip(other.items())
                        .all(|(item, other)| item.is_same(other))
            }
            (Some(Value::Text(_)), Some(Value::Text(_))) => self.text() == other.text(),
            (Some(Value::Number(_)), Some(Value::Number(_))) => self.number() == other.number(),
            (one, other) => one == other,
        }
    }

    /// Returns whether this is an object.
    pub fn is_object(self) -> bool {
        matches!(self.value(), Some(Value::Object { .. }))
    }

    /// Returns whether this is an array.
    pub fn is_array(self) -> bool {
        matches!(self.value(), Some(Value::Array { .. }))
    }

    /// Returns whether this is empty: absent, `null`, `""`, `[]` or `{}`.
    pub fn is_empty(self) -> bool {
        match self.value() {
            None | Some(Value::Null) => true,
            Some(Value::Text(_)) => self.text_or_empty().is_empty(),
            Some(Value::Array { end, .. } | Value::Object { end, .. }) => {
                Parts::within(self, end).next().is_none()
            }
            Some(Value::Bool(_) | Value::Number(_)) => false,
        }
    }
}

/// Iterator over the direct parts of an object or array.
#[derive(Clone)]
struct Parts<'a> {
    document: &'a Document<'a>,
    /// The index of the next part.
    next: u32,
    /// The first index after the parts.
    end: u32,
}

impl<'a> Parts<'a> {
    fn within(node: Node<'a>, end: u32) -> Self {
        Self {
            document: node.document,
            next: node.index.saturating_add(1),
            end,
        }
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = Node<'a>;

    #[inline]
    fn next(&mut self) -> Option<Node<'a>> {
        let index = self.next;
        if index >= self.end {
            return None;
        }
        self.next = self.document.after(index);
        Some(Node {
            document: self.document,
            index,
        })
    }

    /// The number of parts. It is exact, so this iterates over all parts.
    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.clone().fold(0, |count, _| count + 1);
        (count, Some(count))
    }
}

impl ExactSizeIterator for Parts<'_> {}

/// Converts a float to a whole number, if the conversion is exact.
fn whole(number: f64) -> Option<i64> {
    /// The largest whole number up to which a float represents every whole number exactly.
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT_MAX {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "checked: a whole number within the range that f64 holds exactly"
        )]
        return Some(number as i64);
    }
    None
}
