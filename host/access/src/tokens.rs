//! The token file: names, hashes and expiry times of the tokens that kindsight itself creates.
//!
//! A token is `kindsight.<name>.<secret>`. The name finds the entry of the file, so that the hash of the secret is
//! compared with one hash, in constant time. The secret has 256 random bits, so a plain SHA-256 protects it.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jiff::Timestamp;
use kindsight_model::Digest;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use crate::files::{self, AccessFileError};
use crate::redaction::is_token;
use crate::toml_error::TomlError;

/// The first part of each token, by which scanners for leaked secrets find it.
pub(crate) const PREFIX: &str = "kindsight";
/// Bytes of a secret.
const SECRET_BYTES: usize = 32;
/// Maximum number of tokens in a file.
const TOKENS_MAX: usize = 1000;
/// Maximum length of the name of a token, in bytes.
const NAME_BYTES_MAX: usize = 63;
/// Version of the file's format.
const VERSION: u32 = 1;

/// The name of a token: lower-case letters, digits and `-`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TokenName(String);

/// The tokens of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TokenFile {
    tokens: BTreeMap<TokenName, StoredToken>,
}

/// A token as the file holds it: without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct StoredToken {
    /// The name.
    pub name: TokenName,
    /// SHA-256 of the secret. Compared with secrets of clients in constant time.
    digest: Digest,
    /// The time of its creation.
    pub created: Timestamp,
    /// The time from which it is refused.
    pub expires: Timestamp,
}

/// A created token. `Debug` does not show the text.
pub struct NewToken {
    /// The text for the `Authorization` header. It cannot be read again from the file.
    pub text: Zeroizing<String>,
    /// The entry of the file.
    pub stored: StoredToken,
}

/// The reason why a token file cannot be used or changed.
#[derive(Debug, thiserror::Error)]
pub enum TokenFileError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] AccessFileError),
    /// The file is not valid TOML, or has other members.
    #[error("{}: {error}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The position and the problem.
        error: TomlError,
    },
    /// The file has the format of a newer kindsight.
    #[error("{} has version {version}; this kindsight reads version {VERSION}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// Two tokens have the same name.
    #[error("{} has two tokens named `{name}`", path.display())]
    Twice {
        /// The file.
        path: PathBuf,
        /// Their name.
        name: String,
    },
    /// Too many tokens.
    #[error("{} has {TOKENS_MAX} tokens, which is the maximum: revoke one first", path.display())]
    Count {
        /// The file.
        path: PathBuf,
    },
    /// A token of this name exists.
    #[error("a token named `{0}` exists: revoke it first, or choose another name")]
    Exists(TokenName),
    /// No token has this name.
    #[error("no token is named `{0}`")]
    Unknown(TokenName),
    /// The name is not a name of a token.
    #[error(
        "`{0}` is not a name of a token: 1 to {NAME_BYTES_MAX} lower-case letters, digits and `-`"
    )]
    Name(String),
    /// The name is a token. The error does not contain the token.
    #[error(
        "expected the name of a token, and not the token: in `{PREFIX}.NAME.SECRET`, the name is the second part"
    )]
    TokenAsName,
    /// The file cannot be written.
    #[error("write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The system has no random bytes.
    #[error("the system has no random bytes: {0}")]
    Random(String),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenDocument {
    version: u32,
    #[serde(default)]
    token: Vec<StoredToken>,
}

impl TokenFile {
    /// Reads a token file. Called at the start and after each change of the file.
    ///
    /// # Errors
    /// [`TokenFileError`] with the file and the problem.
    pub fn read(path: &Path) -> Result<Self, TokenFileError> {
        let text = files::read(path)?;
        let document: TokenDocument =
            toml::from_str(&text).map_err(|error| TokenFileError::Syntax {
                path: path.to_owned(),
                error: TomlError::new(&error, &text),
            })?;
        if document.version != VERSION {
            return Err(TokenFileError::Version {
                path: path.to_owned(),
                version: document.version,
            });
        }
        if document.token.len() > TOKENS_MAX {
            return Err(TokenFileError::Count {
                path: path.to_owned(),
            });
        }
        let mut tokens = BTreeMap::new();
        for token in document.token {
            if let Some(first) = tokens.insert(token.name.clone(), token) {
                return Err(TokenFileError::Twice {
                    path: path.to_owned(),
                    name: first.name.0,
                });
            }
        }
        Ok(Self { tokens })
    }

