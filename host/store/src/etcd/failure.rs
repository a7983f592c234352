//! Errors of the client of etcd, by what is done next.

use std::io;

use etcd_client::Error as ClientError;

use crate::{Error, chain};

// Codes of gRPC: https://grpc.io/docs/guides/status-codes/
const INVALID_ARGUMENT: i32 = 3;
const PERMISSION_DENIED: i32 = 7;
const RESOURCE_EXHAUSTED: i32 = 8;
const FAILED_PRECONDITION: i32 = 9;
const OUT_OF_RANGE: i32 = 11;
const UNAUTHENTICATED: i32 = 16;

/// The longest reason that is kept, in characters.
const REASON_CHARS_MAX: usize = 500;

/// A call that failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// It did not reach a member. Another try does no harm.
    NotSent(String),
    /// It may have reached a member, and no answer came.
    Unanswered(String),
    /// The token of the user has ended, or users were changed: a new one helps.
    OldToken(String),
    /// The revision to read at is compacted.
    Compacted,
    /// The answer is larger than the client takes.
    AnswerTooLarge,
    /// The member refused, and nothing was done.
    Refused(Error),
}

impl Failure {
    /// The error of a call that is not tried again, which wrote nothing.
    pub(super) fn into_error(self) -> Error {
        match self {
            Self::NotSent(reason) | Self::Unanswered(reason) => Error::Unavailable { reason },
            Self::OldToken(reason) => Error::Denied { reason },
            Self::Compacted => Error::Backend("etcd compacted what was being read".into()),
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
            PERMISSION_DENIED => denied(format!("the user may not do this ({message})")),
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
                denied("this etcd asks for a user and a password".to_owned())
            }
            FAILED_PRECONDITION if message.contains("authentication is not enabled") => {
                denied("a user and a password were given, and this etcd asks for none".to_owned())
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

/// Tells whether no connection came about, so that nothing was sent.
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

/// The last cause of a status that has one, which says more than the status itself.
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

/// A text of a member, in a length that a log can take.
pub(super) fn clipped(text: &str) -> String {
    text.chars().take(REASON_CHARS_MAX).collect()
}
