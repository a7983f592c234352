//! The sender of a request.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::{VERIFIED_MAX, now_ms};
use crate::roles::Rights;
use crate::user::User;

/// The sender of a request, with its rights. Clones share both.
#[derive(Debug, Clone)]
pub struct Caller {
    pub(super) user: Option<Arc<User>>,
    pub(super) rights: Arc<Rights>,
    /// The time of the last verification of the credential; `None` without access control. A change of the system clock
    /// does not affect it.
    verified: Option<Instant>,
    /// The time at which the credential expires, in Unix milliseconds; `None` if it is not known.
    expires_ms: Option<i64>,
}

impl Caller {
    /// The sender of a request to a server without access control, who may do everything.
    pub fn anyone() -> Self {
        Self {
            user: None,
            rights: Arc::new(Rights::all()),
            verified: None,
            expires_ms: None,
        }
    }

    /// The sender of a request without a valid credential, who has no rights.
    pub fn nobody() -> Self {
        Self {
            user: None,
            rights: Arc::default(),
            verified: None,
            expires_ms: None,
        }
    }

    /// A user whose credential was verified now.
    pub(super) fn verified(user: User, rights: Rights, expires_ms: Option<i64>) -> Self {
        Self {
            user: Some(Arc::new(user)),
            rights: Arc::new(rights),
            verified: Some(Instant::now()),
            expires_ms,
        }
    }

    /// The time until the credential must be verified again: until it expires, and at most [`VERIFIED_MAX`]. Zero if it
    /// is due.
    pub(super) fn remaining(&self) -> Duration {
        let age = self.verified.map(|verified| verified.elapsed());
        let remaining = VERIFIED_MAX.saturating_sub(age.unwrap_or_default());
        self.expires_ms.map_or(remaining, |expires_ms| {
            let valid_ms = expires_ms.saturating_sub(now_ms()).max(0);
            remaining.min(Duration::from_millis(valid_ms.unsigned_abs()))
        })
    }

    /// The user; `None` without access control and without a valid credential.
    pub fn user(&self) -> Option<&User> {
        self.user.as_deref()
    }

    /// The time at which the credential expires, in Unix milliseconds; `None` if it is not known.
    pub fn expires_ms(&self) -> Option<i64> {
        self.expires_ms
    }

    /// The rights of the user.
    pub fn rights(&self) -> &Arc<Rights> {
        &self.rights
    }
}