    /// The tokens, in order of their names.
    pub fn tokens(&self) -> impl Iterator<Item = &StoredToken> {
        self.tokens.values()
    }

    /// Returns whether a token has the form of kindsight's own tokens, whether or not a file has it.
    pub(crate) fn is_own(token: &str) -> bool {
        let rest = token.strip_prefix(PREFIX);
        rest.is_some_and(|rest| rest.starts_with('.'))
    }

    /// Returns the entry of a token that a client sent, also if it has expired; `None` if the file has no such token.
    pub(crate) fn find(&self, token: &str) -> Option<&StoredToken> {
        let (name, secret) = token
            .strip_prefix(PREFIX)?
            .strip_prefix('.')?
            .split_once('.')?;
        let stored = self.tokens.get(&name.parse().ok()?)?;
        let digest = Digest::of(secret.as_bytes());
        let (sent, expected) = (digest.as_str(), stored.digest.as_str());
        bool::from(sent.as_bytes().ct_eq(expected.as_bytes())).then_some(stored)
    }

    /// Creates a token in a file, and the file if there is none. Blocks; called by the command line.
    ///
    /// # Errors
    /// [`TokenFileError`] if the name is taken, or the file cannot be used or written.
    pub fn create(
        path: &Path,
        name: TokenName,
        expires: Timestamp,
    ) -> Result<NewToken, TokenFileError> {
        let mut bytes = Zeroizing::new([0; SECRET_BYTES]);
        getrandom::fill(&mut *bytes).map_err(|error| TokenFileError::Random(error.to_string()))?;
        let secret = Zeroizing::new(BASE64_URL_SAFE_NO_PAD.encode(*bytes));
        let stored = StoredToken {
            digest: Digest::of(secret.as_bytes()),
            created: whole_seconds(Timestamp::now()),
            expires: whole_seconds(expires),
            name,
        };
        Self::change(path, |file| {
            if file.tokens.contains_key(&stored.name) {
                return Err(TokenFileError::Exists(stored.name.clone()));
            }
            if file.tokens.len() >= TOKENS_MAX {
                return Err(TokenFileError::Count {
                    path: path.to_owned(),
                });
            }
            file.tokens.insert(stored.name.clone(), stored.clone());
            Ok(())
        })?;
        let text = Zeroizing::new(format!("{PREFIX}.{}.{}", stored.name, &*secret));
        Ok(NewToken { text, stored })
    }

    /// Removes a token from a file. Blocks; called by the command line.
    ///
    /// # Errors
    /// [`TokenFileError`] if no token has the name, or the file cannot be used or written.
    pub fn revoke(path: &Path, name: &TokenName) -> Result<StoredToken, TokenFileError> {
        let mut revoked = None;
        Self::change(path, |file| {
            revoked = file.tokens.remove(name);
            Ok(())
        })?;
        revoked.ok_or_else(|| TokenFileError::Unknown(name.clone()))
    }

    /// Changes a file under a lock of its folder, so that two commands at the same time lose no token.
    fn change(
        path: &Path,
        change: impl FnOnce(&mut Self) -> Result<(), TokenFileError>,
    ) -> Result<(), TokenFileError> {
        let failed = |source| TokenFileError::Write {
            path: path.to_owned(),
            source,
        };
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let lock = File::open(folder).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let mut file = match Self::read(path) {
            Err(TokenFileError::File(AccessFileError::Read { source, .. }))
                if source.kind() == io::ErrorKind::NotFound =>
            {
                Self::default()
            }
            read => read?,
        };
        change(&mut file)?;
        file.write(path, folder).map_err(failed)
    }

    /// Replaces the file in one step. The new file keeps the permissions of the old one; a first file can be read by its
    /// owner alone.
    fn write(&self, path: &Path, folder: &Path) -> io::Result<()> {
        let document = TokenDocument {
            version: VERSION,
            token: self.tokens.values().cloned().collect(),
        };
        let text = toml::to_string(&document).map_err(io::Error::other)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        if let Ok(before) = fs::metadata(path) {
            file.as_file().set_permissions(before.permissions())?;
        }
        file.as_file().sync_all()?;
        file.persist(path)?;
        File::open(folder)?.sync_all()
    }
}

/// The time without the fraction of its second, which no reader of the file needs.
fn whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

impl StoredToken {
    /// Returns whether the token is refused at a time, in Unix milliseconds.
    pub fn is_expired(&self, now_ms: i64) -> bool {
        self.expires.as_millisecond() <= now_ms
    }
}

