//! Sign-in of browsers at the issuer: the authorization code flow with PKCE (OpenID Connect Core 3.1, RFC 7636).
//!
//! ```text
//! begin ──▶ browser ──▶ issuer ──code──▶ browser ──▶ finish ──code, verifier──▶ issuer
//!                                                       └── ID token
//! ```
//!
//! The server keeps no state about a sign-in. The browser keeps the [`SignInAttempt`] in a cookie, and the issuer
//! returns its `state`: a code is exchanged only by the browser that began the sign-in.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use form_urlencoded::Serializer;
use jsonwebtoken::dangerous::insecure_decode_claims;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

use super::issuer_client::{FetchError, IssuerClient, TokenAnswer};
use super::issuer_url::IssuerUrl;

/// Maximum number of requests to the issuer for sign-ins at a time. Further sign-ins are refused as unavailable.
const EXCHANGES_MAX: usize = 16;
/// Number of random bytes of a state, a nonce and a verifier.
const RANDOM_BYTES: usize = 32;
/// The scopes of a sign-in. Issuers ignore unknown ones.
const SCOPES: &str = "openid profile email groups";

/// The settings of [`CodeFlow`].
#[derive(Clone)]
pub struct CodeFlowSettings {
    /// The URL at which the issuer returns the browser. It must be registered at the issuer.
    pub redirect_url: String,
    /// The secret of a confidential client; `None` for a public client.
    pub client_secret: Option<Zeroizing<String>>,
}

/// Signs browsers in at one issuer.
pub struct CodeFlow {
    client: IssuerClient,
    client_id: String,
    settings: CodeFlowSettings,
    exchanges: Semaphore,
}

/// The secrets of one sign-in, which only the browser that began it has.
#[derive(Clone, Serialize, Deserialize)]
pub struct SignInAttempt {
    state: String,
    nonce: String,
    verifier: String,
    /// The path of the page to which the browser returns.
    pub return_path: String,
}

/// The reason why a sign-in at the issuer failed. The texts are for the log.
#[derive(Debug, thiserror::Error)]
pub enum CodeFlowError {
    /// The browser did not begin this sign-in.
    #[error("the state of the sign-in is not that of the browser")]
    State,
    /// The issuer cannot be reached, or too many sign-ins are in progress.
    #[error("the issuer is unavailable: {0}")]
    Unavailable(String),
    /// The issuer refused the code, or its token is for another sign-in.
    #[error("{0}")]
    Refused(String),
}

/// The claim that binds a token to a sign-in.
#[derive(Deserialize)]
struct Nonce {
    nonce: String,
}

impl CodeFlow {
    pub(super) fn new(client: IssuerClient, client_id: String, settings: CodeFlowSettings) -> Self {
        Self {
            client,
            client_id,
            settings,
            exchanges: Semaphore::new(EXCHANGES_MAX),
        }
    }

    /// Begins a sign-in; returns the URL of the issuer for the browser. `return_path` must be a path of this server.
    ///
    /// # Errors
    /// [`CodeFlowError::Unavailable`].
    pub async fn begin(
        &self,
        return_path: String,
    ) -> Result<(String, SignInAttempt), CodeFlowError> {
        let _permit = self.permit()?;
        let endpoints = self
            .client
            .endpoints()
            .await
            .map_err(|error| unavailable(&error))?;
        let attempt = SignInAttempt {
            state: random()?,
            nonce: random()?,
            verifier: random()?,
            return_path,
        };
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(attempt.verifier.as_bytes()));
        let parameters = [
            ("response_type", "code"),
            ("client_id", &self.client_id),
            ("redirect_uri", &self.settings.redirect_url),
            ("scope", SCOPES),
            ("state", &attempt.state),
            ("nonce", &attempt.nonce),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ];
        Ok((with_query(&endpoints.authorization, &parameters), attempt))
    }

    /// Exchanges the code that the issuer returned with `state`, for an ID token. The caller must verify the token.
    ///
    /// # Errors
    /// [`CodeFlowError`].
    pub async fn finish(
        &self,
        code: &str,
        state: &str,
        attempt: &SignInAttempt,
    ) -> Result<Zeroizing<String>, CodeFlowError> {
        if !bool::from(state.as_bytes().ct_eq(attempt.state.as_bytes())) {
            return Err(CodeFlowError::State);
        }
        let _permit = self.permit()?;
        let endpoints = self
            .client
            .endpoints()
            .await
            .map_err(|error| unavailable(&error))?;
        let answer = self.exchange(&endpoints.token, code, attempt).await?;
        let nonce = insecure_decode_claims::<Nonce>(&answer.id_token);
        let is_same =
            |claims: &Nonce| bool::from(claims.nonce.as_bytes().ct_eq(attempt.nonce.as_bytes()));
        if !nonce.is_ok_and(|claims| is_same(&claims)) {
            let why = "the token has not the nonce of this sign-in";
            return Err(CodeFlowError::Refused(why.to_owned()));
        }
        Ok(answer.id_token.into())
    }

    async fn exchange(
        &self,
        endpoint: &IssuerUrl,
        code: &str,
        attempt: &SignInAttempt,
    ) -> Result<TokenAnswer, CodeFlowError> {
        let secret = self.settings.client_secret.as_deref();
        let authorization = secret.map(|secret| basic(&self.client_id, secret));
        let form = self.form(code, attempt);
        let authorization = authorization.as_deref().map(String::as_str);
        let answer = self.client.token(endpoint, form, authorization).await;
        answer.map_err(|error| match error.refusal() {
            Some(refusal) => CodeFlowError::Refused(refusal),
            None => unavailable(&error),
        })
    }

    /// The request for a token. A public client names itself in it.
    fn form(&self, code: &str, attempt: &SignInAttempt) -> String {
        let mut form = Serializer::new(String::new());
        form.append_pair("grant_type", "authorization_code")
            .append_pair("code", code)
            .append_pair("redirect_uri", &self.settings.redirect_url)
            .append_pair("code_verifier", &attempt.verifier);
        if self.settings.client_secret.is_none() {
            form.append_pair("client_id", &self.client_id);
        }
        form.finish()
    }

    fn permit(&self) -> Result<tokio::sync::SemaphorePermit<'_>, CodeFlowError> {
        let busy = |_| CodeFlowError::Unavailable("too many sign-ins at a time".to_owned());
        self.exchanges.try_acquire().map_err(busy)
    }
}

/// The header of a confidential client (RFC 6749, 2.3.1).
fn basic(client_id: &str, secret: &str) -> Zeroizing<String> {
    let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let pair = Zeroizing::new(format!("{}:{}", encoded(client_id), encoded(secret)));
    Zeroizing::new(format!("Basic {}", STANDARD.encode(pair.as_bytes())))
}

/// A URL with parameters; the URL of an endpoint has none.
fn with_query(url: &IssuerUrl, parameters: &[(&str, &str)]) -> String {
    let mut query = Serializer::new(String::new());
    query.extend_pairs(parameters);
    format!("{url}?{}", query.finish())
}

fn random() -> Result<String, CodeFlowError> {
    let mut bytes = [0; RANDOM_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| CodeFlowError::Unavailable(error.to_string()))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

fn unavailable(error: &FetchError) -> CodeFlowError {
    CodeFlowError::Unavailable(error.to_string())
}
