//! Options of a store in an etcd.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The default of [`EtcdOptions::deadline`].
const DEADLINE: Duration = Duration::from_secs(5);

/// The way into an etcd, and what of it is used.
#[derive(Clone, PartialEq, Eq)]
pub struct EtcdOptions {
    /// A PEM file with the authorities of the members' certificates. TLS is spoken where it is set.
    pub ca: Option<PathBuf>,
    /// A PEM file with the certificate to show to members; with a key.
    pub cert: Option<PathBuf>,
    /// A PEM file with the private key of the certificate.
    pub key: Option<PathBuf>,
    /// The name of an etcd user; with a password.
    pub user: Option<String>,
    /// The password of the user.
    pub password: Option<String>,
    /// A text before every key, for tests that share an etcd; empty by default.
    pub key_prefix: String,
    /// The prefix of the keys whose changes are heard, `/` by default. A user who may read
    /// `/context/` alone needs it to be that.
    pub watched: String,
    /// The longest that one call waits for an answer; 5 seconds by default. A write whose outcome is
    /// unknown then is read back, which may take as long once more.
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
