//! The watches of one cluster, and how each of them is.

mod coverage;
mod extent;
mod parts;

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::watch;
use tokio::time::Instant;

use super::connection::ApiError;
use super::decode::{Detail, Labels};
use super::discovery::ApiKind;
use super::news::{Asked, WatchId};
use extent::Extent;
pub(super) use parts::Needed;
use parts::Parts;

/// The state of one watch.
pub(super) struct WatchState {
    pub(super) kind: Arc<ApiKind>,
    namespace: Option<Arc<str>>,
    asked: watch::Sender<Asked>,
    /// The pass over its Kind that is or was last made.
    pub(super) pass: u64,
    listed: Listed,
    extent: Extent,
    /// True from a request for a list until that list begins.
    is_asked: bool,
    /// True from the first list that had all that is asked for now.
    is_known: bool,
    /// The reason why it is not followed now.
    failure: Option<ApiError>,
    parts: Parts,
}

/// The last list of all objects of a watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listed {
    /// There was none.
    Never,
    /// Another one was begun since.
    Before,
    /// It is whole, and no other was begun.
    Now,
}

/// All watches of a cluster.
#[derive(Default)]
pub(super) struct Watches {
    by_id: BTreeMap<WatchId, WatchState>,
    next_id: WatchId,
}

impl Watches {
    /// Adds a watch that reads metadata, of the objects that a part of the query leaves. Returns its number,
    /// and what is asked for.
    pub(super) fn add(
        &mut self,
        kind: Arc<ApiKind>,
        namespace: Option<Arc<str>>,
        (labels, filter): (Labels, Arc<str>),
    ) -> (WatchId, watch::Receiver<Asked>) {
        let id = self.next_id;
        self.next_id += 1;
        let extent = Extent::of(&filter);
        let (asked, receiver) = watch::channel(Asked {
            detail: Detail::Metadata,
            labels,
            filter,
            list: 0,
        });
        let state = WatchState {
            kind,
            namespace,
            asked,
            pass: 0,
            listed: Listed::Never,
            extent,
            is_asked: false,
            is_known: false,
            failure: None,
            parts: Parts::default(),
        };
        self.by_id.insert(id, state);
        (id, receiver)
    }

    /// Ends the watches of Kinds that are not served any more. Returns their numbers.
    pub(super) fn retain(&mut self, is_served: impl Fn(&ApiKind) -> bool) -> Vec<WatchId> {
        let gone = self.by_id.iter().filter(|(_, it)| !is_served(&it.kind));
        let gone: Vec<WatchId> = gone.map(|(id, _)| *id).collect();
        for id in &gone {
            self.by_id.remove(id);
        }
        gone
    }

    pub(super) fn get_mut(&mut self, id: WatchId) -> Option<&mut WatchState> {
        self.by_id.get_mut(&id)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (WatchId, &mut WatchState)> {
        self.by_id.iter_mut().map(|(id, it)| (*id, it))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (WatchId, &Arc<ApiKind>)> {
        self.by_id.iter().map(|(id, it)| (*id, &it.kind))
    }

    /// The time at which a part of a Kind is to be listed.
    pub(super) fn next_part_at(&self) -> Option<Instant> {
        self.by_id
            .values()
            .filter_map(WatchState::next_part_at)
            .min()
    }

    /// The Kind of a watch.
    pub(super) fn kind_of(&self, id: WatchId) -> Option<&ApiKind> {
        self.by_id.get(&id).map(|it| &*it.kind)
    }

    pub(super) fn kinds(&self) -> impl Iterator<Item = &Arc<ApiKind>> {
        self.by_id.values().map(|it| &it.kind)
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Returns whether everything that was asked for of each watch was listed, or cannot be.
    pub(super) fn are_listed(&self) -> bool {
        let mut watches = self.by_id.values();
        watches.all(|it| it.failure().is_some() || it.is_whole())
    }
}

impl WatchState {
    /// Notes that the list of this number begins. What is asked for while it is read may have been passed
    /// over in it, so that only a request before it is answered by it.
    pub(super) fn begin(&mut self, list: u64) {
        self.pass += 1;
        self.extent.begin(list);
        if self.listed == Listed::Now {
            self.listed = Listed::Before;
        }
        self.is_asked &= self.asked.borrow().list != list;
    }

    /// Notes that the list is whole.
    pub(super) fn end(&mut self) {
        self.listed = Listed::Now;
        self.extent.end();
        self.is_known |= !self.is_asked;
        self.failure = None;
    }

    /// Returns whether everything is known that there is of it: never where a selector leaves out some. While the
    /// server cannot be reached that is so as of before, which is told of the cluster as a whole.
    pub(super) fn is_complete(&self) -> bool {
        let is_seen = matches!(self.failure(), None | Some(ApiError::Unreachable(_)));
        self.is_known && self.extent.is_everything() && is_seen
    }

    /// Keeps these labels of each object. Where they were not kept before, all are listed again.
    pub(super) fn keep_labels(&mut self, labels: &Labels) {
        if !self.asked.borrow().labels.covers(labels) {
            self.is_asked = true;
            self.is_known = false;
            self.asked.send_modify(|asked| {
                asked.labels = labels.clone();
                asked.list += 1;
            });
        }
    }

    /// The part of a query that leaves out objects; empty where there is none.
    pub(super) fn filter(&self) -> Arc<str> {
        Arc::clone(&self.asked.borrow().filter)
    }

    /// The labels that are kept.
    pub(super) fn labels(&self) -> Labels {
        self.asked.borrow().labels.clone()
    }

    /// Returns whether a list is whole, and no other was begun.
    fn is_listed(&self) -> bool {
        self.listed == Listed::Now
    }

    /// Returns whether all that was asked for was listed.
    fn is_whole(&self) -> bool {
        self.is_listed() && !self.is_asked && self.parts.are_listed()
    }

    /// The reason why not all of it is seen now.
    fn failure(&self) -> Option<&ApiError> {
        self.failure.as_ref().or_else(|| self.parts.failure())
    }

    /// Notes that the watch is followed.
    pub(super) fn follow(&mut self) {
        self.failure = None;
    }

    /// Notes that the watch is not followed. Returns whether that is new.
    pub(super) fn fail(&mut self, error: ApiError) -> bool {
        let is_new = self.failure.as_ref() != Some(&error);
        self.failure = Some(error);
        is_new
    }

    /// Asks for a list of all objects, whole; once until it begins.
    pub(super) fn ask_for_all(&mut self) {
        if !self.is_asked {
            self.is_asked = true;
            self.asked.send_modify(|asked| {
                asked.detail = Detail::Whole;
                asked.list += 1;
            });
        }
    }

    /// Lets the watch go on with whole objects, without a list.
    fn follow_whole(&self) {
        self.asked.send_if_modified(|asked| {
            let before = std::mem::replace(&mut asked.detail, Detail::Whole);
            before != Detail::Whole
        });
    }
}

#[cfg(test)]
mod tests;
