//! States that an orchestrator keeps in MongoDB. Reading them needs a binary with the feature `mongodb`.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

#[cfg(feature = "mongodb")]
mod enabled;
#[cfg(not(feature = "mongodb"))]
mod missing;

#[cfg(feature = "mongodb")]
pub(crate) use enabled::{MongodbError, StatesSource, begin, open};
#[cfg(not(feature = "mongodb"))]
pub(crate) use missing::{MongodbError, StatesSource, begin, open};

/// The default of [`MongodbSettings::every`].
pub const MONGODB_POLL: Duration = Duration::from_secs(5);

/// The URI of a MongoDB, which may have a password: it is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct MongodbUri(String);

impl MongodbUri {
    /// Returns whether it has a password.
    pub fn has_password(&self) -> bool {
        let user = self.0.rsplit_once('@').map_or("", |(user, _)| user);
        let user = user.split_once("://").map_or(user, |(_, user)| user);
        user.contains(':')
    }
}

impl From<String> for MongodbUri {
    fn from(uri: String) -> Self {
        Self(uri)
    }
}

impl fmt::Debug for MongodbUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MongodbUri(…)")
    }
}

/// The connection to a MongoDB, and the interval of polls. Only a binary with the feature `mongodb` can use it.
#[derive(Clone, PartialEq, Eq)]
pub struct MongodbSettings {
    /// The URI. Its database holds the states. Without a database, `emco` is read if it has states, else `mco`.
    pub uri: MongodbUri,
    /// The name of a user, where the URI has none; with a password.
    pub user: Option<String>,
    /// The password of that user.
    pub password: Option<String>,
    /// A PEM file with the certificate authorities of the MongoDB; enables TLS.
    pub ca: Option<PathBuf>,
    /// The time between two polls.
    pub every: Duration,
}

impl fmt::Debug for MongodbSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MongodbSettings")
            .field("uri", &self.uri)
            .field("user", &self.user)
            .field("password", &self.password.as_ref().map(|_| "…"))
            .field("ca", &self.ca)
            .field("every", &self.every)
            .finish()
    }
}
