//! The interface of methods that verify bearer tokens of other issuers.

use std::pin::Pin;

use crate::user::User;

/// A method that verifies bearer tokens: OIDC, or a Kubernetes API server.
pub trait VerifyToken: Send + Sync {
    /// The name of the method, for logs.
    fn name(&self) -> &'static str;

    /// Verifies a token. [`AccessControl`](crate::AccessControl) keeps the result for a minute at most, limits the
    /// attempts of each client address, and does not log the token; an implementation must not log it either.
    ///
    /// The future is dropped when the client disconnects or the request takes too long.
    fn verify<'a>(
        &'a self,
        token: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<Verified, TokenError>> + Send + 'a>>;

    /// Keeps the data of the method current, such as the keys of an issuer. [`AccessControl`](crate::AccessControl)
    /// runs this future beside the requests; the future does not end.
    ///
    /// The method calls the given function once its earlier results do not count any more. Every token is then verified
    /// again before it is accepted.
    fn follow<'a>(
        &'a self,
        _forget: &'a (dyn Fn() + Sync),
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(std::future::pending())
    }
}

/// The result of a successful verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The user of the token.
    pub user: User,
    /// The time at which the token expires, in Unix milliseconds; `None` if the method does not know it.
    pub expires_ms: Option<i64>,
}

/// The reason why a token was not accepted. The texts are logged and not sent to the client; they must not contain
/// the token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Another method may accept the token.
    #[error("the token has another issuer")]
    NotMine,
    /// The token is invalid.
    #[error("{0}")]
    Refused(String),
    /// The token cannot be verified now.
    #[error("{0}")]
    Unavailable(String),
}
