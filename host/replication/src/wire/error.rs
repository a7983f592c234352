//! Errors of a stream.

use kindsight_model::ObjectError;

use super::{FORMAT, LINE_BYTES_MAX};

/// The reason why a stream cannot be followed. The follower requests a new snapshot.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// A line is not JSON of this format.
    #[error("a line cannot be read: {0}")]
    Line(#[from] serde_json::Error),
    /// A line is too long.
    #[error("a line has more than {LINE_BYTES_MAX} bytes")]
    TooLong,
    /// The upstream host writes another version of the format.
    #[error(
        "it writes version {0} of the replication format, and this host reads version {FORMAT}; use releases with the same version"
    )]
    Format(u32),
    /// A name is invalid.
    #[error("{what} `{text}` is no valid name")]
    Name {
        /// The named thing.
        what: &'static str,
        /// The text.
        text: String,
    },
    /// A line refers to something that was not sent before.
    #[error("a line refers to {0}, which was not sent before")]
    Unknown(&'static str),
    /// An object cannot be read.
    #[error("an object cannot be read: {0}")]
    Object(#[from] ObjectError),
}

impl WireError {
    pub(crate) fn name(what: &'static str, text: &str) -> Self {
        Self::Name {
            what,
            text: text.chars().take(200).collect(),
        }
    }
}
