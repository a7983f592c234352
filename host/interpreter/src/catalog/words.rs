//! What is told of the catalog's work.

use std::collections::BTreeSet;

use kindsight_model::{LoadStep, Source};
use serde::{Deserialize, Serialize};

/// What was done to an interpreter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// A component came.
    Load,
    /// The candidate went live.
    Promote,
    /// Back to the previous version.
    Rollback,
    /// Left out of what is published.
    Disable,
    /// Taken in again.
    Enable,
    /// Its settings changed.
    Settings,
    /// A slot was emptied.
    Remove,
    /// The breaker went back, because of too many faults.
    Breaker,
    /// A component was refused.
    Refuse,
}

/// Where an interpreter stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// A version of it judges.
    Live,
    /// Accepted, and waiting to be promoted.
    Candidate,
    /// Left out of what is published.
    Disabled,
    /// It was so already.
    Unchanged,
    /// No slot has a live version.
    None,
}

/// What a command led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The interpreter.
    pub name: String,
    /// What was done.
    pub action: Action,
    /// The component it was about; none where it was about none.
    pub digest: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// Where the interpreter stands now.
    pub standing: Standing,
    /// The same for people.
    pub detail: String,
}

/// Why a command changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no interpreter of this name.
    #[error("there is no such interpreter")]
    NotFound {
        /// The names there are, sorted.
        known: Vec<String>,
    },
    /// It is not in a state in which that can be done, or another host that shares the shelf changed it
    /// at the same moment.
    #[error("{0}")]
    Conflict(String),
    /// A step of the pipeline refused it.
    #[error("{step}: {why}")]
    Refused {
        /// The step.
        step: LoadStep,
        /// Why, in words its author can act on.
        why: String,
    },
    /// The host could not do it: its store, or itself, is at fault.
    #[error("{0}")]
    Failed(String),
}

impl Refusal {
    pub(super) fn at(step: LoadStep, why: impl Into<String>) -> Self {
        let why = why.into();
        Self::Refused { step, why }
    }
}

/// A component that comes in.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// From where: [`Source::Directory`] or [`Source::Upload`].
    pub source: Source,
    /// Its name: for an upload what it must call itself; for a file its name without `.wasm`, under
    /// which a refusal is shown that comes before the component could say its name.
    pub hint: String,
    /// The file in the watched directory.
    pub file: Option<String>,
    /// Files of the watched directory that are gone: this one may take over what one of them fills,
    /// as when a file is given another name.
    pub gone: BTreeSet<String>,
    /// What the bytes must hash to: `sha256:` and 64 lower-case hex digits.
    pub expected: Option<String>,
    /// Whether to stop at candidate.
    pub is_candidate: bool,
    /// The component.
    pub bytes: Vec<u8>,
}
