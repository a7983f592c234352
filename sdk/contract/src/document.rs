//! JSON documents as flat lists of nodes that refer to a text.
//!
//! The host parses objects to trees in this layout, and passes views in the same layout to
//! components. A component therefore reads the parsed object without parsing it again.
//! `wit/view.md` describes the layout byte by byte.

use crate::entry::{self, Entry, NONE, Span, Value};
use crate::trace::{Look, Trace};

/// First position of decoded strings. No text is that long.
pub(crate) const DECODED: u32 = 1 << 31;

/// A document that is read through [`Node`](crate::Node)s.
///
/// Reading is total: for any bytes, a node that does not exist reads as absent, and every iteration
/// ends.
#[derive(Clone, Copy)]
pub struct Document<'a> {
    nodes: &'a [Entry],
    text: &'a str,
    /// Decoded strings, which contained escapes. Spans that start at [`DECODED`] or later refer to
    /// this text.
    decoded: &'a str,
    /// True if no object has two members with the same name, so that the first one found is the
    /// only one.
    is_unique: bool,
    trace: Option<&'a Trace>,
}

impl<'a> Document<'a> {
    /// The document of a [`Tree`](crate::Tree). Unless member names are known to be unique, the
    /// last member with a name is used.
    pub(crate) fn of_tree(
        nodes: &'a [Entry],
        text: &'a str,
        decoded: &'a str,
        is_unique: bool,
    ) -> Self {
        Self {
            nodes,
            text,
            decoded,
            is_unique,
            trace: None,
        }
    }

    /// The document of a view. Member names in a view are unique.
    pub(crate) fn of_view(nodes: &'a [Entry], text: &'a str) -> Self {
        Self {
            nodes,
            text,
            decoded: "",
            is_unique: true,
            trace: None,
        }
    }

    /// The same document, with a record in `trace` of everything that is read.
    #[must_use]
    pub fn traced(mut self, trace: &'a Trace) -> Self {
        self.trace = Some(trace);
        self
    }

    /// True if no object has two members with the same name.
    pub(crate) fn is_unique(&self) -> bool {
        self.is_unique
    }

    /// The value of the node at `index`.
    #[inline]
    pub(crate) fn value(&self, index: u32) -> Option<Value> {
        self.entry(index).map(entry::value)
    }

    /// The key of the node at `index`, or an empty text if it has none.
    #[inline]
    pub(crate) fn key(&self, index: u32) -> &'a str {
        let entry = self.entry(index);
        entry.map_or("", |entry| self.text(entry::key(entry)))
    }

    /// The member named `key` of the object at `index`, or [`NONE`] if there is no such member or
    /// no object.
    ///
    /// Arguments and result fit into registers, because rules call this function most often.
    #[inline]
    pub(crate) fn member(&self, index: u32, key: &str) -> u32 {
        self.note_member(index, key);
        self.find(index, key)
    }

    /// Records that a member is read.
    #[inline]
    pub(crate) fn note_member(&self, index: u32, key: &str) {
        self.note(index, || Look::Member(key.to_owned()));
    }

    /// Records an access to the node at `index`.
    #[inline]
    pub(crate) fn note(&self, index: u32, look: impl FnOnce() -> Look) {
        if let Some(trace) = self.trace {
            trace.note(index, look());
        }
    }

    /// The same as [`Self::member`], without a record of it.
    pub(crate) fn find(&self, index: u32, key: &str) -> u32 {
        let Some(Value::Object { end, .. }) = self.value(index) else {
            return NONE;
        };
        let (mut at, mut found) = (index.saturating_add(1), NONE);
        while at < end {
            let Some(entry) = self.entry(at) else {
                break;
            };
            let head = entry::head(entry);
            if head.key_len() == key.len()
                && are_same(self.bytes(entry::key(entry)), key.as_bytes())
            {
                if self.is_unique {
                    return at;
                }
                found = at;
            }
            let next = at.saturating_add(1);
            at = if head.has_parts() {
                entry::fourth(entry).max(next)
            } else {
                next
            };
        }
        found
    }

    /// The node after the one at `index` and all its parts.
    #[inline]
    pub(crate) fn after(&self, index: u32) -> u32 {
        match self.entry(index) {
            Some(entry) => after(entry, index),
            None => NONE,
        }
    }

    /// The characters of a string or the digits of a number, or an empty text if the span is
    /// outside the text.
    #[inline]
    pub(crate) fn text(&self, span: Span) -> &'a str {
        let (text, start) = self.place(span);
        text.get(start..start.saturating_add(span.len as usize))
            .unwrap_or_default()
    }

    #[inline]
    pub(crate) fn bytes(&self, span: Span) -> &'a [u8] {
        let (text, start) = self.place(span);
        let end = start.saturating_add(span.len as usize);
        text.as_bytes().get(start..end).unwrap_or_default()
    }

    #[inline]
    fn place(&self, span: Span) -> (&'a str, usize) {
        match span.start.checked_sub(DECODED) {
            None => (self.text, span.start as usize),
            Some(start) => (self.decoded, start as usize),
        }
    }

    #[inline]
    pub(crate) fn entry(&self, index: u32) -> Option<&'a Entry> {
        self.nodes.get(index as usize)
    }
}

/// The node after this one at `index` and all its parts, which always has a greater index.
#[inline]
fn after(entry: &Entry, index: u32) -> u32 {
    let next = index.saturating_add(1);
    entry::end(entry).map_or(next, |end| end.max(next))
}

/// Returns whether two slices of the same length are equal. In Wasm, the standard comparison
/// compares single bytes.
#[inline]
pub(crate) fn are_same(left: &[u8], right: &[u8]) -> bool {
    let (left_words, left) = left.as_chunks::<8>();
    let (right_words, right) = right.as_chunks::<8>();
    let same = |(left, right): (&[u8; 8], &[u8; 8])| {
        u64::from_ne_bytes(*left) == u64::from_ne_bytes(*right)
    };
    left.len() == right.len()
        && left_words.len() == right_words.len()
        && left_words.iter().zip(right_words).all(same)
        && left.iter().zip(right).all(|(left, right)| left == right)
}
