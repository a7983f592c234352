//! Connections: their number is limited, and each client has limited time to send requests and read answers.
//!
//! ```text
//! accept ─▶ slot ─▶ TcpMeter ─▶ handshake, if TLS is enabled ─▶ Stream ─▶ hyper ─▶ router
//!            │         └────────────────── Activity ◀────────────┴──────────────────┘ (phase, and transferred bytes)
//!            └─ none left: the slowest client's connection is closed
//! ```
//!
//! hyper and tower-http cannot replace these limits:
//!
//! - hyper's `header_read_timeout` starts at the end of the last answer. One value would limit both the time between
//!   two requests (`--connection-idle-seconds-max`, 240 s) and the time of a head (`--head-seconds-max`, 10 s).
//! - tower-http's `RequestBodyTimeoutLayer` starts again with every frame, so one byte per interval satisfies it. No
//!   layer has a minimum rate.
//! - hyper has no timeout for writes. tower-http's timeouts of answers limit the server, not the reader.
//! - Neither library closes an open connection to accept a new one.

mod activity;
mod bare_answer;
mod handshake;
mod stream;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

use crate::{Limits, Slots};

pub(crate) use activity::{Activity, InRequest, Pace, Transfer, Wait};
pub(crate) use handshake::handshake;
pub(crate) use stream::{Stream, TcpMeter};

/// Maximum time that a request waits for a share of the bytes that all connections have in common.
const ROOM_WAIT_MAX: Duration = Duration::from_secs(2);
/// Interval of attempts to close a connection while no client is slow.
const AGAIN: Duration = Duration::from_millis(100);

/// Minimum time between two warnings that the limit of connections is reached.
const WARNED_AGAIN: Duration = Duration::from_mins(1);

/// All open connections.
#[derive(Debug)]
pub(crate) struct Connections {
    limits: Limits,
    slots: Arc<Semaphore>,
    /// The last number given, and the open connections by their numbers.
    open: Mutex<(u64, HashMap<u64, Arc<Activity>>)>,
    /// Time of the last warning that the limit is reached.
    warned: Mutex<Option<Instant>>,
}

/// An open connection. Dropping this value frees its slot.
#[derive(Debug)]
pub(crate) struct Open {
    number: u64,
    pub(crate) activity: Arc<Activity>,
    connections: Arc<Connections>,
    _slot: Option<OwnedSemaphorePermit>,
}

impl Connections {
    pub(crate) fn new(limits: Limits, slots: &Slots) -> Arc<Self> {
        Arc::new(Self {
            limits,
            slots: Arc::clone(&slots.connections.free),
            open: Mutex::default(),
            warned: Mutex::default(),
        })
    }

    /// Waits for a slot for a new connection. If there is no free slot, closes the connection of the slowest client.
    pub(crate) async fn enter(self: &Arc<Self>) -> Open {
        let slot = loop {
            if let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() {
                break Some(slot);
            }
            self.warn_of_full();
            self.close_slowest(Wait::Any);
            // The semaphore is never closed. If it were, connections would not be counted.
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

    /// Closes the connection of the slowest client, and returns whether there was a slow client. Never closes a
    /// connection while the server works on its request.
    ///
    /// Visits each connection, so it is only called when slots or bytes are exhausted.
    pub(crate) fn close_slowest(&self, wait: Wait) -> bool {
        let open = self.lock();
        let late = open
            .1
            .values()
            .filter_map(|connection| Some((connection.late(wait)?, connection)));
        let slowest = late.max_by_key(|(late, _)| *late);
        if let Some((late, activity)) = slowest {
            tracing::debug!(?late, "closing the connection of the slowest client");
            activity.close();
        }
        slowest.is_some()
    }

    /// Logs that the limit of connections is reached, at most once a minute.
    fn warn_of_full(&self) {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.is_none_or(|warned| warned.elapsed() >= WARNED_AGAIN) {
            *warned = Some(Instant::now());
            tracing::warn!(
                connections_max = self.limits.connections_max,
                "the limit of connections is reached; the slowest clients are disconnected to accept new connections"
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

/// Takes `bytes` from the bytes that all connections have in common. If too few bytes are free, closes the connections
/// of the slowest clients, which hold the other bytes, and waits for at most [`ROOM_WAIT_MAX`]. `None` if too few bytes
/// became free.
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
