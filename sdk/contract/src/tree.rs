//! Trees: JSON text, read once into a flat list of nodes that refer to it.
//!
//! A library would be slower: a tree of borrowed values makes one list per object and array and copies
//! every key's position; this makes one list per document, compares strings eight bytes at a time, and
//! parses numbers only on demand. And its nodes are those that a component is given, so that what the
//! host cuts out of an object needs no other form.
//!
//! Accepts the same JSON as `serde_json`: at most 127 levels deep, numbers within the range of a float.

mod cursor;
mod reader;
mod skip;
mod string;

pub use cursor::Cursor;

use crate::document::Document;
use crate::entry::Entry;
use crate::limits::TREE_NODES_MAX;
use crate::node::Node;

/// Levels of objects and arrays that are read; deeper ones are refused. As `serde_json`, and low
/// enough for the stack the host gives a component.
const DEPTH_MAX: usize = 127;

/// Bytes of text for which one node is reserved: what objects of clusters have.
const BYTES_PER_NODE: usize = 18;
/// Least number of nodes that is reserved.
const NODES_MIN: usize = 16;

/// The reason why a text was not read. No message repeats the text, because it may be a Secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadError {
    /// Not JSON, or nested too deeply: what is wrong, and at which byte.
    Invalid(&'static str, usize),
    /// More values than [`TREE_NODES_MAX`].
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

/// A problem of a text, and its byte.
type Problem = (&'static str, usize);

/// Nodes of a JSON text, which stays with its owner. About as large as the text.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    nodes: Vec<Entry>,
    /// Strings that had escapes, one after another.
    decoded: String,
    /// True where an object may have two members of one name.
    may_repeat: bool,
}

impl Tree {
    /// Reads a text.
    ///
    /// # Errors
    /// Not JSON, too deep, or too many values.
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

    /// Reads the value at the start of another text into the same memory; returns where it ends. After an
    /// error the tree is empty.
    ///
    /// # Errors
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

    /// The document of this tree and the text it was read from. With another text its strings are
    /// other ones, or empty.
    pub fn document<'a>(&'a self, text: &'a str) -> Document<'a> {
        Document::of_tree(&self.nodes, text, &self.decoded, !self.may_repeat)
    }

    /// Bytes of memory that it holds.
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
