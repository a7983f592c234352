//! Refusals: reasons why a command changed nothing.

use kindsight_model::{Digest, LoadStep};

/// The reason why a command changed nothing.
///
/// Given by the catalog; the server answers with a problem document and a status code for each case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no interpreter of this name.
    #[error("there is no such interpreter")]
    NotFound {
        /// The names there are, sorted.
        known: Vec<String>,
    },
    /// It does not fit the present state of the interpreter, or another host that shares the store
    /// changed it at the same moment; in words for the reader. The same command may succeed later.
    #[error("{0}")]
    Conflict(String),
    /// The condition of the command on the live version does not hold; in words for the reader, with
    /// the version that is live.
    #[error("{0}")]
    Changed(String),
    /// Too many commands of its kind at a time. The same command may succeed later.
    #[error("{0}")]
    Busy(String),
    /// The store is away; in words for the reader, with what became of the change. The same command may succeed
    /// later.
    #[error("{0}")]
    Unavailable(String),
    /// A step of the load refused the component, or its settings. The same command fails again.
    #[error("{step}: {why}")]
    Refused {
        /// The step that refused.
        step: LoadStep,
        /// The reason, in words that its author can act on.
        why: String,
    },
    /// The store or the host failed. The reader is told no more than that; the text is logged.
    #[error("{0}")]
    Failed(String),
}

impl Refusal {
    /// Refused at a step of the load.
    pub fn at(step: LoadStep, why: impl Into<String>) -> Self {
        let why = why.into();
        Self::Refused { step, why }
    }
}

/// Condition of a command on the version that is live at the moment of the change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum LiveCondition {
    /// None.
    #[default]
    Any,
    /// A version is live.
    Present,
    /// One of these digests is live.
    OneOf(Vec<Digest>),
}

impl LiveCondition {
    /// Returns whether it holds where this digest is live, or none is.
    pub fn holds(&self, live: Option<&Digest>) -> bool {
        match self {
            Self::Any => true,
            Self::Present => live.is_some(),
            Self::OneOf(digests) => live.is_some_and(|live| digests.contains(live)),
        }
    }
}
