//! Failures of the driver, as text for users.

use kindsight_model::clean;
use mongodb::error::{Error as DriverError, ErrorKind};

use crate::limits::REASON_BYTES_MAX;

// MongoDB error codes: https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml
const UNAUTHORIZED: i32 = 13;
const AUTHENTICATION_FAILED: i32 = 18;
/// MongoDB's text for that code.
const FAILED_TEXT: &str = "Authentication failed";

/// A failed attempt, with the reason as a fragment of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) reason: String,
    /// The user lacks the permission to read this, but may have permission to read other data.
    pub(crate) is_denied: bool,
}

impl Failure {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            is_denied: false,
        }
    }

    /// The failure of a call, with the last failure that the driver reported for a member.
    pub(crate) fn of(error: &DriverError, last_heard: Option<String>) -> Self {
        Self {
            reason: reason(error, last_heard),
            is_denied: code(error) == Some(UNAUTHORIZED),
        }
    }
}

/// The reason of an error. The text of the driver's error contains labels and answers instead,
/// which are less specific.
pub(crate) fn reason(error: &DriverError, last_heard: Option<String>) -> String {
    let text = match &*error.kind {
        ErrorKind::Authentication { message, .. } => authentication(error, message),
        ErrorKind::Command(command) if command.code == AUTHENTICATION_FAILED => {
            wrong_password(&command.message)
        }
        ErrorKind::Command(command) if command.code == UNAUTHORIZED => {
            format!(
                "the user lacks the permission to read ({})",
                command.message
            )
        }
        ErrorKind::Command(command) => command.message.clone(),
        ErrorKind::Io(error) => error.to_string(),
        ErrorKind::ServerSelection { message, .. } => {
            last_heard.unwrap_or_else(|| format!("no member answers ({message})"))
        }
        ErrorKind::InvalidArgument { message, .. } => message.clone(),
        kind => kind.to_string(),
    };
    clean(&text, REASON_BYTES_MAX).into_owned()
}

fn wrong_password(message: &str) -> String {
    format!("the name of the user or the password is wrong ({message})")
}

fn authentication(error: &DriverError, message: &str) -> String {
    match code(error) {
        Some(AUTHENTICATION_FAILED) => wrong_password(message),
        // During a login, the driver keeps only MongoDB's text.
        _ if message.contains(FAILED_TEXT) => wrong_password(message),
        _ => format!("the login was rejected ({message})"),
    }
}

/// The code of an error or of its cause.
fn code(error: &DriverError) -> Option<i32> {
    let mut error = Some(error);
    while let Some(cause) = error {
        if let ErrorKind::Command(command) = &*cause.kind {
            return Some(command.code);
        }
        let source = std::error::Error::source(cause);
        error = source.and_then(<dyn std::error::Error>::downcast_ref);
    }
    None
}
