//! Tokens of a `ServiceAccount`, which the API server of the cluster issues for this command.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use kindsight_server::clusters::NamespacedName;

use super::{ClusterRoute, Token};

/// Time before its end at which a token is replaced: the request takes time, and clocks differ.
const RENEWED_BEFORE: SignedDuration = SignedDuration::from_mins(1);

/// The token of a `ServiceAccount`, which is renewed before its end.
#[derive(Debug)]
pub(crate) struct ServiceAccountToken {
    route: Arc<ClusterRoute>,
    account: NamespacedName,
    issued: Mutex<Option<(Token, Timestamp)>>,
}

impl ServiceAccountToken {
    /// A token of this account.
    pub(crate) fn new(route: Arc<ClusterRoute>, account: NamespacedName) -> Self {
        Self {
            route,
            account,
            issued: Mutex::default(),
        }
    }

    /// The token for a request that is sent now.
    ///
    /// # Errors
    /// The user may not request tokens of the account, or the API server cannot be reached.
    pub(super) fn token(&self) -> anyhow::Result<Token> {
        let mut issued = self.issued.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((token, end)) = &*issued
            && Timestamp::now()
                .saturating_add(RENEWED_BEFORE)
                .is_ok_and(|soon| soon < *end)
        {
            return Ok(token.clone());
        }
        let new = self.route.token(&self.account)?;
        let token = Token::parse(&new.text)?;
        *issued = Some((token.clone(), new.expires));
        Ok(token)
    }
}

impl fmt::Display for ServiceAccountToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a token of the ServiceAccount {}", self.account)
    }
}
