//! Trees: JSON text, parsed once to a flat list of nodes that refer to the text.
//!
//! A library would be slower: a tree of borrowed values makes one list per object and array and
//! copies the position of every key. This tree makes one list per document, compares strings eight
//! bytes at a time, and parses numbers only on demand. Components receive the same nodes, so the
//! parts of an object that the host passes need no conversion.
//!
//! Accepts the same JSON as `serde_json`: at most 127 levels deep, and numbers within the range of
//! a float.

mod cursor;
mod reader;
mod skip;
mod string;

pub use cursor::Cursor;

use crate::document::Document;
use crate::entry::Entry;
use crate::limits::TREE_NODES_MAX;
use crate::node::Node;

/// Maximum number of nested objects and arrays. Deeper texts are rejected, as in `serde_json`, and
/// the limit is low enough for the stack that the host gives a component.
const DEPTH_MAX: usize = 127;

/// Bytes of text for which one node is reserved, the average of objects in clusters.
const BYTES_PER_NODE: usize = 18;
/// Minimum number of reserved nodes.
const NODES_MIN: usize = 16;

/// The reason why a text was not parsed. No message repeats the text, because it may be a Secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadError {
    /// The text is not JSON, or is nested too deeply: the problem, and the position of its byte.
    Invalid(&'static str, usize),
    /// The text contains more values than [`TREE_NODES_MAX`].
    TooManyValues,
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Invalid(what, at) => write!(f, "{what} at byte {at}"),
            Self::TooManyValues => write!(f, "more than {TREE_NODES_MAX} values"),
        }
    }
}

impl std::error::Error for ReadError {}

/// A problem in a text, and the position of its byte.
type Problem = (&'static str, usize);

/// The nodes of a JSON text, which its owner keeps. They need about as much memory as the text.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    nodes: Vec<Entry>,
    /// Decoded strings, which contained escapes, one after another.
    decoded: String,
    /// True if an object may have two members with the same name.
    may_repeat: bool,
}

impl Tree {
    /// Parses a text.
    ///
    /// # Errors
    /// If the text is not JSON, is nested too deeply, or contains too many values.
    pub fn read(text: &str) -> Result<Self, ReadError> {
        let mut tree = Self::default();
        let nodes = text.len() / BYTES_PER_NODE + NODES_MIN;
        tree.nodes.reserve(nodes.min(TREE_NODES_MAX));
        let end = tree.reread(text)?;
        match reader::skip_space(text.as_bytes(), end) {
            end if end == text.len() => Ok(tree),
            end => Err(ReadError::Invalid("text after the end", end)),
        }
    }

    /// Parses the value at the start of another text, with the same memory. Returns the position of
    /// its end. After an error, the tree is empty.
    ///
    /// # Errors
    /// The errors of [`Tree::read`].
    /// As [`Tree::read`].
    pub(crate) fn reread(&mut self, text: &str) -> Result<usize, ReadError> {
        self.nodes.clear();
        self.decoded.clear();
        let read = reader::read(text, self);
        if read.is_err() {
            self.nodes.clear();
        }
        read
    }

    /// A copy without spare memory.
    pub(crate) fn compact(&self) -> Self {
        Self {
            nodes: self.nodes.as_slice().to_vec(),
            decoded: self.decoded.as_str().to_owned(),
            may_repeat: self.may_repeat,
        }
    }

    /// The document of this tree and the text from which it was parsed. With another text, its
    /// strings are different or empty.
    pub fn document<'a>(&'a self, text: &'a str) -> Document<'a> {
        Document::of_tree(&self.nodes, text, &self.decoded, !self.may_repeat)
    }

    /// The memory that the tree uses, in bytes.
    pub fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Entry>() + self.decoded.capacity()
    }
}

impl<'a> Document<'a> {
    /// The outermost value.
    pub fn root(&'a self) -> Node<'a> {
        Node::root(self)
    }
}

#[cfg(test)]
pub(crate) mod tests;
