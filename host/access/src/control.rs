//! Authentication and rights of the senders of requests.

mod caller;
mod lease;
mod verifications;

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use futures_util::future::join_all;
use jiff::Timestamp;
use quick_cache::sync::Cache;
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;
use zeroize::Zeroizing;

use crate::attempts::Attempts;
use crate::files::follow_files;
use crate::oidc::CodeFlow;
use crate::roles::{RoleBindings, RoleFileError};
use crate::tokens::{TokenFile, TokenFileError};
use crate::user::{Method, User};
use crate::verify::{TokenError, Verified, VerifyToken};

use verifications::{Place, Sender, Verifications};

pub use caller::Caller;
pub use lease::Lease;

/// Maximum time for which a verified token is accepted without another verification.
const VERIFIED_MAX: Duration = Duration::from_mins(1);
/// Maximum number of known tokens: tokens that were accepted, and that no later verification refused. A known token is
/// verified again without a limit on attempts, so that clients which guess tokens do not lock out other users of their
/// address. Only accepted tokens enter, so that guessed tokens displace no known token.
const KNOWN_TOKENS_MAX: usize = 4096;
/// Maximum length of a token, in bytes.
const TOKEN_BYTES_MAX: usize = 16 * 1024;

/// The methods of authentication, and the file of roles.
pub struct AccessSettings {
    /// The role file. Without bindings, no user has a right.
    pub roles: PathBuf,
    /// The token file; `None` if kindsight's own tokens are not accepted.
    pub tokens: Option<PathBuf>,
    /// Verifiers of tokens of other issuers, in the order in which they are asked.
    pub verifiers: Vec<Arc<dyn VerifyToken>>,
    /// The sign-in of browsers at an issuer; `None` if browsers sign in with tokens alone.
    pub code_flow: Option<CodeFlow>,
}

/// Authenticates the senders of requests, and looks up their rights.
///
/// A server has one. Rights follow the files while the server runs: see [`AccessControl::follow`].
pub struct AccessControl {
    settings: AccessSettings,
    tokens: ArcSwap<TokenFile>,
    roles: ArcSwap<RoleBindings>,
    /// Known tokens by their SHA-256, with their last verification.
    known: Cache<[u8; 32], Verification>,
    verifications: Verifications,
    attempts: Attempts,
    /// The number of changes of the files and of the methods of authentication.
    changes: watch::Sender<u64>,
}

/// Credentials of a request. `Debug` does not show a token.
#[derive(Clone)]
pub enum Credential {
    /// The request has none.
    Missing,
    /// A token of the `Authorization` header.
    Bearer(Zeroizing<String>),
    /// The certificate that the client proved to own in the TLS handshake.
    Certificate(Arc<ClientCertificate>),
}

/// The subject of a client certificate that was verified against the configured certificate authority.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The common name, which is the user.
    pub common_name: String,
    /// The organizations, which are the groups.
    pub organizations: Vec<String>,
    /// The end of its validity, in Unix milliseconds.
    pub expires_ms: i64,
}

/// The reason why a request is not accepted. The texts are for the client and show nothing about other users.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No credential.
    #[error("this server needs a token: send the header `Authorization: Bearer TOKEN`")]
    Missing,
    /// The credential is not valid.
    #[error("the credential is not valid, has expired, or was revoked")]
    Invalid,
    /// Too many failed attempts from the client's address.
    #[error("too many failed attempts from this address; try again in {} s", .0.as_secs().max(1))]
    TooMany(Duration),
    /// The issuer of the token cannot be reached, or too many tokens are verified.
    #[error("the token cannot be verified now; try again")]
    Unavailable,
}

