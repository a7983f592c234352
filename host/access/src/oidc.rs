//! Tokens of an OIDC issuer: ID tokens, and access tokens in the format of RFC 9068.
//!
//! ```text
//! token ──▶ issuer? ──▶ header ──▶ key ──▶ signature, audience, times ──▶ user and groups
//!                                   │
//!                        IssuerKeys ◀── IssuerClient ◀── discovery document, key set
//! ```
//!
//! Nothing of a token is trusted before its signature is verified, except to find out which key it names. The
//! algorithm must be allowed, and the type of the key must fit it: a token with `none`, or with an HMAC made with the
//! public key, fails.

mod algorithm;
mod claims;
mod code_flow;
mod issuer_client;
mod issuer_route;
mod issuer_url;
mod key_set;
mod keys;
mod signature;

use std::path::PathBuf;
use std::pin::Pin;

use jsonwebtoken::dangerous::insecure_decode_claims;
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::{Header, Validation, decode, decode_header};
use serde::Deserialize;

use self::algorithm::names;
use self::claims::{Claims, LEEWAY_MAX};
use self::issuer_client::IssuerClient;
use self::keys::IssuerKeys;
use crate::verify::{TokenError, Verified, VerifyToken};

pub use algorithm::{SignatureAlgorithm, SignatureAlgorithmError};
pub use code_flow::{CodeFlow, CodeFlowError, CodeFlowSettings, SignInAttempt};
pub use issuer_client::IssuerClientError;
pub use issuer_route::{Proxies, ProxyError};
pub use issuer_url::{IssuerUrl, IssuerUrlError};

/// The types of tokens that are accepted, in the header `typ`: other tokens of an issuer, such as logout tokens, prove
/// nothing about the sender.
const TYPES: [&str; 3] = ["JWT", "at+jwt", "application/at+jwt"];

/// The settings of [`Oidc`].
#[derive(Debug, Clone)]
pub struct OidcSettings {
    /// The issuer, exactly as its tokens name it.
    pub issuer: IssuerUrl,
    /// The audience of tokens for kindsight. For ID tokens, this is the client id.
    pub audience: String,
    /// The claim with the name of the user. The claim `email` counts only with `email_verified`.
    pub username_claim: String,
    /// The claim with the groups of the user.
    pub groups_claim: String,
    /// The file with the trusted certificates for the issuer; `None` for the certificates of the system.
    pub ca: Option<PathBuf>,
    /// The HTTP proxies for requests to the issuer.
    pub proxies: Proxies,
    /// The allowed algorithms of signatures.
    pub algorithms: Vec<SignatureAlgorithm>,
}

impl OidcSettings {
    /// The claim with the name of the user, unless the operator names another one.
    pub const USERNAME_CLAIM: &str = "sub";
    /// The claim with the groups, unless the operator names another one.
    pub const GROUPS_CLAIM: &str = "groups";

    fn client(&self) -> Result<IssuerClient, IssuerClientError> {
        let (issuer, proxies) = (self.issuer.clone(), self.proxies.clone());
        IssuerClient::new(issuer, self.ca.as_deref(), proxies)
    }
}

/// Verifies tokens of one issuer.
pub struct Oidc {
    settings: OidcSettings,
    client: IssuerClient,
    keys: IssuerKeys,
}

/// The unverified issuer of a token.
#[derive(Deserialize)]
struct Issuer {
    iss: String,
}

impl Oidc {
    /// Makes a verifier, which has no keys yet. Blocks while it reads the trusted certificates.
    ///
    /// # Errors
    /// [`IssuerClientError`] if the certificates or the proxy cannot be used.
    pub fn new(settings: OidcSettings) -> Result<Self, IssuerClientError> {
        signature::install();
        Ok(Self {
            client: settings.client()?,
            keys: IssuerKeys::new(),
            settings,
        })
    }

    /// Makes the sign-in of browsers at this issuer. Blocks while it reads the trusted certificates.
    ///
    /// # Errors
    /// [`IssuerClientError`] if the certificates or the proxy cannot be used.
    pub fn code_flow(&self, settings: CodeFlowSettings) -> Result<CodeFlow, IssuerClientError> {
        let client = self.settings.client()?;
        Ok(CodeFlow::new(
            client,
            self.settings.audience.clone(),
            settings,
        ))
    }

    async fn check(&self, token: &str) -> Result<Verified, TokenError> {
        let issuer = insecure_decode_claims::<Issuer>(token);
        if !issuer.is_ok_and(|issuer| issuer.iss == self.settings.issuer.as_str()) {
            return Err(TokenError::NotMine);
        }
        let header = self.header(token)?;
        let key = self.keys.find(header.kid.as_deref(), header.alg).await?;
        let decoded = decode::<Claims>(token, &key, &self.validation(&header));
        let claims = decoded.map_err(|error| refused(reason(&error)))?.claims;
        claims.verified(&self.settings)
    }

    /// The header, if a token with it can be verified at all.
    fn header(&self, token: &str) -> Result<Header, TokenError> {
        let allowed = &self.settings.algorithms;
        // An unknown algorithm is an error of the header.
        let header = decode_header(token).ok();
        let header = header.filter(|header| allowed.iter().any(|known| known.0 == header.alg));
        let header = header
            .ok_or_else(|| refused(format!("its algorithm is not one of {}", names(allowed))))?;
        let is_accepted = |typ: &String| TYPES.iter().any(|known| known.eq_ignore_ascii_case(typ));
        if !header.typ.as_ref().is_none_or(is_accepted) {
            return Err(refused("its type is neither JWT nor at+jwt"));
        }
        if header.crit.is_some() {
            return Err(refused("its header has critical extensions"));
        }
        Ok(header)
    }

    fn validation(&self, header: &Header) -> Validation {
        let mut validation = Validation::new(header.alg);
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        validation.set_issuer(&[self.settings.issuer.as_str()]);
        validation.set_audience(&[&self.settings.audience]);
        validation.validate_nbf = true;
        validation.leeway = LEEWAY_MAX.as_secs();
        validation
    }
}

impl VerifyToken for Oidc {
    fn name(&self) -> &'static str {
        "oidc"
    }

    fn verify<'a>(
        &'a self,
        token: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<Verified, TokenError>> + Send + 'a>> {
        Box::pin(self.check(token))
    }

    /// Fetches the keys of the issuer, and follows their changes. An unavailable issuer is logged, and its known keys
    /// remain in use for a limited time.
    fn follow<'a>(
        &'a self,
        _forget: &'a (dyn Fn() + Sync),
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(self.keys.follow(&self.client))
    }
}

/// The reason for the log, without content of the token.
fn reason(error: &Error) -> String {
    match error.kind() {
        ErrorKind::InvalidSignature => "its signature is wrong".to_owned(),
        ErrorKind::ExpiredSignature => "it has expired".to_owned(),
        ErrorKind::ImmatureSignature => "it is not valid yet".to_owned(),
        ErrorKind::InvalidAudience => "it is for another audience".to_owned(),
        ErrorKind::MissingRequiredClaim(claim) => format!("it has no valid claim `{claim}`"),
        _ => "it is not a valid token".to_owned(),
    }
}

fn refused(reason: impl Into<String>) -> TokenError {
    TokenError::Refused(reason.into())
}

#[cfg(test)]
mod tests;
