//! Lists of Kinds that the session knows already, after the server or the index was found to differ.

use std::sync::atomic::Ordering;

use super::{WatchState, Watches};

impl Watches {
    /// Requests all objects of each Kind again.
    pub(in crate::kubernetes) fn list_again(&mut self) {
        for state in self.by_id.values_mut() {
            state.list_again();
        }
    }
}

impl WatchState {
    /// Requests all objects of the Kind again, unless a requested list has not begun yet. The coverage stays the same
    /// until the list ends.
    pub(in crate::kubernetes) fn list_again(&mut self) {
        if !self.is_asked {
            self.is_asked = true;
            self.seen.store(0, Ordering::Relaxed);
            self.asked.send_modify(|asked| asked.list += 1);
        }
    }

    /// Returns whether the index can have every event of the Kind: no request failed, and versions have an order.
    pub(in crate::kubernetes) fn is_followed(&self) -> bool {
        self.failure.is_none() && self.has_seen(1)
    }
}
