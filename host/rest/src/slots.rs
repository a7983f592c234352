//! Slots: they limit the connections, streams and requests at a time.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::Limits;

/// The slots of one listener. The router and the connections take them, and metrics read them.
#[derive(Debug, Clone)]
pub struct Slots {
    pub(crate) connections: Slot,
    pub(crate) streams: Slot,
    pub(crate) requests: Slot,
}

/// Slots of one kind.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    pub(crate) free: Arc<Semaphore>,
    max: usize,
}

/// The use of the slots of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotsUse {
    /// Number of taken slots.
    pub taken: usize,
    /// Number of all slots.
    pub max: usize,
}

impl Slots {
    /// Free slots for connections, streams and requests.
    pub fn new(limits: &Limits) -> Self {
        Self {
            connections: Slot::new(limits.connections_max),
            streams: Slot::new(limits.streams_max),
            requests: Slot::new(limits.requests_max),
        }
    }

    /// Open connections.
    pub fn connections(&self) -> SlotsUse {
        self.connections.used()
    }

    /// Open streams.
    pub fn streams(&self) -> SlotsUse {
        self.streams.used()
    }

    /// Requests in progress, of the routes that share the limit [`Limits::requests_max`].
    pub fn requests(&self) -> SlotsUse {
        self.requests.used()
    }
}

impl Slot {
    fn new(max: usize) -> Self {
        let max = max.min(Semaphore::MAX_PERMITS);
        Self {
            free: Arc::new(Semaphore::new(max)),
            max,
        }
    }

    fn used(&self) -> SlotsUse {
        SlotsUse {
            taken: self.max.saturating_sub(self.free.available_permits()),
            max: self.max,
        }
    }
}

/// The number of permits for `bytes` bytes.
pub(crate) fn permits(bytes: usize) -> usize {
    bytes.min(Semaphore::MAX_PERMITS)
}