/// The reason why access control cannot start.
#[derive(Debug, thiserror::Error)]
pub enum AccessControlError {
    /// The role file.
    #[error("role file")]
    Roles(#[source] RoleFileError),
    /// The token file.
    #[error("token file")]
    Tokens(#[source] TokenFileError),
}

#[derive(Clone)]
struct Verification {
    caller: Caller,
    /// The number of changes when it was made.
    generation: u64,
}

impl AccessControl {
    /// Reads the files. Blocks.
    ///
    /// # Errors
    /// [`AccessControlError`] if a file is missing or invalid.
    pub fn new(settings: AccessSettings) -> Result<Self, AccessControlError> {
        let tokens = settings.tokens.as_deref().map(TokenFile::read).transpose();
        let tokens = tokens.map_err(AccessControlError::Tokens)?;
        let roles = RoleBindings::read(&settings.roles).map_err(AccessControlError::Roles)?;
        Ok(Self {
            tokens: ArcSwap::from_pointee(tokens.unwrap_or_default()),
            roles: ArcSwap::from_pointee(roles),
            settings,
            known: Cache::new(KNOWN_TOKENS_MAX),
            verifications: Verifications::default(),
            attempts: Attempts::default(),
            changes: watch::Sender::new(0),
        })
    }

    /// Reads the files again whenever they change. An invalid file is logged, and the last valid one remains in force.
    /// Runs [`VerifyToken::follow`] of each method at the same time. The future does not end.
    pub async fn follow(&self) {
        let forget: &(dyn Fn() + Sync) = &|| self.forget();
        let files = self.settings.tokens.iter().chain([&self.settings.roles]);
        let files = follow_files(files.cloned().collect(), || self.reload());
        let methods = self.settings.verifiers.iter();
        let methods = methods.map(|method| method.follow(forget));
        tokio::join!(files, join_all(methods));
    }

    fn reload(&self) {
        let mut is_changed = false;
        if let Some(path) = &self.settings.tokens {
            match TokenFile::read(path) {
                Ok(tokens) => is_changed |= replace(&self.tokens, tokens),
                Err(error) => kept(&error, "token file"),
            }
        }
        match RoleBindings::read(&self.settings.roles) {
            Ok(roles) => is_changed |= replace(&self.roles, roles),
            Err(error) => kept(&error, "role file"),
        }
        if is_changed {
            tracing::info!("the tokens or roles changed");
            self.forget();
        }
    }

    /// Has every token verified again, also the tokens of open streams.
    fn forget(&self) {
        self.changes.send_modify(|generation| *generation += 1);
    }

    /// The sign-in of browsers at an issuer, if it is enabled.
    pub fn code_flow(&self) -> Option<&CodeFlow> {
        self.settings.code_flow.as_ref()
    }

    /// Finds out who sent a request. Called for each request; verified tokens are kept for [`VERIFIED_MAX`].
    ///
    /// # Errors
    /// [`Refusal`] with the text for the client.
    pub async fn authenticate(
        &self,
        credential: &Credential,
        from: IpAddr,
    ) -> Result<Caller, Refusal> {
        let sender = Sender::Request(from);
        self.authenticate_as(credential, sender).await
    }

    async fn authenticate_as(
        &self,
        credential: &Credential,
        sender: Sender,
    ) -> Result<Caller, Refusal> {
        match credential {
            Credential::Missing => Err(Refusal::Missing),
            Credential::Bearer(token) => self.bearer(token, sender).await,
            Credential::Certificate(certificate) => self.certified(certificate),
        }
    }

    /// Returns whether the present roles give a caller the same rights.
    fn grants(&self, caller: &Caller) -> bool {
        let roles = self.roles.load();
        let user = caller.user.as_deref();
        user.is_none_or(|user| roles.rights_of(user) == *caller.rights)
    }

    fn certified(&self, certificate: &ClientCertificate) -> Result<Caller, Refusal> {
        let name = &certificate.common_name;
        let user = User::new(Method::Certificate, name, &certificate.organizations);
        let user = user.map_err(|error| refused("certificate", &error))?;
        self.caller(user, Some(certificate.expires_ms))
    }

    async fn bearer(&self, token: &str, sender: Sender) -> Result<Caller, Refusal> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(Refusal::Invalid);
        }
        let key: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        if let Some(caller) = self.known_caller(&key) {
            return Ok(caller);
        }
        let _place = self.place(token, sender).await?;
        // While this stream waited, another one may have had the same token verified.
        if let Some(caller) = self.known_caller(&key) {
            return Ok(caller);
        }
        let generation = *self.changes.borrow();
        let verified = match sender {
            Sender::Request(from) if self.known.get(&key).is_none() => {
                self.verify_unknown(token, from).await
            }
            Sender::Request(_) | Sender::Stream => self.verify(token).await,
        };
        if matches!(verified, Err(Refusal::Invalid)) {
            self.known.remove(&key);
        }
        let caller = verified?;
        let verification = Verification {
            caller: caller.clone(),
            generation,
        };
        self.known.insert(key, verification);
        Ok(caller)
    }

