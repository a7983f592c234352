//! Credentials as docker stores them: in a configuration file, or behind a credential helper.

mod helper;

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::limits::DOCKER_CONFIG_BYTES_MAX;

/// The key under which docker stores the credentials of Docker Hub.
const DOCKER_HUB_KEY: &str = "https://index.docker.io/v1/";
/// The hosts of Docker Hub.
const DOCKER_HUB_HOSTS: [&str; 3] = ["docker.io", "index.docker.io", "registry-1.docker.io"];

/// The configuration file of docker, with the credentials of registries.
///
/// The file is read at each use, so that a renewed login counts without a restart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DockerConfig {
    path: Option<PathBuf>,
}

/// The credentials of one registry.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Credentials {
    /// A name and a password.
    Basic {
        user: String,
        password: Zeroizing<String>,
    },
    /// A token that a token server exchanges for others (`identitytoken`).
    Identity { token: Zeroizing<String> },
    /// A token for the registry itself (`registrytoken`).
    Bearer { token: Zeroizing<String> },
}

/// The reason why credentials cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    /// The file cannot be read.
    #[error("credentials cannot be read from {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file is not a configuration file of docker. The message does not quote the file.
    #[error("{} is not a configuration file of docker: {why}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The difference.
        why: String,
    },
    /// A credential helper failed.
    #[error("the credential helper `{program}` failed: {why}")]
    Helper {
        /// The program.
        program: String,
        /// The cause.
        why: String,
    },
}

/// A secret of a JSON document.
#[derive(Deserialize)]
#[serde(from = "String")]
pub(crate) struct Secret(pub(crate) Zeroizing<String>);

impl From<String> for Secret {
    fn from(secret: String) -> Self {
        Self(Zeroizing::new(secret))
    }
}

/// The members of the file that have credentials.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Content {
    auths: BTreeMap<String, Entry>,
    cred_helpers: BTreeMap<String, String>,
    creds_store: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "lowercase", default)]
struct Entry {
    auth: Option<Secret>,
    username: Option<String>,
    password: Option<Secret>,
    identitytoken: Option<Secret>,
    registrytoken: Option<Secret>,
}

impl DockerConfig {
    /// The file of this environment: `REGISTRY_AUTH_FILE`, else `config.json` in `DOCKER_CONFIG`,
    /// else `~/.docker/config.json`.
    pub fn of_environment() -> Self {
        let of = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let path = of("REGISTRY_AUTH_FILE").map(PathBuf::from);
        let path = path.or_else(|| Some(PathBuf::from(of("DOCKER_CONFIG")?).join("config.json")));
        let home = || Some(PathBuf::from(of("HOME")?).join(".docker/config.json"));
        Self {
            path: path.or_else(home),
        }
    }

    /// The file at this path.
    pub fn at(path: &Path) -> Self {
        Self {
            path: Some(path.to_owned()),
        }
    }

    /// The credentials of a registry, or `None` if there are none. A missing file has none. May
    /// run a credential helper.
    pub(crate) fn credentials(&self, host: &str) -> Result<Option<Credentials>, CredentialError> {
        let Some(path) = &self.path else {
            return Ok(None);
        };
        let Some(bytes) = read(path)? else {
            return Ok(None);
        };
        let content: Content =
            serde_json::from_slice(&bytes).map_err(|error| CredentialError::Invalid {
                path: path.clone(),
                why: position(&error),
            })?;
        let helpers = keys(host).into_iter();
        let mut helpers = helpers.filter_map(|key| content.cred_helpers.get(&key));
        if let Some(helper) = helpers.next().or(content.creds_store.as_ref()) {
            let server = server_of(host);
            if let Some(found) = helper::get(helper, server)? {
                return Ok(Some(found));
            }
        }
        let entries = keys(host).into_iter();
        let mut entries = entries.filter_map(|key| content.auths.get(&key));
        entries
            .find_map(|entry| entry.credentials().transpose())
            .transpose()
            .map_err(|why| CredentialError::Invalid {
                path: path.clone(),
                why: format!("the entry of {host}: {why}"),
            })
    }
}

