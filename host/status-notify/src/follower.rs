//! The stream of one client.

use std::sync::Arc;

use kindsight_access::Lease;
use kindsight_api::status::Output;
use kindsight_read_model::VisibleModel;
use kindsight_status::{QueryError, Subject};
use prost::Message as _;
use sha2::{Digest as _, Sha256};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;
use tonic::Status;

use crate::clients::Registered;
use crate::limits::{
    NOTIFICATION_BYTES_MAX, NOTIFICATIONS_BYTES_MAX, NOTIFICATIONS_MADE_MAX, SMALL_RESOURCES_MAX,
};
use crate::notification::notification;
use crate::proto::StatusNotification;
use crate::registration::{Registration, text};

/// The limits that all streams share.
#[derive(Debug, Clone)]
pub(crate) struct Making {
    /// Slots for notifications that are made at a time.
    pub(crate) slots: Arc<Semaphore>,
    /// Permits for the bytes of large notifications, until their clients take them.
    bytes: Arc<Semaphore>,
}

impl Default for Making {
    fn default() -> Self {
        Self {
            slots: Arc::new(Semaphore::new(NOTIFICATIONS_MADE_MAX)),
            bytes: Arc::new(Semaphore::new(NOTIFICATIONS_BYTES_MAX)),
        }
    }
}

/// A notification with the digest of its encoded form.
struct Made {
    notification: StatusNotification,
    digest: [u8; 32],
    /// Permits for its bytes; `None` for a small one.
    held: Option<OwnedSemaphorePermit>,
}

/// The turn of a notification to be made.
struct Turn {
    subject: Arc<Subject>,
    slot: OwnedSemaphorePermit,
    /// Permits for the bytes of the largest notification; `None` if it is small.
    held: Option<OwnedSemaphorePermit>,
}

/// The stream of one client between two notifications.
pub(crate) struct Follower {
    pub(crate) registered: Registered,
    pub(crate) registration: Arc<Registration>,
    /// The data that the client may see.
    pub(crate) model: VisibleModel,
    /// Ends when the client's rights change; `None` without access control.
    pub(crate) lease: Option<Lease>,
    pub(crate) making: Making,
    pub(crate) stop: CancellationToken,
    /// The digest of the notification that was sent last.
    pub(crate) sent: Option<[u8; 32]>,
    /// Permits for the bytes of the notification that the client takes.
    pub(crate) held: Option<OwnedSemaphorePermit>,
    pub(crate) is_over: bool,
}

impl Follower {
    /// Checks that the subject exists, so that a registration for an unknown subject is refused at once.
    ///
    /// # Errors
    /// `NOT_FOUND` for a subject that does not exist, or that the client may not see.
    pub(crate) fn check(&self) -> Result<(), Status> {
        self.read().map(|_| ())
    }

    fn read(&self) -> Result<Arc<Subject>, Status> {
        let Registration { name, query, .. } = &*self.registration;
        let read = self.registered.read(|| self.model.subject(name, query));
        read.map_err(|error| missing(&error))
    }

    /// Waits for the next notification, or for the error that ends the stream. `None` at the end.
    pub(crate) async fn next(mut self) -> Option<(Result<StatusNotification, Status>, Self)> {
        if self.is_over {
            return None;
        }
        // The client takes the next notification, so the last one is on its way.
        self.held = None;
        match self.notification().await {
            Ok(notification) => Some((Ok(notification?), self)),
            Err(status) => {
                self.is_over = true;
                Some((Err(status), self))
            }
        }
    }

    /// The next notification that differs from the last one; `None` if the client was deregistered.
    async fn notification(&mut self) -> Result<Option<StatusNotification>, Status> {
        let mut lease = self.lease.take();
        let unentitled = async {
            match &mut lease {
                Some(lease) => lease.ended().await,
                None => std::future::pending().await,
            }
        };
        let made = tokio::select! {
            // No notification follows the end of the rights, even if one is due.
            biased;
            () = self.registered.deregistered() => return Ok(None),
            () = self.stop.cancelled() => return Err(stopping()),
            () = unentitled => return Err(Status::permission_denied(
                "your rights changed, or your certificate is not valid any more; register again",
            )),
            made = self.different() => made?,
        };
        self.lease = lease;
        self.sent = Some(made.digest);
        self.held = made.held;
        Ok(Some(made.notification))
    }

    /// Waits for a notification that differs from the last one.
    async fn different(&self) -> Result<Made, Status> {
        loop {
            if self.sent.is_some() {
                self.registered.changed().await;
            }
            let made = self.made().await?;
            if self.sent != Some(made.digest) {
                return Ok(made);
            }
        }
    }

    /// Makes the notification on a blocking thread.
    async fn made(&self) -> Result<Made, Status> {
        let Turn {
            subject,
            slot,
            held,
        } = self.turn().await?;
        let registration = Arc::clone(&self.registration);
        let made = spawn_blocking(move || {
            let _slot = slot;
            made(&subject, &registration, held)
        });
        let made = made.await;
        made.map_err(|_| Status::internal("the notification panicked; the log says where"))?
    }

    /// Waits for a slot, and for room if the notification may be large. Reads the subject at the end, so that a notification
    /// that waited has the latest status.
    async fn turn(&self) -> Result<Turn, Status> {
        let mut held = None;
        loop {
            let slot = permits(&self.making.slots, 1).await?;
            let subject = self.read()?;
            if held.is_some() || self.is_small(&subject) {
                return Ok(Turn {
                    subject,
                    slot,
                    held,
                });
            }
            // Other notifications use the slot meanwhile.
            drop(slot);
            held = Some(permits(&self.making.bytes, NOTIFICATION_BYTES_MAX).await?);
        }
    }

    /// Returns whether the notification about a subject is small. A larger one is made only if there is room for it.
    fn is_small(&self, subject: &Subject) -> bool {
        self.registration.query.output == Output::Summary
            || subject.resources().nth(SMALL_RESOURCES_MAX).is_none()
    }
}

/// Waits for permits of a semaphore. It is never closed.
async fn permits(of: &Arc<Semaphore>, count: usize) -> Result<OwnedSemaphorePermit, Status> {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    let permits = Arc::clone(of).acquire_many_owned(count).await;
    permits.map_err(|_| stopping())
}

/// Makes the notification, and keeps as many permits as it has bytes.
fn made(
    subject: &Subject,
    registration: &Registration,
    held: Option<OwnedSemaphorePermit>,
) -> Result<Made, Status> {
    let notification = notification(subject, registration);
    let encoded = notification.encode_to_vec();
    if encoded.len() > NOTIFICATION_BYTES_MAX {
        return Err(Status::resource_exhausted(format!(
            "the notification is larger than {NOTIFICATION_BYTES_MAX} bytes; register with the output SUMMARY, or with `apps`, `clusters` or `resources`"
        )));
    }
    Ok(Made {
        notification,
        digest: Sha256::digest(&encoded).into(),
        held: held.and_then(|mut held| held.split(encoded.len())),
    })
}

/// The error for a subject that does not exist, or that the client may not see.
fn missing(error: &QueryError) -> Status {
    match error {
        QueryError::NotFound(problems) => Status::not_found(text(problems)),
        QueryError::Invalid(problems) => Status::invalid_argument(text(problems)),
    }
}

fn stopping() -> Status {
    Status::unavailable("the server stops; register again")
}
