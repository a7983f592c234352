//! Refusals: reasons why a command changed nothing.

use kindsight_model::LoadStep;

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
