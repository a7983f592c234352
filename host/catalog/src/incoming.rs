//! Incoming components.

use std::collections::BTreeSet;

use kindsight_model::{Digest, InterpreterName, Source};

/// A component to be admitted.
#[derive(Debug, Clone)]
pub struct IncomingComponent {
    /// Its source: [`Source::Directory`] or [`Source::Upload`].
    pub source: Source,
    /// Its name: for an upload the name that it must declare; for a file the file's stem, under which a
    /// refusal is listed that happens before the component declares its name.
    pub name: InterpreterName,
    /// The file in the watched directory.
    pub file: Option<String>,
    /// Files of the watched directory that were removed: this one may replace the versions of one of them,
    /// as after a rename.
    pub gone: BTreeSet<String>,
    /// The digest its bytes must have.
    pub expected: Option<Digest>,
    /// True to stop at candidate.
    pub is_candidate: bool,
    /// The component.
    pub bytes: Vec<u8>,
}
