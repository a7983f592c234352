//! Incoming components.

use std::collections::BTreeSet;

use kindsight_model::{Digest, InterpreterName, Source};

/// A component to be admitted.
#[derive(Debug, Clone)]
pub struct IncomingComponent {
    /// Its source: [`Source::Directory`] or [`Source::Upload`].
    pub source: Source,
    /// The name that it must declare; none: its own, whatever that is. The name of a file says nothing.
    pub name: Option<InterpreterName>,
    /// The file in the watched directory.
    pub file: Option<String>,
    /// Files of the watched directory that were removed: this one may replace the versions of one of them,
    /// as after a rename.
    pub gone: BTreeSet<String>,
    /// The digest its bytes must have.
    pub expected: Option<Digest>,
    /// True to stop at candidate.
    pub is_candidate: bool,
    /// True if it may take the name of a built-in interpreter without judging all of its Kinds.
    pub replaces_built_in: bool,
    /// The component.
    pub bytes: Vec<u8>,
}
