//! Reads JSON text into a flat list of entries that refer to the text.
//!
//! A library would be slower: an interpreter does little but read JSON, and in Wasm every small
//! allocation and every byte-wise loop costs more than natively. A tree of borrowed values makes one
//! list per object and array and copies every key's position; this makes one list per document,
//! compares strings eight bytes at a time, and parses numbers only on demand. The cost of a verdict,
//! natively and as a component, is measured by `tests/benches/verdict.rs`.
//!
//! Accepts the same JSON as `serde_json`, with one difference: a number too large for a float
//! (`1e999`) is accepted, and reads as absent.

mod reader;
mod string;

/// Levels of objects and arrays that are read; deeper ones are refused. As `serde_json`, and low
/// enough for the stack the host gives a component.
const DEPTH_MAX: usize = 127;

/// A JSON document, which copies nothing but strings with escapes.
pub(crate) struct Document<'a> {
    text: &'a str,
    /// Strings that had escapes, one after another.
    decoded: String,
    entries: Vec<Entry>,
}

/// A value, and its place in the document.
struct Entry {
    /// Empty for items of arrays, and for the root.
    key: Span,
    /// The part before this one, of the same object or array; [`NONE`] for the first.
    previous: u32,
    value: Value,
}

/// Value of an entry. The parts of an object or array are the entries after it, each followed by its
/// own.
#[derive(Clone, Copy)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(Span),
    Text(Span),
    Array {
        /// The first entry after its parts.
        end: u32,
    },
    Object {
        /// The last member; [`NONE`] where there is none.
        last: u32,
        /// The first entry after its parts.
        end: u32,
    },
}

/// A part of the text, or, where it starts past the end of the text, of the decoded strings.
#[derive(Clone, Copy, Default)]
pub(crate) struct Span {
    start: u32,
    len: u32,
}

/// No entry: the end of a chain.
pub(crate) const NONE: u32 = u32::MAX;

impl<'a> Document<'a> {
    /// Reads `text`; the error says at which byte it is not JSON or too deep.
    pub(crate) fn read(text: &'a str) -> Result<Self, String> {
        reader::read(text)
    }

    /// Value of the entry at `index`.
    #[inline]
    pub(crate) fn value(&self, index: u32) -> Option<Value> {
        Some(self.entry(index)?.value)
    }

    /// The key of the entry at `index`; empty where it has none.
    pub(crate) fn key(&self, index: u32) -> &str {
        self.entry(index).map_or("", |entry| self.text(entry.key))
    }

    /// The member called `key` of the object at `index`, the last one where there are several;
    /// [`NONE`] where there is none, or no object.
    ///
    /// Arguments and result fit into registers, because rules call it most.
    pub(crate) fn member(&self, index: u32, key: &str) -> u32 {
        let Some(Value::Object { last, .. }) = self.value(index) else {
            return NONE;
        };
        let mut index = last;
        while let Some(entry) = self.entry(index) {
            if entry.key.len as usize == key.len()
                && are_same(self.bytes(entry.key), key.as_bytes())
            {
                return index;
            }
            index = entry.previous;
        }
        NONE
    }

    /// The entry after the one at `index` and all its parts.
    #[inline]
    pub(crate) fn after(&self, index: u32) -> u32 {
        match self.value(index) {
            Some(Value::Array { end } | Value::Object { end, .. }) => end,
            _ => index.saturating_add(1),
        }
    }

    /// A string's characters, or a number's digits.
    #[inline]
    pub(crate) fn text(&self, span: Span) -> &str {
        let start = span.start as usize;
        let len = span.len as usize;
        let part = match start.checked_sub(self.text.len()) {
            None => self.text.get(start..start + len),
            Some(start) => self.decoded.get(start..start + len),
        };
        part.unwrap_or_default()
    }

    #[inline]
    fn bytes(&self, span: Span) -> &[u8] {
        let start = span.start as usize;
        let len = span.len as usize;
        let part = match start.checked_sub(self.text.len()) {
            None => self.text.as_bytes().get(start..start + len),
            Some(start) => self.decoded.as_bytes().get(start..start + len),
        };
        part.unwrap_or_default()
    }

    #[inline]
    fn entry(&self, index: u32) -> Option<&Entry> {
        self.entries.get(index as usize)
    }
}

/// Returns whether two slices of one length are equal. In Wasm the standard comparison goes byte by
/// byte.
#[inline]
pub(crate) fn are_same(left: &[u8], right: &[u8]) -> bool {
    let (left_words, left) = left.as_chunks::<8>();
    let (right_words, right) = right.as_chunks::<8>();
    let same = |(left, right): (&[u8; 8], &[u8; 8])| {
        u64::from_ne_bytes(*left) == u64::from_ne_bytes(*right)
    };
    left_words.iter().zip(right_words).all(same)
        && left.iter().zip(right).all(|(left, right)| left == right)
}

#[cfg(test)]
mod tests;
