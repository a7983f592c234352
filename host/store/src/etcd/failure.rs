//! Errors of the etcd client, split by what the caller does next.

use std::io;

use etcd_client::Error as ClientError;

use crate::{Error, chain};

// gRPC status codes: https://grpc.io/docs/guides/status-codes/
const INVALID_ARGUMENT: i32 = 3;
const NOT_FOUND: i32 = 5;
const PERMISSION_DENIED: i32 = 7;
const RESOURCE_EXHAUSTED: i32 = 8;
const FAILED_PRECONDITION: i32 = 9;
const OUT_OF_RANGE: i32 = 11;
const UNAUTHENTICATED: i32 = 16;

/// The maximum length of a stored reason, in characters.
const REASON_CHARS_MAX: usize = 500;

/// A call that failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The call did not reach a member. It is safe to repeat it.
    NotSent(String),
    /// The call may have reached a member, but no answer arrived.
    Unanswered(String),
    /// The user's token has expired, or etcd's users were changed. A new token is needed.
    OldToken(String),
    /// The requested revision is compacted.
    Compacted,
    /// The answer is larger than the client accepts.
    AnswerTooLarge,
    /// The member rejected the call, which had no effect.
    Refused(Error),
}

impl Failure {
    /// The error of a call that wrote nothing and is not repeated.
    pub(super) fn into_error(self) -> Error {
        match self {
            Self::NotSent(reason) | Self::Unanswered(reason) => Error::Unavailable { reason },
            Self::OldToken(reason) => Error::Denied { reason },
            Self::Compacted => Error::Backend("etcd compacted the requested revision".into()),
            Self::AnswerTooLarge => Error::Backend("a value in etcd is too large to read".into()),
            Self::Refused(error) => error,
        }
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        let ClientError::GRpcStatus(status) = &error else {
            return Self::of_client(error);
        };
        let message = clipped(status.message());
        match i32::from(status.code()) {
            PERMISSION_DENIED => denied(format!("the user lacks the permission ({message})")),
            UNAUTHENTICATED => Self::OldToken(message),
            INVALID_ARGUMENT | FAILED_PRECONDITION
                if message.contains("revision of auth store") =>
            {
                Self::OldToken(message)
            }
            INVALID_ARGUMENT if message.contains("authentication failed") => {
                denied("the name of the user or the password is wrong".to_owned())
            }
            INVALID_ARGUMENT if message.contains("user name is empty") => {
                denied("this etcd requires a user and a password".to_owned())
            }
            FAILED_PRECONDITION if message.contains("authentication is not enabled") => denied(
                "a user and a password were given, but this etcd does not use authentication"
                    .to_owned(),
            ),
            NOT_FOUND if message.contains("lease not found") => {
                Self::Refused(Error::LeaseLost { key: message })
            }
            OUT_OF_RANGE if message.contains("compacted") => Self::Compacted,
            OUT_OF_RANGE if message.contains("too large") => Self::AnswerTooLarge,
            RESOURCE_EXHAUSTED if message.contains("space exceeded") => {
                Self::Refused(Error::Full(io::Error::other(message)))
            }
            RESOURCE_EXHAUSTED if message.contains("too many requests") => Self::NotSent(message),
            INVALID_ARGUMENT | FAILED_PRECONDITION | OUT_OF_RANGE => {
                Self::Refused(Error::Backend(Box::new(error)))
            }
            _ if is_connecting(status) => Self::NotSent(reason(status)),
            _ => Self::Unanswered(reason(status)),
        }
    }
}

impl Failure {
    fn of_client(error: ClientError) -> Self {
        let text = clipped(&error.to_string());
        match error {
            ClientError::TransportError(_) | ClientError::IoError(_) => Self::NotSent(text),
            ClientError::WatchError(_) => Self::Unanswered(text),
            error => Self::Refused(Error::Backend(Box::new(error))),
        }
    }
}

fn denied(reason: String) -> Failure {
    Failure::Refused(Error::Denied { reason })
}

/// Returns whether no connection was made, so that nothing was sent.
fn is_connecting(status: &(dyn std::error::Error + 'static)) -> bool {
    let mut source = status.source();
    while let Some(error) = source {
        if let Some(error) = error.downcast_ref::<io::Error>()
            && error.kind() == io::ErrorKind::ConnectionRefused
        {
            return true;
        }
        let text = error.to_string();
        if text.starts_with("tcp connect error") || text.starts_with("dns error") {
            return true;
        }
        source = error.source();
    }
    false
}

/// The innermost cause of a status, which is more specific than the status itself. Falls back to
/// the status.
fn reason(status: &(dyn std::error::Error + 'static)) -> String {
    let mut last = status.source();
    while let Some(next) = last.and_then(std::error::Error::source) {
        last = Some(next);
    }
    match last {
        Some(cause) => clipped(&cause.to_string()),
        None => clipped(&chain(status)),
    }
}

/// A text from a member, shortened to a length that is suitable for a log.
pub(super) fn clipped(text: &str) -> String {
    text.chars().take(REASON_CHARS_MAX).collect()
}
