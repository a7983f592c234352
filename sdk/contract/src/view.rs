//! Views: documents as a component is given them.

use crate::document::Document;
use crate::entry::{Entry, NODE_BYTES};

/// Bytes before the nodes: their number.
pub(crate) const HEADER_BYTES: usize = 4;

/// The reason why bytes are not a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewError {
    /// Shorter than its number, or than the nodes it says it has.
    TooShort,
    /// Its text is not UTF-8.
    NotText,
}

impl std::fmt::Display for ViewError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::TooShort => "the view is shorter than its nodes",
            Self::NotText => "the text of the view is not UTF-8",
        })
    }
}

impl std::error::Error for ViewError {}

impl<'a> Document<'a> {
    /// Reads a view. Its nodes are checked when they are read: a wrong place reads as absent.
    ///
    /// # Errors
    /// The bytes are not a view.
    pub fn view(bytes: &'a [u8]) -> Result<Self, ViewError> {
        let (count, rest) = bytes
            .split_first_chunk::<HEADER_BYTES>()
            .ok_or(ViewError::TooShort)?;
        let count = u32::from_le_bytes(*count) as usize;
        let nodes_bytes = count.checked_mul(NODE_BYTES).ok_or(ViewError::TooShort)?;
        let (nodes, text) = rest
            .split_at_checked(nodes_bytes)
            .ok_or(ViewError::TooShort)?;
        let (nodes, _): (&[Entry], _) = nodes.as_chunks();
        let text = std::str::from_utf8(text).map_err(|_| ViewError::NotText)?;
        Ok(Self::of_view(nodes, text))
    }
}
