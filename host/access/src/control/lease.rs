//! The rights of a stream.

use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::verifications::Sender;
use super::{AccessControl, Caller, Credential, Refusal};

/// The rights of a stream, which lasts longer than its request.
pub struct Lease {
    control: Arc<AccessControl>,
    credential: Credential,
    caller: Caller,
    changes: watch::Receiver<u64>,
    /// The number of changes when the last verification began.
    generation: u64,
    /// The running verification, if there is one. It is a task, so that it continues while the stream sends an event, and
    /// while its client reads nothing. Otherwise such a stream would keep the place of its verification.
    verification: JoinSet<Result<Caller, Refusal>>,
}

impl Lease {
    /// A lease for the caller that `control` authenticated by a credential.
    pub fn new(control: &Arc<AccessControl>, credential: Credential, caller: Caller) -> Self {
        // Read first, so that a change in between is noticed.
        let generation = *control.changes.borrow();
        Self {
            changes: control.changes.subscribe(),
            generation,
            control: Arc::clone(control),
            credential,
            caller,
            verification: JoinSet::new(),
        }
    }

    /// Waits until the credential is no longer valid, cannot be verified, or the user's rights differ. The credential
    /// is verified again when the files or a method of authentication change, when it expires, and after
    /// [`VERIFIED_MAX`](super::VERIFIED_MAX) at the latest. If the roles change, the rights are compared before this verification.
    ///
    /// Cancel-safe: a verification that has begun continues.
    pub async fn ended(&mut self) {
        loop {
            if self.verification.is_empty() && self.is_due() {
                self.verify();
            }
            let (is_idle, wait) = (self.verification.is_empty(), self.caller.remaining());
            tokio::select! {
                changed = self.changes.changed() => {
                    if changed.is_err() || !self.control.grants(&self.caller) {
                        return;
                    }
                }
                Some(verified) = self.verification.join_next() => match verified {
                    Ok(Ok(caller)) if caller.rights == self.caller.rights => self.caller = caller,
                    _ => return,
                },
                () = sleep(wait), if is_idle => {}
            }
        }
    }

    fn is_due(&self) -> bool {
        *self.changes.borrow() != self.generation || self.caller.remaining().is_zero()
    }

    /// Begins to verify the credential.
    fn verify(&mut self) {
        self.generation = *self.changes.borrow();
        let (control, credential) = (Arc::clone(&self.control), self.credential.clone());
        self.verification
            .spawn(async move { control.authenticate_as(&credential, Sender::Stream).await });
    }
}
