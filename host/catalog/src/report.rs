//! Commands to the catalog and their results.

use std::collections::BTreeSet;

use kindsight_model::{CatalogAction, Digest, InterpreterName, LoadStep, Source};

/// The state of an interpreter after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// A version of it judges.
    Live,
    /// Accepted, and waiting to be promoted.
    Candidate,
    /// Left out of what is published.
    Disabled,
    /// It was so already.
    Unchanged,
    /// No source has a live version.
    None,
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The interpreter.
    pub name: InterpreterName,
    /// The change.
    pub action: CatalogAction,
    /// The component it was about; none where it was about none.
    pub digest: Option<Digest>,
    /// Its version.
    pub version: Option<String>,
    /// The state of the interpreter now.
    pub activation: Activation,
    /// The same for people.
    pub detail: String,
}

/// The reason why a command changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no interpreter of this name.
    #[error("there is no such interpreter")]
    NotFound {
        /// The names there are, sorted.
        known: Vec<String>,
    },
    /// It is not in a state in which that can be done, or another host that shares the store changed it
    /// at the same moment.
    #[error("{0}")]
    Conflict(String),
    /// A step of the load refused it.
    #[error("{step}: {why}")]
    Refused {
        /// The step.
        step: LoadStep,
        /// The reason, in words its author can act on.
        why: String,
    },
    /// The host could not do it: its store, or itself, is at fault.
    #[error("{0}")]
    Failed(String),
}

impl Refusal {
    /// A refusal by a step.
    pub(crate) fn at(step: LoadStep, why: impl Into<String>) -> Self {
        let why = why.into();
        Self::Refused { step, why }
    }
}

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