    /// The user of a token whose last verification still counts.
    fn known_caller(&self, key: &[u8; 32]) -> Option<Caller> {
        let known = self.known.get(key)?;
        let generation = *self.changes.borrow();
        known.is_current(generation).then_some(known.caller)
    }

    /// The place for the verification of a token; `None` for a token that no other issuer verifies.
    async fn place(&self, token: &str, sender: Sender) -> Result<Option<Place<'_>>, Refusal> {
        if self.tokens.load().find(token).is_some() || TokenFile::is_own(token) {
            return Ok(None);
        }
        self.verifications.begin(sender).await.map(Some)
    }

    /// Verifies a token that this server has not accepted before, within the limit of the client's address. A token of
    /// the file does not count.
    async fn verify_unknown(&self, token: &str, from: IpAddr) -> Result<Caller, Refusal> {
        if self.tokens.load().find(token).is_some() {
            return self.verify(token).await;
        }
        if let Some(wait) = self.attempts.wait(from, Instant::now()) {
            return Err(Refusal::TooMany(wait));
        }
        let attempt = self.attempts.begin(from, Instant::now());
        let caller = self.verify(token).await;
        if matches!(caller, Err(Refusal::Invalid)) {
            attempt.failed();
        }
        caller
    }

    async fn verify(&self, token: &str) -> Result<Caller, Refusal> {
        if let Some(stored) = self.tokens.load().find(token) {
            let user = User::new(Method::Token, stored.name.as_str(), &[]);
            let user = user.map_err(|error| refused("token", &error))?;
            return self.caller(user, Some(stored.expires.as_millisecond()));
        }
        // Other issuers must not receive a revoked token of kindsight.
        if TokenFile::is_own(token) {
            return Err(Refusal::Invalid);
        }
        let Verified { user, expires_ms } = self.verify_elsewhere(token).await?;
        self.caller(user, expires_ms)
    }

    /// Asks the verifiers, until one accepts or refuses the token.
    async fn verify_elsewhere(&self, token: &str) -> Result<Verified, Refusal> {
        for verifier in &self.settings.verifiers {
            match verifier.verify(token).await {
                Ok(verified) => return Ok(verified),
                Err(TokenError::NotMine) => {}
                Err(error @ TokenError::Refused(_)) => {
                    return Err(refused(verifier.name(), &error));
                }
                Err(error @ TokenError::Unavailable(_)) => {
                    tracing::debug!(%error, method = verifier.name(), "cannot verify a token");
                    return Err(Refusal::Unavailable);
                }
            }
        }
        Err(Refusal::Invalid)
    }

    fn caller(&self, user: User, expires_ms: Option<i64>) -> Result<Caller, Refusal> {
        if expires_ms.is_some_and(|expires_ms| expires_ms <= now_ms()) {
            return Err(Refusal::Invalid);
        }
        let rights = self.roles.load().rights_of(&user);
        Ok(Caller::verified(user, rights, expires_ms))
    }
}

impl Verification {
    fn is_current(&self, generation: u64) -> bool {
        self.generation == generation && !self.caller.remaining().is_zero()
    }
}

impl fmt::Debug for AccessControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessControl").finish_non_exhaustive()
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "Missing",
            Self::Bearer(_) => "Bearer(…)",
            Self::Certificate(_) => "Certificate(…)",
        })
    }
}

/// Replaces a value by a different one; returns whether it differs.
fn replace<T: PartialEq>(current: &ArcSwap<T>, new: T) -> bool {
    let is_changed = **current.load() != new;
    if is_changed {
        current.store(Arc::new(new));
    }
    is_changed
}

fn kept(error: &dyn std::error::Error, file: &str) {
    tracing::error!(%error, "the changed {file} is invalid; the previous one remains in force");
}

fn refused(method: &str, error: &dyn fmt::Display) -> Refusal {
    tracing::debug!(method, reason = %error, "a credential was refused");
    Refusal::Invalid
}

fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

#[cfg(test)]
mod tests;
