//! Errors in EMCO's newer dialect: one line of text, in EMCO's words.

use crate::emco::EmcoSubject;
use crate::problem::{QueryError, clipped};

/// The reason why a query in EMCO's newer dialect has no answer: the first problem, in EMCO's words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmcoError {
    /// The query is not validly encoded.
    #[error("{0}")]
    Encoding(String),
    /// A value of the parameter is not valid.
    #[error("Invalid query {0}")]
    Value(&'static str),
    /// A name to filter by is not valid.
    #[error("Invalid {0} query")]
    Filter(&'static str),
    /// There is no such group, cluster or logical cloud.
    #[error("{}: {text}", .subject.not_found())]
    NoSubject {
        /// The kind of subject.
        subject: EmcoSubject,
        /// The missing name, and the known names.
        text: String,
    },
    /// No action has this instance.
    #[error("No state information for {0}")]
    NoInstance(String),
    /// The `AppContext` of the instance is not stored any more.
    #[error(
        "AppContext for {0} query not found: Error finding the context id: Error getting run time context metadata: Key doesn't exist"
    )]
    NoContext(&'static str),
    /// The `AppContext` has no status yet.
    #[error(
        "AppContext status handle not found: Error getting run time context handles: Key doesn't exist"
    )]
    NoStatus,
    /// There is no such app to filter by.
    #[error("Filter app {app} not in list of apps for composite app {composite_app}")]
    NoApp {
        /// The name to filter by.
        app: String,
        /// The composite application, or the subject if it has none.
        composite_app: String,
    },
}

impl EmcoError {
    /// The error for a subject that is not in the read model.
    pub(super) fn of_lookup(error: QueryError, subject: EmcoSubject, instance: &str) -> Self {
        let (QueryError::Invalid(problems) | QueryError::NotFound(problems)) = error;
        match problems.into_iter().next() {
            Some(problem) if problem.parameter == "instance" => {
                Self::NoInstance(clipped(instance).into_owned())
            }
            problem => Self::NoSubject {
                subject,
                text: problem.map_or_else(String::new, |problem| {
                    format!("{}; expected {}", problem.detail, problem.expected)
                }),
            },
        }
    }

    /// Returns whether the subject or its instance does not exist.
    pub fn is_missing(&self) -> bool {
        matches!(
            self,
            Self::NoSubject { .. } | Self::NoInstance(_) | Self::NoContext(_)
        )
    }
}

impl EmcoSubject {
    /// The beginning of the text for a subject that does not exist.
    fn not_found(self) -> &'static str {
        match self {
            Self::Group => "DeploymentIntentGroup not found",
            Self::Cluster => "cluster state not found",
            Self::LogicalCloud => "Logical Cloud state not found",
        }
    }
}
