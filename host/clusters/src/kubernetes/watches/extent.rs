//! The extent of a watch: all objects of its Kind, or those that a selector leaves.

use std::sync::Arc;

use super::{WatchState, Watches};
use crate::kubernetes::discovery::ApiKind;

/// The objects that the lists of a watch had.
#[derive(Debug)]
pub(super) struct Extent {
    /// Number of the first list that is of all objects; none while none of them is asked for.
    whole_from: Option<u64>,
    /// Number of the list that is or was last read.
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

    /// Notes that the list is whole.
    pub(super) fn end(&mut self) {
        self.is_everything |= self.whole_from.is_some_and(|first| first <= self.list);
    }

    /// Returns whether all objects were listed, so that one that is not known is not there.
    pub(super) fn is_everything(&self) -> bool {
        self.is_everything
    }
}

impl WatchState {
    /// Returns whether a selector leaves out objects.
    fn is_cut(&self) -> bool {
        self.extent.whole_from.is_none()
    }

    /// Asks for the objects that a selector left out, for as long as the watch is: what was seen because of
    /// them would seem to be gone without.
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
    /// The Kinds of which a selector leaves out objects.
    pub(in crate::kubernetes) fn cut(&self) -> impl Iterator<Item = &Arc<ApiKind>> {
        let cut = self.by_id.values().filter(|it| it.is_cut());
        cut.map(|it| &it.kind)
    }

    /// Returns whether nothing is being listed that a selector left out before, or it cannot be listed.
    pub(in crate::kubernetes) fn are_widened(&self) -> bool {
        let is_widened = |it: &WatchState| match it.extent.whole_from {
            None | Some(0) => true,
            Some(_) => it.extent.is_everything || it.failure.is_some(),
        };
        self.by_id.values().all(is_widened)
    }
}
