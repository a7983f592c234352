//! Options of the way into a MongoDB.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The way into a MongoDB, and how often it is asked.
#[derive(Clone)]
pub struct MongodbOptions {
    /// Its URI, `mongodb://HOST:PORT,…/DATABASE?OPTION=VALUE`. The database is the one with the states; without it
    /// `emco` is read where it has any, else `mco`.
    pub uri: String,
    /// The name of a user, where the URI has none; with a password.
    pub user: Option<String>,
    /// The password of that user.
    pub password: Option<String>,
    /// A PEM file with the authorities of its certificate. TLS is spoken where it is set.
    pub ca: Option<PathBuf>,
    /// The time between two polls.
    pub every: Duration,
    /// The longest that one answer is waited for.
    pub deadline: Duration,
}

impl fmt::Debug for MongodbOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A URI may hold a password.
        f.debug_struct("MongodbOptions")
            .field("user", &self.user)
            .field("ca", &self.ca)
            .field("every", &self.every)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

/// The reason why a MongoDB cannot be followed at all. None shows a password.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The URI cannot be used.
    #[error(
        "the URI of MongoDB cannot be used: {0}; write mongodb://HOST:27017, or \
         mongodb://HOST:27017,HOST:27017/DATABASE?replicaSet=NAME"
    )]
    Uri(String),
    /// The URI has a user, and another one is given beside it.
    #[error(
        "the URI of MongoDB has a user, and another one is given beside it: leave one of them out"
    )]
    TwoUsers,
    /// The URI has a user without a password.
    #[error(
        "the URI of MongoDB has a user without a password: name the user beside the URI, with the file of its password"
    )]
    NoPassword,
    /// The file with the authorities cannot be read.
    #[error("read the authorities of MongoDB in {}", path.display())]
    Ca {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
}