impl fmt::Debug for NewToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewToken")
            .field("stored", &self.stored)
            .finish_non_exhaustive()
    }
}

impl TokenName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TokenName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for TokenName {
    type Err = TokenFileError;

    fn from_str(text: &str) -> Result<Self, TokenFileError> {
        let is_valid =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if (1..=NAME_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_valid) {
            return Ok(Self(text.to_owned()));
        }
        if is_token(text) {
            return Err(TokenFileError::TokenAsName);
        }
        Err(TokenFileError::Name(text.to_owned()))
    }
}

impl TryFrom<String> for TokenName {
    type Error = TokenFileError;

    fn try_from(text: String) -> Result<Self, TokenFileError> {
        text.parse()
    }
}

impl From<TokenName> for String {
    fn from(name: TokenName) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn later() -> Timestamp {
        "2999-01-01T00:00:00Z".parse().unwrap()
    }

    fn name(text: &str) -> TokenName {
        text.parse().unwrap()
    }

    #[test]
    fn a_created_token_is_found_by_its_text_alone_and_its_secret_is_not_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.toml");
        let token = TokenFile::create(&path, name("ci"), later()).unwrap();
        let file = TokenFile::read(&path).unwrap();
        assert_eq!(file.find(&token.text), Some(&token.stored));
        let secret = token.text.rsplit('.').next().unwrap();
        assert_eq!(secret.len(), 43, "256 bits as base64");
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains(secret) && !format!("{token:?}").contains(secret));
        for wrong in [
            "",
            "kindsight",
            "kindsight.ci",
            "kindsight.ci.",
            &format!("kindsight.other.{secret}"),
            &format!("ci.{secret}"),
            &token.text.replace("kindsight", "Kindsight"),
            &format!("{}x", &*token.text),
        ] {
            assert_eq!(file.find(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_revoked_token_is_not_found_and_the_others_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.toml");
        let [ci, dev] =
            ["ci", "dev"].map(|of| TokenFile::create(&path, name(of), later()).unwrap());
        TokenFile::revoke(&path, &name("ci")).unwrap();
        let file = TokenFile::read(&path).unwrap();
        assert!(file.find(&ci.text).is_none() && file.find(&dev.text).is_some());
        let error = TokenFile::revoke(&path, &name("ci")).unwrap_err();
        assert!(error.to_string().contains("no token is named `ci`"));
        let error = TokenFile::create(&path, name("dev"), later()).unwrap_err();
        assert!(error.to_string().contains("revoke it first"), "{error}");
    }

    #[test]
    fn the_file_can_be_read_by_its_owner_alone_unless_it_had_other_permissions() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.toml");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        TokenFile::create(&path, name("a"), later()).unwrap();
        assert_eq!(mode(), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        TokenFile::create(&path, name("b"), later()).unwrap();
        assert_eq!(mode(), 0o640);
    }

    #[test]
    fn the_format_of_the_file_is_stable() {
        let text = "version = 1\n\n[[token]]\nname = \"ci\"\ndigest = \"sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"\ncreated = \"2026-11-23T00:00:00Z\"\nexpires = \"2027-02-21T00:00:00Z\"\n";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.toml");
        fs::write(&path, text).unwrap();
        let file = TokenFile::read(&path).unwrap();
        let stored = file.find("kindsight.ci.abc").expect("the hash of `abc`");
        assert!(!stored.is_expired(stored.expires.as_millisecond() - 1));
        assert!(stored.is_expired(stored.expires.as_millisecond()));
        file.write(&path, folder.path()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }

    #[test]
    fn an_invalid_file_is_refused_with_its_problem() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.toml");
        let token = "[[token]]\nname = \"ci\"\ndigest = \"sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"\ncreated = \"2026-11-23T00:00:00Z\"\nexpires = \"2027-02-21T00:00:00Z\"\n";
        for (text, part) in [
            (String::new(), "missing field `version`"),
            ("version = 2".to_owned(), "version 2"),
            (
                format!("version = 1\n{token}{token}"),
                "two tokens named `ci`",
            ),
            (
                format!("version = 1\n{}", token.replace("ba78", "xx78")),
                "sha256:xx78",
            ),
            (
                format!("version = 1\n{}", token.replace("\"ci\"", "\"C I\"")),
                "not a name of a token",
            ),
        ] {
            fs::write(&path, text).unwrap();
            let error = TokenFile::read(&path).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
