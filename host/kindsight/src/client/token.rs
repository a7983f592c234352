//! Tokens: where a command takes its token from, and the text that names the source in errors.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use kindsight_access::is_token;
use serde::{Deserialize, Serialize};
use ureq::http::HeaderValue;

use super::ServiceAccountToken;
use crate::cli::hint;
use crate::login::Login;

/// Most bytes of a token that a command sends.
const TOKEN_BYTES_MAX: u64 = 16 * 1024;

/// Permission bits of a file that let other users read it.
const READ_BY_OTHERS: u32 = 0o044;

/// A bearer token, or a refresh token. `Debug` hides the token.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Token(String);

impl Token {
    /// Parses a token; white space around it does not count.
    ///
    /// # Errors
    /// There is no token, or it has characters that no token has. The error does not contain the token.
    pub(crate) fn parse(text: &str) -> anyhow::Result<Self> {
        let token = text.trim();
        anyhow::ensure!(!token.is_empty(), "there is no token");
        anyhow::ensure!(
            token.len() as u64 <= TOKEN_BYTES_MAX,
            "the token is longer than {TOKEN_BYTES_MAX} bytes"
        );
        anyhow::ensure!(
            token.bytes().all(|byte| byte.is_ascii_graphic()),
            "a token has only printable ASCII characters without spaces; expected one token alone"
        );
        Ok(Self(token.to_owned()))
    }

    /// Reads a token from a file; white space around it does not count.
    ///
    /// # Errors
    /// The file cannot be read, or holds no token.
    fn read(path: &Path) -> anyhow::Result<Self> {
        let failed = || format!("read a token from {}", path.display());
        let mut text = String::new();
        let file = File::open(path).or_else(|error| {
            anyhow::ensure!(
                !path.to_str().is_some_and(is_token),
                "--token-file and KINDSIGHT_TOKEN_FILE name a file, and the value is a token; write the token to a file that only you can read"
            );
            Err(error).with_context(failed)
        })?;
        let mut limited = file.take(TOKEN_BYTES_MAX + 1);
        limited.read_to_string(&mut text).with_context(failed)?;
        Self::parse(&text).with_context(failed)
    }

    /// The value of the header `Authorization`.
    pub(super) fn authorization(&self) -> anyhow::Result<HeaderValue> {
        sensitive(&format!("Bearer {}", self.0))
    }

    /// The value of the header `Kindsight-Token`.
    pub(super) fn header(&self) -> anyhow::Result<HeaderValue> {
        sensitive(&self.0)
    }

    /// The token, for the file of a login and for requests to its issuer.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

fn sensitive(text: &str) -> anyhow::Result<HeaderValue> {
    let mut value = HeaderValue::try_from(text)
        .map_err(|_| anyhow::anyhow!("the token cannot be sent in a header"))?;
    value.set_sensitive(true);
    Ok(value)
}

impl TryFrom<String> for Token {
    type Error = anyhow::Error;

    fn try_from(text: String) -> anyhow::Result<Self> {
        Self::parse(&text)
    }
}

impl From<Token> for String {
    fn from(token: Token) -> Self {
        token.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// The source of the token that a command sends.
#[derive(Debug, Clone, Default)]
pub(crate) enum TokenSource {
    /// No token is sent.
    #[default]
    None,
    /// The variable `KINDSIGHT_TOKEN`.
    Environment(Token),
    /// A file. The file is read for each request, because its token may be renewed while a command runs.
    File(PathBuf),
    /// A login at the issuer of a named server.
    Login(Arc<Login>),
    /// A `ServiceAccount` of the cluster.
    ServiceAccount(Arc<ServiceAccountToken>),
}

impl TokenSource {
    /// A file with a token. Prints a warning if other users can read the file.
    pub(crate) fn file(path: PathBuf) -> Self {
        let mode = std::fs::metadata(&path).map_or(0, |metadata| metadata.permissions().mode());
        if mode & READ_BY_OTHERS != 0 {
            let path = path.display();
            hint(&format!(
                "warning: other users can read the token in {path}; `chmod 600 {path}` prevents this"
            ));
        }
        Self::File(path)
    }

    /// The token for a request that is sent now, if there is one.
    ///
    /// # Errors
    /// The file has no token, or the login has expired and cannot be renewed.
    pub(super) fn token(&self) -> anyhow::Result<Option<Token>> {
        match self {
            Self::None => Ok(None),
            Self::Environment(token) => Ok(Some(token.clone())),
            Self::File(path) => Token::read(path).map(Some),
            Self::Login(login) => login.token().map(Some),
            Self::ServiceAccount(account) => account.token().map(Some),
        }
    }

    /// Returns whether requests have a token.
    pub(super) fn is_some(&self) -> bool {
        !matches!(self, Self::None)
    }
}

impl fmt::Display for TokenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("no token"),
            Self::Environment(_) => f.write_str("the token of KINDSIGHT_TOKEN"),
            Self::File(path) => write!(f, "the token of {}", path.display()),
            Self::Login(login) => login.fmt(f),
            Self::ServiceAccount(account) => account.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_without_white_space_and_never_shown() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("token");
        std::fs::write(&path, "  s3cret \r\n").unwrap();
        let source = TokenSource::File(path.clone());
        let token = source.token().unwrap().unwrap();
        assert_eq!(token.reveal(), "s3cret");
        assert_eq!(token.authorization().unwrap(), "Bearer s3cret");
        assert!(token.authorization().unwrap().is_sensitive());
        assert!(!format!("{token:?} {source:?} {source}").contains("s3cret"));
        std::fs::write(&path, "renewed").unwrap();
        assert_eq!(source.token().unwrap().unwrap().reveal(), "renewed");
    }

    #[test]
    fn text_that_is_no_token_is_refused_without_showing_it() {
        let long = "x".repeat(16 * 1024 + 1);
        for text in ["", " \n", "two s3crets", "s3cret\nmore", "s3crét", &long] {
            let error = format!("{:#}", Token::parse(text).unwrap_err());
            assert!(
                error.contains("token") && !error.contains("s3cr"),
                "{error}"
            );
            assert!(!error.contains("xx"));
        }
    }
}
