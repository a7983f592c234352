//! The rights of a stream.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::{AccessControl, Caller, Credential, VERIFIED_MAX, now_ms};

/// The rights of a stream, which lasts longer than its request.
pub struct Lease {
    control: Arc<AccessControl>,
    credential: Credential,
    from: IpAddr,
    caller: Caller,
    changes: watch::Receiver<u64>,
}

impl Lease {
    /// A lease for the caller that `control` authenticated by a credential.
    pub fn new(
        control: &Arc<AccessControl>,
        credential: Credential,
        from: IpAddr,
        caller: Caller,
    ) -> Self {
        Self {
            changes: control.changes.subscribe(),
            control: Arc::clone(control),
            credential,
            from,
            caller,
        }
    }

    /// Waits until the credential is no longer valid, cannot be verified, or the user's rights differ. The credential
    /// is verified again when the files or a method of authentication change, when it expires, and after
    /// [`VERIFIED_MAX`] at the latest.
    ///
    /// Cancel-safe.
    pub async fn ended(&mut self) {
        loop {
            let wait_ms = self
                .caller
                .until_ms
                .map(|until_ms| until_ms.saturating_sub(now_ms()));
            let wait = wait_ms.map(|wait_ms| Duration::from_millis(wait_ms.max(0).unsigned_abs()));
            tokio::select! {
                changed = self.changes.changed() => if changed.is_err() { return },
                () = tokio::time::sleep(wait.unwrap_or(VERIFIED_MAX)) => {}
            }
            match self.control.authenticate(&self.credential, self.from).await {
                Ok(caller) if caller.rights == self.caller.rights => self.caller = caller,
                _ => return,
            }
        }
    }
}
