//! The sender of a request.

use std::sync::Arc;

use crate::roles::Rights;
use crate::user::User;

/// The sender of a request, with its rights. Clones share both.
#[derive(Debug, Clone)]
pub struct Caller {
    pub(super) user: Option<Arc<User>>,
    pub(super) rights: Arc<Rights>,
    /// The time at which the credential must be verified again, in Unix milliseconds; `None` without access control.
    pub(super) until_ms: Option<i64>,
    /// The time at which the credential expires, in Unix milliseconds; `None` if it is not known.
    pub(super) expires_ms: Option<i64>,
}

impl Caller {
    /// The sender of a request to a server without access control, who may do everything.
    pub fn anyone() -> Self {
        Self {
            user: None,
            rights: Arc::new(Rights::all()),
            until_ms: None,
            expires_ms: None,
        }
    }

    /// The sender of a request without a valid credential, who has no rights.
    pub fn nobody() -> Self {
        Self {
            user: None,
            rights: Arc::default(),
            until_ms: None,
            expires_ms: None,
        }
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
