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
use tokio::time::{Instant, timeout};

use crate::Limits;

pub(crate) use activity::{Activity, InRequest, Pace, Transfer, Wait};
pub(crate) use stream::Stream;

/// The longest that somebody waits for the bytes that all connections have together.
const ROOM_WAIT_MAX: Duration = Duration::from_secs(2);
/// The time after which it is tried again to find a connection to close, when there was none.
const AGAIN: Duration = Duration::from_millis(100);

/// The time after which it is logged again that connections have run out.
const WARNED_AGAIN: Duration = Duration::from_mins(1);

/// All open connections.
#[derive(Debug)]
pub(crate) struct Connections {
    limits: Limits,
    slots: Arc<Semaphore>,
    /// By a number of each.
    open: Mutex<(u64, HashMap<u64, Arc<Activity>>)>,
    /// When it was last logged that there is no place left.
    warned: Mutex<Option<Instant>>,
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
            warned: Mutex::default(),
        })
    }

    /// Waits until there is a place for one more connection; makes one by closing the one whose client
    /// has been slowest.
    pub(crate) async fn enter(self: &Arc<Self>) -> Open {
        let slot = loop {
            if let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() {
                break Some(slot);
            }
            self.warn_of_full();
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

    /// Logs that there is no place left, once in a while.
    fn warn_of_full(&self) {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.is_none_or(|warned| warned.elapsed() >= WARNED_AGAIN) {
            *warned = Some(Instant::now());
            tracing::warn!(
                connections_max = self.limits.connections_max,
                "connections have run out; those of the slowest clients are closed for new ones"
            );
        }
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

/// Takes so many of the bytes that all connections have together; where too few are left, closes the
/// connections of the slowest clients, which hold the others, and waits for a moment. `None` if that is
/// not enough.
pub(crate) async fn take_bytes(
    all: &Arc<Semaphore>,
    bytes: u32,
    asking: Option<&Activity>,
    wait: Wait,
) -> Option<OwnedSemaphorePermit> {
    let begun = Instant::now();
    loop {
        if let Ok(taken) = Arc::clone(all).try_acquire_many_owned(bytes) {
            return Some(taken);
        }
        if begun.elapsed() >= ROOM_WAIT_MAX {
            return None;
        }
        if let Some(connections) = asking.and_then(Activity::connections) {
            connections.close_slowest(wait);
        }
        let taken = Arc::clone(all).acquire_many_owned(bytes);
        if let Ok(taken) = timeout(AGAIN, taken).await {
            return taken.ok();
        }
    }
}
