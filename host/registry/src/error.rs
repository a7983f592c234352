//! Errors of registries, layout folders and artifacts.

use std::io;
use std::path::PathBuf;

use kindsight_model::Digest;

use crate::credentials::CredentialError;
use crate::key::KeyError;

/// The reason why an artifact could not be pushed, pulled, signed or verified.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The registry cannot be reached. Another attempt may succeed.
    #[error("the registry {host} cannot be reached: {why}")]
    Unreachable {
        /// The registry.
        host: String,
        /// The cause.
        why: String,
    },
    /// The registry did not answer in time. Another attempt may succeed.
    #[error("the registry {host} did not answer within {seconds} s")]
    TimedOut {
        /// The registry.
        host: String,
        /// The time limit, in seconds.
        seconds: u64,
    },
    /// The registry reports a fault of its own, or too many requests. Another attempt may succeed.
    #[error("the registry {host} failed with HTTP {status}: {why}")]
    Failing {
        /// The registry.
        host: String,
        /// The HTTP status.
        status: u16,
        /// The reason that the registry states.
        why: String,
    },
    /// The TLS connection to the registry failed.
    #[error(
        "the TLS connection to the registry {host} failed: {why}; `--registry-ca FILE` names the authority of its certificate, and `--registry-plain-http {host}` permits a connection without TLS"
    )]
    Tls {
        /// The registry.
        host: String,
        /// The cause.
        why: String,
    },
    /// The registry requires credentials, and there are none.
    #[error(
        "the registry {host} requires a login: no credentials for {host} are in {config}; `docker login {host}` stores them"
    )]
    NoCredentials {
        /// The registry.
        host: String,
        /// The file that was searched.
        config: String,
    },
    /// The registry refused the credentials, or the user has no access.
    #[error("the registry {host} refused the credentials of `{user}`: {why}")]
    Unauthorized {
        /// The registry.
        host: String,
        /// The name of the user.
        user: String,
        /// The reason that the registry states.
        why: String,
    },
    /// The credentials cannot be read.
    #[error(transparent)]
    Credentials(#[from] CredentialError),
    /// The registry names a token server that would receive credentials without encryption.
    #[error(
        "the registry {host} sends clients to the token server {realm}, which is not reached over HTTPS: credentials are not sent to it"
    )]
    OpenTokenServer {
        /// The registry.
        host: String,
        /// The URL of the token server.
        realm: String,
    },
    /// The repository, the tag or the digest does not exist.
    #[error("{what} does not exist")]
    NotFound {
        /// The reference to the version or blob.
        what: String,
    },
    /// The registry refused a request for another reason.
    #[error("the registry {host} refused {what} with HTTP {status}: {why}")]
    Refused {
        /// The registry.
        host: String,
        /// The request.
        what: String,
        /// The HTTP status.
        status: u16,
        /// The reason that the registry states.
        why: String,
    },
    /// The registry answers in a way that the OCI distribution specification does not describe.
    #[error("the registry {host} does not follow the OCI distribution specification: {why}")]
    Protocol {
        /// The registry.
        host: String,
        /// The difference.
        why: String,
    },
    /// The bytes do not have the requested digest.
    #[error(
        "{what} has other content than its digest says: expected {expected}, received {actual}"
    )]
    DigestMismatch {
        /// The manifest or blob.
        what: String,
        /// The requested digest.
        expected: Digest,
        /// The digest of the received bytes.
        actual: Digest,
    },
    /// The document or blob is larger than its limit.
    #[error("{what} has more than {bytes_max} bytes, the limit of {limit}")]
    TooLarge {
        /// The manifest or blob.
        what: String,
        /// The limit, in bytes.
        bytes_max: usize,
        /// The name of the limit.
        limit: &'static str,
    },
    /// The artifact is not one component.
    #[error("{reference} is not an artifact with one component: {why}")]
    NotAComponent {
        /// The artifact.
        reference: String,
        /// The difference.
        why: String,
    },
    /// The reference names no version.
    #[error("{reference} names no version: {why}")]
    NoVersion {
        /// The reference.
        reference: String,
        /// The missing part of the reference.
        why: String,
    },
    /// No signature of the artifact is valid for one of the keys.
    #[error("{reference} has no valid signature: {why}")]
    NotSigned {
        /// The artifact.
        reference: String,
        /// The problems of its signatures.
        why: String,
    },
    /// A key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A file or folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A layout folder has content that is not valid.
    #[error("{} is not a folder in OCI layout: {why}", path.display())]
    NotALayout {
        /// The folder.
        path: PathBuf,
        /// The difference.
        why: String,
    },
    /// A certificate file cannot be used.
    #[error("{} holds no certificate of an authority: expected PEM, `-----BEGIN CERTIFICATE-----`", path.display())]
    NoAuthority {
        /// The file.
        path: PathBuf,
    },
}

impl Error {
    /// Returns whether a later attempt may succeed without a change of the artifact or the
    /// settings.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. } | Self::TimedOut { .. } | Self::Failing { .. }
        )
    }
}
