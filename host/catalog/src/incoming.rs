//! Components that come in.

use std::collections::BTreeSet;

use kindsight_model::{Digest, InterpreterName, Source};

/// A component that comes in.
#[derive(Debug, Clone)]
pub struct IncomingComponent {
    /// Its source: [`Source::Directory`] or [`Source::Upload`].
    pub source: Source,
    /// Its name: for an upload what it must call itself; for a file what the file's name says, under
    /// which a refusal is shown that comes before the component could say its name.
    pub name: InterpreterName,
    /// The file in the watched directory.
    pub file: Option<String>,
    /// Files of the watched directory that are gone: this one may replace what one of them fills, as
    /// when a file is given another name.
    pub gone: BTreeSet<String>,
    /// The digest its bytes must have.
    pub expected: Option<Digest>,
    /// Whether to stop at candidate.
    pub is_candidate: bool,
    /// The component.
    pub bytes: Vec<u8>,
}
