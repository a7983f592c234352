//! Errors of requests to an API server.

use tower::BoxError;

use crate::kubernetes::decode::Status;
use crate::kubernetes::told::chain;

/// The reason why a request to an API server failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::kubernetes) enum ApiError {
    /// The server cannot be reached, or fell silent.
    #[error("{0}")]
    Unreachable(String),
    /// The credentials are not accepted.
    #[error("the credentials are not accepted: {0}")]
    Unauthorized(String),
    /// The credentials cannot be made out of the configuration.
    #[error("the credentials cannot be used: {0}")]
    Credentials(String),
    /// The credentials do not allow it.
    #[error("not allowed: {0}")]
    Forbidden(String),
    /// A resource that the server does not have.
    #[error("not found: {0}")]
    NotFound(String),
    /// A version that the server no longer knows: its resource has to be listed again.
    #[error("too old: {0}")]
    Gone(String),
    /// The server answers with an error.
    #[error("it answers {code}: {message}")]
    Failed {
        /// The status.
        code: u16,
        /// Its message.
        message: String,
    },
    /// The answer cannot be read.
    #[error("its answer cannot be read: {0}")]
    Unreadable(String),
}

impl ApiError {
    /// The reason why a cluster as a whole is not heard.
    pub(in crate::kubernetes) fn of_cluster(&self) -> String {
        match self {
            Self::Unauthorized(_) | Self::Credentials(_) => self.to_string(),
            _ => format!("the cluster cannot be reached: {self}"),
        }
    }

    /// The error that a status means.
    pub(in crate::kubernetes) fn of_status(status: Status) -> Self {
        let Status { message, code } = status;
        match code {
            401 => Self::Unauthorized(message),
            403 => Self::Forbidden(message),
            404 => Self::NotFound(message),
            410 => Self::Gone(message),
            code => Self::Failed { code, message },
        }
    }

    /// The error that a connection failed with.
    pub(super) fn unreachable(error: impl Into<BoxError>) -> Self {
        Self::Unreachable(chain(&*error.into()))
    }
}
