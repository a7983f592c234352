//! Connections: a limited number, each with a limited time for what its client has to do.
//!
//! ```text
//! accept ─▶ slot ─▶ Stream ─▶ hyper ─▶ router
//!            │         └─ Activity ◀─────┘ (phase, and bytes that move)
//!            └─ none left: the slowest client's connection is closed
//! ```

mod activity;
mod bare_answer;
mod stream;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::Limits;

pub(crate) use activity::{Activity, InRequest, Pace, Transfer, Wait};
pub(crate) use stream::Stream;

/// The time after which it is tried again to find a connection to close, when there was none.
const AGAIN: Duration = Duration::from_millis(100);

/// All open connections.
#[derive(Debug)]
pub(crate) struct Connections {
    limits: Limits,
    slots: Arc<Semaphore>,
    /// By a number of each.
    open: Mutex<(u64, HashMap<u64, Arc<Activity>>)>,
}

/// A connection that is open until this is dropped.
#[derive(Debug)]
pub(crate) struct Open {
    number: u64,
    pub(crate) activity: Arc<Activity>,
    connections: Arc<Connections>,
    _slot: Option<OwnedSemaphorePermit>,
}

impl Connections {
    pub(crate) fn new(limits: Limits) -> Arc<Self> {
        let slots = limits.connections_max.min(Semaphore::MAX_PERMITS);
        Arc::new(Self {
            limits,
            slots: Arc::new(Semaphore::new(slots)),
            open: Mutex::default(),
        })
    }

    /// Waits until there is a place for one more connection; makes one by closing the one whose client
    /// has been slowest.
    pub(crate) async fn enter(self: &Arc<Self>) -> Open {
        let slot = loop {
            if let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() {
                break Some(slot);
            }
            self.close_slowest(Wait::Any);
            // Nobody closes the semaphore; if somebody did, connections would not be counted.
            let slot = Arc::clone(&self.slots).acquire_owned();
            if let Ok(slot) = timeout(AGAIN, slot).await {
                break slot.ok();
            }
        };
        let activity = Arc::new(Activity::new(&self.limits, Arc::downgrade(self)));
        let mut open = self.lock();
        open.0 += 1;
        let number = open.0;
        open.1.insert(number, Arc::clone(&activity));
        Open {
            number,
            activity,
            connections: Arc::clone(self),
            _slot: slot,
        }
    }

    /// Closes the connection whose client has been slowest in what it has to do; none where no client
    /// is slow. Those whose requests the server works on are never closed.
    ///
    /// Costs a look at each connection; called where something has run out.
    pub(crate) fn close_slowest(&self, wait: Wait) -> bool {
        let open = self.lock();
        let late = open.1.values().filter_map(|it| Some((it.late(wait)?, it)));
        let slowest = late.max_by_key(|(late, _)| *late);
        if let Some((late, activity)) = slowest {
            tracing::debug!(?late, "closing the connection of the slowest client");
            activity.close();
        }
        slowest.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, (u64, HashMap<u64, Arc<Activity>>)> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.connections.lock().1.remove(&self.number);
    }
}
