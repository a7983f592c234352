//! Errors of settings and of requests.

use std::io;
use std::path::PathBuf;

/// The reason why settings of an endpoint are invalid. Found at the start, for the operator. No text contains the path
/// of the URL.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The URL is invalid.
    #[error("the URL {why}; the correct form is `https://HOST[:PORT][/PATH]`")]
    Url {
        /// The problem.
        why: &'static str,
    },
    /// The host of the URL is not in the list.
    #[error("the host {host} is not in `hosts` of `[outgoing]`")]
    HostNotListed {
        /// The host with its port.
        host: String,
    },
    /// The address in the URL is forbidden.
    #[error("{host} is {reason}; `addresses` of `[outgoing]` can permit it")]
    AddressForbidden {
        /// The address.
        host: String,
        /// The use of the address.
        reason: String,
    },
    /// The timeout is zero.
    #[error("the timeout is 0; the correct form is a time such as `10s`")]
    Timeout,
    /// A file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file does not have the expected content.
    #[error("{} holds no {what}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The expected content, and its form.
        what: &'static str,
    },
    /// The key belongs to another certificate.
    #[error("the private key in {} does not fit the certificate in {}", key.display(), certificate.display())]
    KeyMismatch {
        /// The file of the key.
        key: PathBuf,
        /// The file of the certificate.
        certificate: PathBuf,
    },
    /// A TLS file needs a URL with `https`.
    #[error("certificates need a URL with `https://`")]
    TlsWithoutHttps,
}

/// The reason why there is no answer to a request.
///
/// After [`Forbidden`](Self::Forbidden), [`NotConnected`](Self::NotConnected), [`Credentials`](Self::Credentials) and
/// [`Invalid`](Self::Invalid), nothing was sent. After any other error, the receiver may have processed the request. No text contains credentials or the path
/// of the URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The host or its address is not permitted.
    #[error("{0}")]
    Forbidden(String),
    /// No connection could be made.
    #[error("{0}")]
    NotConnected(String),
    /// The receiver ended the connection, or does not speak HTTP.
    #[error("{0}")]
    Unreachable(String),
    /// TLS failed: the certificate is not trusted, or the receiver refused the certificate of the client.
    #[error("{0}")]
    Tls(String),
    /// The time of the request ended.
    #[error("{host} did not answer within {seconds} s")]
    TimedOut {
        /// The host with its port.
        host: String,
        /// The time limit, in seconds.
        seconds: u64,
    },
    /// The answer exceeds a size limit.
    #[error("the answer of {0} is larger than its limit")]
    AnswerTooLarge(String),
    /// The file with the credentials cannot be read, or holds no usable text.
    #[error("{0}")]
    Credentials(String),
    /// The caller made an invalid request: a path that leaves the URL, or a header that is no header.
    #[error("{0}")]
    Invalid(String),
}

impl RequestError {
    /// Returns whether nothing was sent, so the receiver has certainly not processed the request.
    pub fn is_unsent(&self) -> bool {
        matches!(
            self,
            Self::Forbidden(_) | Self::NotConnected(_) | Self::Credentials(_) | Self::Invalid(_)
        )
    }
}
