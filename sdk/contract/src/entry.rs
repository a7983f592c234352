//! Nodes of a document in their stored form, in trees and in views: sixteen bytes each.

/// Size of one node, in bytes.
pub const NODE_BYTES: usize = 16;

/// Maximum length of a member's key, in bytes. Its length is stored in 24 bits.
pub const KEY_BYTES_MAX: usize = (1 << 24) - 1;

/// One node, in the format of `wit/view.md`.
pub(crate) type Entry = [u8; NODE_BYTES];

/// The index of no node, past the end of every document.
pub(crate) const NONE: u32 = u32::MAX;

/// The numbers of the kinds of nodes.
pub(crate) mod kind {
    pub(crate) const NULL: u8 = 0;
    pub(crate) const FALSE: u8 = 1;
    pub(crate) const TRUE: u8 = 2;
    pub(crate) const NUMBER: u8 = 3;
    pub(crate) const TEXT: u8 = 4;
    pub(crate) const ARRAY: u8 = 5;
    pub(crate) const OBJECT: u8 = 6;
}

/// A part of a document's text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

/// The value of a node. The parts of an array or object are the nodes after it, each followed by
/// its own parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(Span),
    Text(Span),
    Array {
        /// Number of its items.
        count: u32,
        /// The first node after its parts.
        end: u32,
    },
    Object {
        /// Number of its members.
        count: u32,
        /// The first node after its parts.
        end: u32,
    },
}

/// Makes a node. `key` is empty for items of arrays and for the root.
#[inline]
pub(crate) fn entry(key: Span, value: Value) -> Entry {
    let (kind, third, fourth) = match value {
        Value::Null => (kind::NULL, 0, 0),
        Value::Bool(false) => (kind::FALSE, 0, 0),
        Value::Bool(true) => (kind::TRUE, 0, 0),
        Value::Number(span) => (kind::NUMBER, span.start, span.len),
        Value::Text(span) => (kind::TEXT, span.start, span.len),
        Value::Array { count, end } => (kind::ARRAY, count, end),
        Value::Object { count, end } => (kind::OBJECT, count, end),
    };
    let head = u32::from(kind) | key.len << 8;
    let mut bytes = [0; NODE_BYTES];
    let (parts, _) = bytes.as_chunks_mut::<4>();
    for (part, word) in parts.iter_mut().zip([head, key.start, third, fourth]) {
        *part = word.to_le_bytes();
    }
    bytes
}

/// The four words of a node.
#[inline]
fn words(entry: &Entry) -> [u32; 4] {
    let mut words = [0; 4];
    let (parts, _) = entry.as_chunks::<4>();
    for (word, part) in words.iter_mut().zip(parts) {
        *word = u32::from_le_bytes(*part);
    }
    words
}

/// The key of a node.
#[inline]
pub(crate) fn key(entry: &Entry) -> Span {
    let [head, start, ..] = words(entry);
    Span {
        start,
        len: head >> 8,
    }
}

/// The first four bytes of a node: its kind, and the length of its key. Searches read only these
/// bytes of most nodes.
#[derive(Clone, Copy)]
pub(crate) struct Head(u32);

impl Head {
    /// The length of the key, in bytes.
    #[inline]
    pub(crate) fn key_len(self) -> usize {
        (self.0 >> 8) as usize
    }

    /// True if the node is an array or an object.
    #[inline]
    pub(crate) fn has_parts(self) -> bool {
        self.kind() >= kind::ARRAY
    }

    #[inline]
    fn kind(self) -> u8 {
        let [kind, ..] = self.0.to_le_bytes();
        kind
    }
}

/// The head of a node.
#[inline]
pub(crate) fn head(entry: &Entry) -> Head {
    let [head, ..] = words(entry);
    Head(head)
}

/// The last four bytes of a node. For an array or object, they are the index of the first node
/// after its parts.
#[inline]
pub(crate) fn fourth(entry: &Entry) -> u32 {
    let [.., fourth] = words(entry);
    fourth
}

/// The value of a node. An unknown kind reads as null.
#[inline]
pub(crate) fn value(entry: &Entry) -> Value {
    let [head, _, third, fourth] = words(entry);
    let span = Span {
        start: third,
        len: fourth,
    };
    match Head(head).kind() {
        kind::FALSE => Value::Bool(false),
        kind::TRUE => Value::Bool(true),
        kind::NUMBER => Value::Number(span),
        kind::TEXT => Value::Text(span),
        kind::ARRAY => Value::Array {
            count: third,
            end: fourth,
        },
        kind::OBJECT => Value::Object {
            count: third,
            end: fourth,
        },
        _ => Value::Null,
    }
}

/// The first node after the parts of an array or object, or `None` for any other node.
#[inline]
pub(crate) fn end(entry: &Entry) -> Option<u32> {
    head(entry).has_parts().then(|| fourth(entry))
}
