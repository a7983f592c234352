//! The registered clients.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kindsight_read_model::ChangedSubjects;
use kindsight_status::Subject;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tonic::Status;

use crate::limits::{CLIENT_ID_BYTES_MAX, CLIENTS_MAX};

/// The identity of a registered client: client IDs of different users do not meet.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ClientKey {
    user: Box<str>,
    id: Box<str>,
}

impl ClientKey {
    /// The key of the client that a user calls `id`.
    ///
    /// # Errors
    /// EMCO's error for an empty ID; also for one that is too long.
    pub(crate) fn new(user: &str, id: &str) -> Result<Self, Status> {
        if !(1..=CLIENT_ID_BYTES_MAX).contains(&id.len()) {
            // EMCO's server returns plain errors, which gRPC sends with this code.
            return Err(Status::unknown("Invalid client ID"));
        }
        Ok(Self {
            user: user.into(),
            id: id.into(),
        })
    }

    /// The ID that the client chose.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }
}

/// All registered clients.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    by_key: Mutex<HashMap<ClientKey, Arc<Watch>>>,
}

/// The state that the dispatcher and the stream of a client share.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    changed: Notify,
    /// Done once the client is deregistered.
    deregistered: CancellationToken,
    /// The subject that was read last; `None` before the first.
    subject: Mutex<Option<Arc<Subject>>>,
}

/// A client while its stream lasts. Dropping it removes the client.
#[derive(Debug)]
pub(crate) struct Registered {
    clients: Arc<Clients>,
    key: ClientKey,
    watch: Arc<Watch>,
}

/// A lock ignores poisoning: a panic of another thread cannot leave a map or a subject half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Clients {
    /// Registers a client.
    ///
    /// # Errors
    /// EMCO's error for an ID that the user has registered already; `RESOURCE_EXHAUSTED` if there are too many clients.
    pub(crate) fn register(self: &Arc<Self>, key: ClientKey) -> Result<Registered, Status> {
        let mut by_key = lock(&self.by_key);
        let count = by_key.len();
        let slot = match by_key.entry(key.clone()) {
            Entry::Occupied(_) => {
                let text = format!("Duplicate client ID: {}", key.id);
                return Err(Status::unknown(text));
            }
            Entry::Vacant(slot) => slot,
        };
        if count >= CLIENTS_MAX {
            let text = format!("{CLIENTS_MAX} clients are registered; deregister one, or wait");
            return Err(Status::resource_exhausted(text));
        }
        let watch = Arc::clone(slot.insert(Arc::default()));
        Ok(Registered {
            clients: Arc::clone(self),
            key,
            watch,
        })
    }

    /// Ends the stream of a client. An unknown client is no error, as in EMCO.
    pub(crate) fn deregister(&self, key: &ClientKey) {
        let removed = lock(&self.by_key).remove(key);
        if let Some(watch) = removed {
            watch.deregistered.cancel();
        }
    }

    /// Wakes the clients whose subject may have changed.
    pub(crate) fn wake(&self, changes: &ChangedSubjects) {
        let watches: Vec<Arc<Watch>> = lock(&self.by_key).values().cloned().collect();
        for watch in watches {
            if watch.is_concerned_by(changes) {
                // Kept until the stream waits, if it does not wait now.
                watch.changed.notify_one();
            }
        }
    }
}

impl Watch {
    fn is_concerned_by(&self, changes: &ChangedSubjects) -> bool {
        let subject = lock(&self.subject);
        match (&*subject, changes) {
            (None, _) | (_, ChangedSubjects::All) => true,
            (Some(subject), ChangedSubjects::Some(changes)) => {
                changes.iter().any(|change| subject.is_concerned_by(change))
            }
        }
    }
}

impl Registered {
    /// The ID that the client chose.
    pub(crate) fn id(&self) -> &str {
        self.key.id()
    }

    /// Reads the subject again. The lock lasts during the read, so that the dispatcher compares a change with the subject
    /// before it or after it: no change is missed.
    ///
    /// # Errors
    /// The error of `read`.
    pub(crate) fn read<E>(
        &self,
        read: impl FnOnce() -> Result<Subject, E>,
    ) -> Result<Arc<Subject>, E> {
        let mut shown = lock(&self.watch.subject);
        let subject = Arc::new(read()?);
        *shown = Some(Arc::clone(&subject));
        Ok(subject)
    }

    /// Waits until the subject may have changed. Cancel-safe.
    pub(crate) async fn changed(&self) {
        self.watch.changed.notified().await;
    }

    /// Waits until the client is deregistered. Cancel-safe.
    pub(crate) async fn deregistered(&self) {
        self.watch.deregistered.cancelled().await;
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut by_key = lock(&self.clients.by_key);
        // The client may have registered again after it was deregistered.
        let is_this = |watch: &Arc<Watch>| Arc::ptr_eq(watch, &self.watch);
        if by_key.get(&self.key).is_some_and(is_this) {
            by_key.remove(&self.key);
        }
    }
}
