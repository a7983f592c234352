//! Options of a store in an etcd.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The default of [`EtcdOptions::deadline`].
const DEADLINE: Duration = Duration::from_secs(5);

/// Connection settings of an etcd, and the part of its keys that is used.
#[derive(Clone, PartialEq, Eq)]
pub struct EtcdOptions {
    /// A PEM file with the CA certificates that sign the members' certificates. If set, TLS is
    /// used.
    pub ca: Option<PathBuf>,
    /// A PEM file with the client certificate. Requires `key`.
    pub cert: Option<PathBuf>,
    /// A PEM file with the private key of the client certificate.
    pub key: Option<PathBuf>,
    /// The name of an etcd user. Requires `password`.
    pub user: Option<String>,
    /// The password of the user.
    pub password: Option<String>,
    /// A prefix of every key, for tests that share an etcd. Empty by default.
    pub key_prefix: String,
    /// The prefix of the keys that are watched, `/` by default. If the user may read only
    /// `/context/`, set it to `/context/`.
    pub watched: String,
    /// The longest time that one call waits for an answer, 5 seconds by default. If the outcome of
    /// a write is unknown then, reading it back may take the same time again.
    pub deadline: Duration,
}

impl Default for EtcdOptions {
    fn default() -> Self {
        Self {
            ca: None,
            cert: None,
            key: None,
            user: None,
            password: None,
            key_prefix: String::new(),
            watched: "/".to_owned(),
            deadline: DEADLINE,
        }
    }
}

impl fmt::Debug for EtcdOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EtcdOptions")
            .field("ca", &self.ca)
            .field("cert", &self.cert)
            .field("key", &self.key)
            .field("user", &self.user)
            .field("password", &self.password.as_ref().map(|_| "…"))
            .field("key_prefix", &self.key_prefix)
            .field("watched", &self.watched)
            .field("deadline", &self.deadline)
            .finish()
    }
}
