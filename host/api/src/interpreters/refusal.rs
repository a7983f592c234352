//! Refusals: reasons why a command changed nothing.

use kindsight_model::{Digest, LoadStep};

/// The reason why a command changed nothing.
///
/// Returned by the catalog. The server answers with a problem document and a status code for each
/// case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no interpreter with this name.
    #[error("there is no such interpreter")]
    NotFound {
        /// The existing names, sorted.
        known: Vec<String>,
    },
    /// The command does not fit the present state of the interpreter, or another host that shares
    /// the store changed the interpreter at the same time. Contains the reason for the reader. The
    /// same command may succeed later.
    #[error("{0}")]
    Conflict(String),
    /// The command's condition on the live version does not hold. Contains the reason for the
    /// reader, with the version that is live.
    #[error("{0}")]
    Changed(String),
    /// Too many commands of this kind run at the same time. The same command may succeed later.
    #[error("{0}")]
    Busy(String),
    /// The store cannot be reached. Contains the reason for the reader, with the outcome of the
    /// change. The same command may succeed later.
    #[error("{0}")]
    Unavailable(String),
    /// A step of the load refused the component or its settings. The same command fails again.
    #[error("{step}: {why}")]
    Refused {
        /// The step that refused it.
        step: LoadStep,
        /// The reason, as text on which the author can act.
        why: String,
    },
    /// The store or the host failed. The answer contains no details; the text is logged.
    #[error("{0}")]
    Failed(String),
}

impl Refusal {
    /// Makes a refusal by a step of the load.
    pub fn at(step: LoadStep, why: impl Into<String>) -> Self {
        let why = why.into();
        Self::Refused { step, why }
    }
}

/// The condition of a command on the version that is live at the time of the change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum LiveCondition {
    /// No condition.
    #[default]
    Any,
    /// A version is live.
    Present,
    /// The live version has one of these digests.
    OneOf(Vec<Digest>),
}

impl LiveCondition {
    /// Returns whether the condition holds for this digest of the live version, or `None` without a
    /// live version.
    pub fn holds(&self, live: Option<&Digest>) -> bool {
        match self {
            Self::Any => true,
            Self::Present => live.is_some(),
            Self::OneOf(digests) => live.is_some_and(|live| digests.contains(live)),
        }
    }
}
