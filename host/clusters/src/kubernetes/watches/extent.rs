//! The extent of a watch: all objects of its Kind, or the objects that match a selector.

use std::sync::Arc;

use kindsight_model::Removal;

use super::{WatchState, Watches};

/// The extent of the lists of a watch.
#[derive(Debug)]
pub(super) struct Extent {
    /// Number of the first list of all objects; none while a selector leaves out objects.
    whole_from: Option<u64>,
    /// Number of the running list, or of the last list.
    list: u64,
    /// True once all objects were listed.
    is_everything: bool,
}

impl Extent {
    /// The extent of a watch with this part of a query.
    pub(super) fn of(filter: &str) -> Self {
        Self {
            whole_from: filter.is_empty().then_some(0),
            list: 0,
            is_everything: false,
        }
    }

    /// Notes that the list of this number begins.
    pub(super) fn begin(&mut self, list: u64) {
        self.list = list;
    }

    /// Notes that the list is complete.
    pub(super) fn end(&mut self) {
        self.is_everything |= self.whole_from.is_some_and(|first| first <= self.list);
    }

    /// Returns whether all objects were listed, so that an unknown object does not exist.
    pub(super) fn is_everything(&self) -> bool {
        self.is_everything
    }
}

impl WatchState {
    /// The reason for which an object is removed that the server does not send any more: under a selector, the object
    /// may have lost its label.
    pub(in crate::kubernetes) fn removal(&self) -> Removal {
        if self.is_cut() {
            Removal::LeftApplication
        } else {
            Removal::Deleted
        }
    }

    /// Returns whether a selector leaves out objects.
    pub(in crate::kubernetes) fn is_cut(&self) -> bool {
        self.extent.whole_from.is_none()
    }

    /// Requests the objects that a selector left out, until the watch ends. A return to the selector would make
    /// these objects look deleted.
    pub(in crate::kubernetes) fn widen(&mut self) {
        if self.is_cut() {
            self.is_asked = true;
            self.is_known = false;
            self.asked.send_modify(|asked| {
                asked.filter = Arc::default();
                asked.list += 1;
            });
            self.extent.whole_from = Some(self.asked.borrow().list);
        }
    }
}

impl Watches {
    /// Returns whether no watch is listing objects that a selector left out before. A failed watch does not count.
    pub(in crate::kubernetes) fn are_widened(&self) -> bool {
        let is_widened = |state: &WatchState| match state.extent.whole_from {
            None | Some(0) => true,
            Some(_) => state.extent.is_everything || state.failure.is_some(),
        };
        self.by_id.values().all(is_widened)
    }
}
