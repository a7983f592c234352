//! A login at the OIDC issuer of a named server.
//!
//! `kindsight login` gets tokens with the device authorization grant (RFC 8628) and stores them in a file. The other
//! commands send the ID token, because its audience is the client that the server expects. They renew the ID token
//! with the refresh token after it has expired.

mod file;
mod id_token;
mod issuer;
mod polling;

use std::fmt;
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::client::Token;
use crate::client_config::OidcClient;
use file::LoginFile;
use id_token::Claims;
use issuer::{Issuer, OAuthError, TokenAnswer};

pub(crate) use issuer::DeviceCode;

/// Time before its expiry at which an ID token is renewed: the request takes time, and clocks differ.
const RENEWED_BEFORE: SignedDuration = SignedDuration::from_secs(10);

/// A login that a command uses.
pub(crate) struct Login {
    /// The name of the server.
    server: String,
    client: OidcClient,
    file: LoginFile,
    tokens: Mutex<LoginTokens>,
}

/// The tokens of a login, as in its file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct LoginTokens {
    issuer: String,
    client_id: String,
    subject: String,
    /// A name of the user, for people.
    pub(crate) user: String,
    id_token: Token,
    /// `None` if the issuer sends none: the login ends with the ID token.
    refresh_token: Option<Token>,
    /// The expiry of the ID token.
    pub(crate) expires: Timestamp,
}

impl LoginTokens {
    /// Checks an answer of the issuer.
    ///
    /// # Errors
    /// The answer has no ID token of this issuer for this client.
    fn of(client: &OidcClient, answer: TokenAnswer) -> anyhow::Result<Self> {
        let id_token = answer
            .id_token
            .context("the issuer sent no ID token; the scopes must contain `openid`")?;
        let claims = Claims::read(&id_token, client)?;
        Ok(Self {
            issuer: client.issuer.clone(),
            client_id: client.client_id.clone(),
            expires: claims.expires()?,
            user: claims.user().to_owned(),
            subject: claims.sub,
            id_token,
            refresh_token: answer.refresh_token,
        })
    }

    fn is_of(&self, client: &OidcClient) -> bool {
        self.issuer == client.issuer && self.client_id == client.client_id
    }

    fn is_valid(&self, now: Timestamp) -> bool {
        now.saturating_add(RENEWED_BEFORE)
            .is_ok_and(|soon| soon < self.expires)
    }
}

impl Login {
    /// Reads the login to a server; `None` without one for its issuer and client.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn load(server: &str, client: &OidcClient) -> anyhow::Result<Option<Self>> {
        let file = LoginFile::of(server)?;
        let tokens = file.read()?.filter(|tokens| tokens.is_of(client));
        Ok(tokens.map(|tokens| Self {
            server: server.to_owned(),
            client: client.clone(),
            file,
            tokens: Mutex::new(tokens),
        }))
    }

    /// The ID token. Renews an expired token, and stores the new tokens.
    ///
    /// # Errors
    /// The login has expired, or the issuer cannot be reached.
    pub(crate) fn token(&self) -> anyhow::Result<Token> {
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        if !tokens.is_valid(Timestamp::now()) {
            *tokens = self.renewed(&tokens)?;
        }
        Ok(tokens.id_token.clone())
    }

    /// The tokens after their renewal by this command, or by another one in the meantime: an issuer may accept each
    /// refresh token only once.
    fn renewed(&self, expired: &LoginTokens) -> anyhow::Result<LoginTokens> {
        let Self { server, file, .. } = self;
        let again = || {
            let expires = expired.expires;
            format!(
                "the login to `{server}` expired at {expires}; `kindsight login --server {server}` logs in again"
            )
        };
        let _lock = file.lock()?;
        let stored = file.read()?.filter(|tokens| tokens.is_of(&self.client));
        let stored = stored.with_context(again)?;
        if stored.is_valid(Timestamp::now()) {
            return Ok(stored);
        }
        let refresh_token = stored.refresh_token.as_ref().with_context(again)?;
        let answer = Issuer::discover(&self.client)
            .and_then(|issuer| issuer.refresh(refresh_token))
            .map_err(|error| {
                let is_refused = error.is::<OAuthError>();
                let failed = format!("renew the login to `{server}`");
                error.context(if is_refused { again() } else { failed })
            })?;
        let mut renewed = LoginTokens::of(&self.client, answer)?;
        anyhow::ensure!(
            renewed.subject == stored.subject,
            "the issuer renewed the login to `{server}` for another user"
        );
        renewed.refresh_token = renewed.refresh_token.or(stored.refresh_token);
        file.write(&renewed)?;
        Ok(renewed)
    }
}

impl fmt::Display for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        let LoginTokens { user, expires, .. } = &*tokens;
        let server = &self.server;
        write!(
            f,
            "the login to `{server}` of {user}, valid until {expires}"
        )
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let server = &self.server;
        f.debug_struct("Login")
            .field("server", server)
            .finish_non_exhaustive()
    }
}

/// Logs in: `show` shows the user the code, and the issuer answers once the user has approved it. Stores the tokens.
///
/// # Errors
/// The issuer cannot be reached or is unsuitable, the user refuses or is too late, or the file cannot be written.
pub(crate) fn log_in(
    server: &str,
    client: &OidcClient,
    show: impl FnOnce(&DeviceCode),
) -> anyhow::Result<LoginTokens> {
    let file = LoginFile::of(server)?;
    let issuer = Issuer::discover(client)?;
    let code = issuer.device_code()?;
    show(&code);
    let answer = polling::wait(&issuer, &code)?;
    let tokens = LoginTokens::of(client, answer)?;
    let _lock = file.lock()?;
    file.write(&tokens)?;
    Ok(tokens)
}

/// The result of a logout.
pub(crate) struct LoggedOut {
    /// False if there was no login.
    pub(crate) was_logged_in: bool,
    /// The reason why the issuer still accepts the refresh token.
    pub(crate) not_revoked: Option<anyhow::Error>,
}

/// Removes the tokens of a login, and revokes the refresh token at the issuer. `client` is the configured issuer.
///
/// # Errors
/// The file cannot be removed.
pub(crate) fn log_out(server: &str, client: Option<&OidcClient>) -> anyhow::Result<LoggedOut> {
    let file = LoginFile::of(server)?;
    let (tokens, was_logged_in) = {
        // A renewal at the same time would store a new refresh token.
        let _lock = file.lock()?;
        (file.read(), file.remove()?)
    };
    let revoked = tokens.and_then(|tokens| tokens.map_or(Ok(()), |tokens| revoke(&tokens, client)));
    Ok(LoggedOut {
        was_logged_in,
        not_revoked: revoked.err(),
    })
}

fn revoke(tokens: &LoginTokens, client: Option<&OidcClient>) -> anyhow::Result<()> {
    let Some(refresh_token) = &tokens.refresh_token else {
        return Ok(());
    };
    let client = client.filter(|client| tokens.is_of(client));
    let client = client.with_context(|| {
        format!(
            "the login is of the issuer {} and the client `{}`, which the client configuration does not name any more",
            tokens.issuer, tokens.client_id
        )
    })?;
    Issuer::discover(client)?.revoke(refresh_token)
}
