//! Views: documents in the form that a component receives.

use crate::document::Document;
use crate::entry::{Entry, NODE_BYTES};

/// Size of the header before the nodes, which contains their number, in bytes.
pub(crate) const HEADER_BYTES: usize = 4;

/// The reason why bytes are not a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewError {
    /// The bytes are shorter than the header, or than the number of nodes in the header.
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
    /// Parses a view. Its nodes are checked when they are read, and a wrong position reads as
    /// absent.
    ///
    /// # Errors
    /// If the bytes are not a view.
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
