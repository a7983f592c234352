//! Options of a pusher.

use std::path::PathBuf;

use kindsight_model::ClusterName;

/// Options of a [`Pusher`](crate::Pusher).
#[derive(Debug, Clone)]
pub struct PushOptions {
    /// The URL of the server: `https://host` with an optional port and path. `http://` only for a loopback address.
    pub to: String,
    /// The credentials of the agent.
    pub credentials: Credentials,
    /// PEM file of the authorities of the server. Without a file, the authorities of the system are trusted.
    pub ca: Option<PathBuf>,
    /// The cluster that the agent reports on. The source of the events must have the same name.
    pub cluster: ClusterName,
    /// Folder of the frames that the server has not acknowledged. No other process may use it.
    pub spool_dir: PathBuf,
    /// Limit of these frames, in bytes. Over it, changes are merged until the server answers.
    pub spool_bytes_max: u64,
}

/// The credentials of an agent. Files are read again when they change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Credentials {
    /// None: for a server without access control, on a loopback address.
    #[default]
    None,
    /// A file with a bearer token.
    TokenFile(PathBuf),
    /// A client certificate.
    Certificate {
        /// PEM file of the certificate, with its chain.
        certificate: PathBuf,
        /// PEM file of the private key.
        key: PathBuf,
    },
}

/// The reason why a pusher cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum PushSetupError {
    /// The URL is not valid.
    #[error("`{0}` is not the URL of a server: write `https://host:port`")]
    Url(String),
    /// The URL has no TLS.
    #[error("`{0}` has no TLS: write `https://`; `http://` is for loopback addresses only")]
    NoTls(String),
    /// The folder of the spool cannot be used.
    #[error("the folder of the spool, {}", path.display())]
    Spool {
        /// The folder.
        path: PathBuf,
        /// The problem.
        source: std::io::Error,
    },
    /// A file of TLS cannot be used.
    #[error("{}: {reason}", path.display())]
    Tls {
        /// The file.
        path: PathBuf,
        /// The problem.
        reason: String,
    },
    /// The system has no authorities.
    #[error("the system has no trusted certificates: name a file with the authority of the server")]
    SystemCa(#[source] std::io::Error),
}
