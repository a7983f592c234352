//! Trees: JSON text, read once into a flat list of nodes that refer to it.
//!
//! A library would be slower: a tree of borrowed values makes one list per object and array and copies
//! every key's position; this makes one list per document, compares strings eight bytes at a time, and
//! parses numbers only on demand. And its nodes are those that a component is given, so that what the
//! host cuts out of an object needs no other form.
//!
//! Accepts the same JSON as `serde_json`: at most 127 levels deep, numbers within the range of a float.

mod reader;
mod string;

use crate::document::Document;
use crate::entry::Entry;
use crate::limits::TREE_NODES_MAX;
use crate::node::Node;

/// Levels of objects and arrays that are read; deeper ones are refused. As `serde_json`, and low
/// enough for the stack the host gives a component.
const DEPTH_MAX: usize = 127;

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
        tree.reread(text)?;
        Ok(tree)
    }

    /// Reads another text into the same memory; after an error the tree is empty.
    ///
    /// # Errors
    /// As [`Tree::read`].
    pub fn reread(&mut self, text: &str) -> Result<(), ReadError> {
        self.nodes.clear();
        self.decoded.clear();
        let read = reader::read(text, &mut self.nodes, &mut self.decoded);
        if read.is_err() {
            self.nodes.clear();
        }
        self.may_repeat = read?;
        Ok(())
    }

    /// The document of this tree and the text it was read from. With another text its strings are
    /// other ones, or empty.
    pub fn document<'a>(&'a self, text: &'a str) -> Document<'a> {
        Document::of_tree(&self.nodes, text, &self.decoded, !self.may_repeat)
    }

    /// Lets go of memory that is larger than this many nodes.
    pub fn shrink_to(&mut self, nodes: usize) {
        self.nodes.clear();
        self.nodes.shrink_to(nodes);
        self.decoded.clear();
        self.decoded.shrink_to(nodes);
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