impl fmt::Display for DockerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{}", path.display()),
            None => f.write_str("~/.docker/config.json (HOME is not set)"),
        }
    }
}

impl Entry {
    /// The credentials of the entry. An entry without members only says that a helper has them.
    fn credentials(&self) -> Result<Option<Credentials>, &'static str> {
        let filled = |token: &Option<Secret>| {
            let token = token.as_ref().map(|token| token.0.clone());
            token.filter(|token| !token.is_empty())
        };
        if let Some(token) = filled(&self.identitytoken) {
            return Ok(Some(Credentials::Identity { token }));
        }
        if let Some(token) = filled(&self.registrytoken) {
            return Ok(Some(Credentials::Bearer { token }));
        }
        if let Some(auth) = filled(&self.auth) {
            return decoded(&auth).map(Some);
        }
        let named = self.username.clone().zip(self.password.as_ref());
        Ok(named.map(|(user, Secret(password))| Credentials::Basic {
            user,
            password: password.clone(),
        }))
    }
}

/// Decodes `auth`: name and password, separated by a colon, in Base64.
fn decoded(auth: &str) -> Result<Credentials, &'static str> {
    let expected = "`auth` is the Base64 of `NAME:PASSWORD`";
    let bytes = BASE64_STANDARD.decode(auth.trim()).map_err(|_| expected)?;
    let bytes = Zeroizing::new(bytes);
    let text = std::str::from_utf8(&bytes).map_err(|_| expected)?;
    // Docker pads some entries with zeros.
    let text = text.trim_end_matches('\0');
    let (user, password) = text.split_once(':').ok_or(expected)?;
    Ok(Credentials::Basic {
        user: user.to_owned(),
        password: Zeroizing::new(password.to_owned()),
    })
}

impl Credentials {
    /// The name of the user, for messages.
    pub(crate) fn user(&self) -> &str {
        match self {
            Self::Basic { user, .. } => user,
            Self::Identity { .. } | Self::Bearer { .. } => "<token>",
        }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credentials({})", self.user())
    }
}

/// The name under which a credential helper knows a registry.
fn server_of(host: &str) -> &str {
    if DOCKER_HUB_HOSTS.contains(&host) {
        DOCKER_HUB_KEY
    } else {
        host
    }
}

/// The keys under which docker and other tools store a registry, in order of precedence.
fn keys(host: &str) -> Vec<String> {
    let mut keys = vec![
        host.to_owned(),
        format!("https://{host}"),
        format!("https://{host}/"),
        format!("https://{host}/v1/"),
        format!("https://{host}/v2/"),
        format!("http://{host}"),
    ];
    if DOCKER_HUB_HOSTS.contains(&host) {
        keys.extend([DOCKER_HUB_KEY.to_owned(), "docker.io".to_owned()]);
    }
    keys
}

fn read(path: &Path) -> Result<Option<Zeroizing<Vec<u8>>>, CredentialError> {
    let unreadable = |source| CredentialError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(unreadable)?,
    };
    let mut bytes = Zeroizing::new(Vec::new());
    let read = file
        .take(DOCKER_CONFIG_BYTES_MAX + 1)
        .read_to_end(&mut bytes);
    let read = read.map_err(unreadable)?;
    if u64::try_from(read).is_ok_and(|read| read > DOCKER_CONFIG_BYTES_MAX) {
        return Err(CredentialError::Invalid {
            path: path.to_owned(),
            why: format!("it has more than {DOCKER_CONFIG_BYTES_MAX} bytes"),
        });
    }
    Ok(Some(bytes))
}

/// The position of a JSON error, without the text of the document, which may be a password.
fn position(error: &serde_json::Error) -> String {
    format!("line {}, column {}", error.line(), error.column())
}

#[cfg(test)]
mod tests;
