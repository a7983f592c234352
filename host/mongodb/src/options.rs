//! Options of the connection to a MongoDB.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The connection to a MongoDB, and the polling interval.
#[derive(Clone)]
pub struct MongodbOptions {
    /// The URI, `mongodb://HOST:PORT,…/DATABASE?OPTION=VALUE`. The database is the one with the
    /// states. If the URI contains no database, `emco` is used if it contains states, or else
    /// `mco`.
    pub uri: String,
    /// The name of a user, if the URI contains none. Requires `password`.
    pub user: Option<String>,
    /// The password of that user.
    pub password: Option<String>,
    /// A PEM file with the CA certificates of MongoDB. If set, TLS is used.
    pub ca: Option<PathBuf>,
    /// The time between two polls.
    pub every: Duration,
    /// The longest time for which one answer is awaited.
    pub deadline: Duration,
}

impl fmt::Debug for MongodbOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A URI may contain a password.
        f.debug_struct("MongodbOptions")
            .field("user", &self.user)
            .field("ca", &self.ca)
            .field("every", &self.every)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

/// The reason why a MongoDB can never be followed. No text contains a password.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The URI is not valid.
    #[error(
        "the URI of MongoDB cannot be used: {0}; write mongodb://HOST:27017, or \
         mongodb://HOST:27017,HOST:27017/DATABASE?replicaSet=NAME"
    )]
    Uri(String),
    /// The URI contains a user, and a user is also configured separately.
    #[error(
        "the URI of MongoDB contains a user, and a user is also configured separately: remove one of them"
    )]
    TwoUsers,
    /// The URI contains a user without a password.
    #[error(
        "the URI of MongoDB contains a user without a password: configure the user separately, with a password file"
    )]
    NoPassword,
    /// The CA file cannot be read.
    #[error("failed to read the CA file of MongoDB {}", path.display())]
    Ca {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
}
