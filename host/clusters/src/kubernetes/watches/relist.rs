//! Lists of Kinds that the session knows already, after events were lost, or after the server or the index was found
//! to differ.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::{Listed, WatchState, Watches};
use crate::kubernetes::session::LIST_MAX;

/// Time for which a Kind keeps its state while it is listed again. Tests do not wait [`LIST_MAX`].
pub(super) const RELIST_MAX: Duration = if cfg!(test) {
    Duration::from_secs(1)
} else {
    LIST_MAX
};

impl Watches {
    /// Requests all objects of each Kind again.
    pub(in crate::kubernetes) fn list_again(&mut self) {
        for state in self.by_id.values_mut() {
            state.list_again();
        }
    }

    /// Returns whether a Kind was not listed again in time. Its coverage changes with the time, without news.
    pub(in crate::kubernetes) fn are_late(&self) -> bool {
        self.by_id.values().any(WatchState::is_late)
    }
}

impl WatchState {
    /// Requests all objects of the Kind again, unless a requested list has not begun yet. The coverage stays the same
    /// until the list ends or is late.
    pub(in crate::kubernetes) fn list_again(&mut self) {
        if !self.is_asked {
            self.is_asked = true;
            self.seen.store(0, Ordering::Relaxed);
            self.asked.send_modify(|asked| asked.list += 1);
        }
    }

    /// Returns whether the Kind has been listed again for [`RELIST_MAX`], and no list has ended.
    pub(super) fn is_late(&self) -> bool {
        matches!(self.listed, Listed::Before(since) if since.elapsed() >= RELIST_MAX)
    }

    /// Returns whether the index can have every event of the Kind: no request failed, and versions have an order.
    pub(in crate::kubernetes) fn is_followed(&self) -> bool {
        self.failure.is_none() && self.has_seen(1)
    }
}
