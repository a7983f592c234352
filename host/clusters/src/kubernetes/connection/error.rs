//! Failed requests to an API server, and their meaning for the requested Kind.

use std::time::Duration;

use tower::BoxError;

use crate::kubernetes::decode::Status;
use crate::kubernetes::error_text::without_credentials;

/// Status codes of a server that serves a Kind without lists.
const NOT_LISTABLE: [u16; 4] = [405, 406, 415, 501];

/// Cause of a failed request to an API server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::kubernetes) enum ApiError {
    /// The connection failed, or the server stopped answering on it.
    #[error("{0}")]
    Unreachable(String),
    /// The server did not answer this request in time.
    #[error("{0}")]
    TimedOut(String),
    /// The server ended several watches in a row soon after they began.
    #[error("the server ends its watches early")]
    Ended,
    /// The answer is too large, or did not end in time.
    #[error("{0}")]
    TooLarge(String),
    /// The server does not accept the credentials.
    #[error("the credentials are not accepted: {0}")]
    Unauthorized(String),
    /// The configuration gives no usable credentials.
    #[error("the credentials cannot be used: {0}")]
    Credentials(String),
    /// The credentials do not allow the request.
    #[error("not allowed: {0}")]
    Forbidden(String),
    /// The server does not have the resource.
    #[error("not found: {0}")]
    NotFound(String),
    /// The server no longer has the version: its resource must be listed again.
    #[error("too old: {message}")]
    Gone {
        /// The message of the response.
        message: String,
        /// The continue token for the rest of an expired list at the current version.
        next: Option<String>,
    },
    /// Any other error response.
    #[error("it answers {code}: {message}")]
    Failed {
        /// The status code.
        code: u16,
        /// The message of the response.
        message: String,
        /// The time that the server asks clients to wait before they try again.
        retry_after: Option<Duration>,
    },
    /// The response cannot be decoded.
    #[error("its answer cannot be read: {0}")]
    Unreadable(String),
}

/// Meaning of a failed request for the Kind that was requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::kubernetes) enum ResponseClass {
    /// An answer, once a repeated request confirms it: the credentials do not allow the Kind.
    Forbidden,
    /// An answer, once a repeated request confirms it: the server does not serve the Kind.
    Unserved,
    /// An answer: the server serves the Kind without lists.
    NotListable,
    /// The Kind is awaited: the request is repeated with backoff.
    Awaited,
    /// The Kind must be listed again.
    TooOld,
    /// The credentials are not accepted.
    Unauthorized,
}

impl ResponseClass {
    /// Returns whether the response is an answer only if a repeated request gets it too. A starting API server
    /// sends these responses before it has loaded its rules.
    pub(in crate::kubernetes) fn needs_confirmation(self) -> bool {
        matches!(self, Self::Forbidden | Self::Unserved)
    }
}

impl ApiError {
    /// The meaning of the error for the Kind that was requested.
    pub(in crate::kubernetes) fn response(&self) -> ResponseClass {
        match self {
            Self::Forbidden(_) => ResponseClass::Forbidden,
            Self::NotFound(_) => ResponseClass::Unserved,
            Self::Gone { .. } => ResponseClass::TooOld,
            Self::Unauthorized(_) => ResponseClass::Unauthorized,
            Self::Failed { code, .. } if NOT_LISTABLE.contains(code) => ResponseClass::NotListable,
            Self::Unreachable(_)
            | Self::TimedOut(_)
            | Self::Ended
            | Self::TooLarge(_)
            | Self::Credentials(_)
            | Self::Failed { .. }
            | Self::Unreadable(_) => ResponseClass::Awaited,
        }
    }

    /// The time that the server asks clients to wait before they try again.
    pub(in crate::kubernetes) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Failed { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// The cause of an outage of the cluster, as text for readers.
    pub(in crate::kubernetes) fn of_cluster(&self) -> String {
        match self {
            Self::Unauthorized(_) | Self::Credentials(_) => self.to_string(),
            _ => format!("the cluster cannot be reached: {self}"),
        }
    }

    /// The error for a `Status`.
    pub(in crate::kubernetes) fn of_status(status: Status) -> Self {
        let Status {
            message,
            code,
            details,
            metadata,
        } = status;
        match code {
            401 => Self::Unauthorized(message),
            403 => Self::Forbidden(message),
            404 => Self::NotFound(message),
            410 => Self::Gone {
                message,
                next: metadata
                    .and_then(|it| it.r#continue)
                    .filter(|it| !it.is_empty()),
            },
            code => Self::Failed {
                code,
                message,
                retry_after: details.unwrap_or_default().retry_after(),
            },
        }
    }

    /// The error for a failed connection.
    pub(in crate::kubernetes) fn unreachable(error: impl Into<BoxError>) -> Self {
        Self::Unreachable(without_credentials(&*error.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_has_one_meaning() {
        let table = [
            (401, ResponseClass::Unauthorized),
            (403, ResponseClass::Forbidden),
            (404, ResponseClass::Unserved),
            (405, ResponseClass::NotListable),
            (406, ResponseClass::NotListable),
            (408, ResponseClass::Awaited),
            (410, ResponseClass::TooOld),
            (415, ResponseClass::NotListable),
            (429, ResponseClass::Awaited),
            (500, ResponseClass::Awaited),
            (501, ResponseClass::NotListable),
            (503, ResponseClass::Awaited),
            (504, ResponseClass::Awaited),
        ];
        for (code, expected) in table {
            let status = Status {
                code,
                ..Status::default()
            };
            assert_eq!(ApiError::of_status(status).response(), expected, "{code}");
        }
        for error in [
            ApiError::Unreachable(String::new()),
            ApiError::TimedOut(String::new()),
            ApiError::Ended,
            ApiError::TooLarge(String::new()),
            ApiError::Unreadable(String::new()),
        ] {
            assert_eq!(error.response(), ResponseClass::Awaited, "{error:?}");
        }
    }
}
