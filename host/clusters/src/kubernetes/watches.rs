//! The watches of one cluster, and the state of each watch.

mod coverage;
mod extent;
mod failure;
mod parts;
mod relist;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use kindsight_cluster_index::{ApiKind, Labels, ScopeId};
use kindsight_model::{KindCoverage, KindState};
use tokio::sync::watch;
use tokio::time::Instant;

use super::connection::{ApiError, ResponseClass};
use super::decode::Detail;
use super::discovery::path_of;
use super::health::ConsistentRead;
use super::news::{WatchId, WatchRequest};
use extent::Extent;
use parts::Parts;

/// Time for which a watch without a connection keeps its state while the server answers.
const LOST_MAX: Duration = Duration::from_secs(15);
/// The time that applies: tests do not wait [`LOST_MAX`].
const LOST: Duration = if cfg!(test) {
    Duration::from_secs(1)
} else {
    LOST_MAX
};

/// Cause of the state of a Kind that was listed before, and that has not been listed again in time.
pub(super) const NOT_LISTED: &str = "its list has not ended for a minute";

/// The state of one watch.
pub(super) struct WatchState {
    pub(super) kind: Arc<ApiKind>,
    namespace: Option<Arc<str>>,
    /// The number of its Kind and scope in the index.
    pub(super) scope: ScopeId,
    asked: watch::Sender<WatchRequest>,
    listed: Listed,
    extent: Extent,
    /// True from a request for a list until the list begins.
    is_asked: bool,
    /// True once a list contained everything that is requested now.
    is_known: bool,
    /// The reason why the watch is not open now.
    failure: Option<ApiError>,
    /// A refusal that no repeated request has confirmed. The watch keeps its previous state.
    refusal: Option<ApiError>,
    /// The time since which the server only answers that it does not serve the Kind.
    unserved_since: Option<Instant>,
    /// End of the time for which a watch without a connection keeps its state; none during an outage.
    kept_until: Option<Instant>,
    /// The coverage because of an item or an event that was not taken; none since the last list without one.
    skipped: Option<KindCoverage>,
    /// The last version that the watch has seen; 0 if it is no number.
    seen: Arc<AtomicU64>,
    parts: Parts,
}

/// The last list of all objects of a watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listed {
    /// There was no list.
    Never,
    /// Another list has begun since, for the first time at this moment.
    Before(Instant),
    /// The list is complete, and no other list has begun.
    Now,
}

/// All watches of a cluster.
#[derive(Default)]
pub(super) struct Watches {
    by_id: BTreeMap<WatchId, WatchState>,
    next_id: WatchId,
}

impl Watches {
    /// Adds a watch of metadata, with a part of the query that leaves out objects. Returns its number, the
    /// requested objects, and a cell for the last version that the watch has seen.
    pub(super) fn add(
        &mut self,
        kind: Arc<ApiKind>,
        (namespace, scope): (Option<Arc<str>>, ScopeId),
        (labels, filter): (Labels, Arc<str>),
    ) -> (WatchId, watch::Receiver<WatchRequest>, Arc<AtomicU64>) {
        let id = self.next_id;
        self.next_id += 1;
        let extent = Extent::of(&filter);
        let (asked, receiver) = watch::channel(WatchRequest {
            detail: Detail::Metadata,
            labels,
            filter,
            list: 0,
        });
        let state = WatchState {
            kind,
            namespace,
            scope,
            asked,
            listed: Listed::Never,
            extent,
            is_asked: false,
            is_known: false,
            failure: None,
            refusal: None,
            unserved_since: None,
            kept_until: None,
            skipped: None,
            seen: Arc::default(),
            parts: Parts::default(),
        };
        let seen = Arc::clone(&state.seen);
        self.by_id.insert(id, state);
        (id, receiver, seen)
    }

    /// Ends the watches of all other Kinds and versions.
    pub(super) fn retain(&mut self, is_wanted: impl Fn(&ApiKind) -> bool) {
        self.by_id.retain(|_, state| is_wanted(&state.kind));
    }

    pub(super) fn get_mut(&mut self, id: WatchId) -> Option<&mut WatchState> {
        self.by_id.get_mut(&id)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (WatchId, &mut WatchState)> {
        self.by_id.iter_mut().map(|(id, state)| (*id, state))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &WatchState> {
        self.by_id.values()
    }

    /// The watch of a Kind in a scope.
    pub(super) fn of_scope(&mut self, scope: ScopeId) -> Option<&mut WatchState> {
        let mut watches = self.by_id.values_mut();
        watches.find(|state| state.scope == scope)
    }

    /// The time at which the next list of a part of a Kind begins.
    pub(super) fn next_part_at(&self) -> Option<Instant> {
        self.by_id
            .values()
            .filter_map(WatchState::next_part_at)
            .min()
    }

    /// The Kind in a scope.
    pub(super) fn kind_of(&self, scope: ScopeId) -> Option<&ApiKind> {
        let mut watches = self.by_id.values();
        let watch = watches.find(|state| state.scope == scope);
        watch.map(|state| &*state.kind)
    }

    pub(super) fn kinds(&self) -> impl Iterator<Item = &Arc<ApiKind>> {
        self.by_id.values().map(|it| &it.kind)
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Returns whether each watch listed everything that was requested, or cannot list it.
    pub(super) fn are_listed(&self) -> bool {
        let mut watches = self.by_id.values();
        watches.all(|state| state.refusal.is_some() || state.has_failed() || state.is_whole())
    }
}

impl Watches {
    /// Notes whether the cluster has an outage. Watches keep their state during an outage, and have [`LOST_MAX`] to
    /// connect after it.
    pub(super) fn follow_outage(&mut self, is_outage: bool) {
        for state in self.by_id.values_mut() {
            if is_outage {
                state.kept_until = None;
            } else {
                state
                    .kept_until
                    .get_or_insert_with(|| Instant::now() + LOST);
            }
        }
    }

    /// Returns whether a watch has no connection and keeps its state, during an outage or for up to [`LOST_MAX`].
    pub(super) fn are_lost(&self) -> bool {
        self.by_id.values().any(WatchState::is_lost)
    }

    /// Returns whether a watch has no connection. Its coverage changes with the time, without news.
    pub(super) fn are_disconnected(&self) -> bool {
        let mut watches = self.by_id.values();
        watches.any(WatchState::is_disconnected)
    }

    /// A consistent read of a listed Kind, if possible of the core group, which only the API server itself serves.
    pub(super) fn consistent_read(&self) -> Option<ConsistentRead> {
        let listed = self.by_id.values().filter(|state| state.is_listed());
        let first = listed.min_by_key(|state| !state.kind.gvk.group.is_empty())?;
        Some(ConsistentRead {
            path: path_of(&first.kind, first.namespace.as_deref()),
            seen: first.seen.load(Ordering::Relaxed),
        })
    }

    /// Number of the watches that the credentials do not allow.
    pub(super) fn refused(&self) -> usize {
        let failures = self
            .by_id
            .values()
            .filter_map(|state| state.failure.as_ref());
        failures
            .filter(|error| error.response() == ResponseClass::Forbidden)
            .count()
    }

    /// Returns whether a Kind is refused and no repeated request has confirmed that.
    pub(super) fn are_refused(&self) -> bool {
        self.by_id.values().any(|state| state.refusal.is_some())
    }
}

impl WatchState {
    /// Notes that the list with this number begins. Only a list that begins after a request answers the request.
    pub(super) fn begin(&mut self, list: u64) {
        self.extent.begin(list);
        if self.listed == Listed::Now {
            self.listed = Listed::Before(Instant::now());
        }
        self.is_asked &= self.asked.borrow().list != list;
    }

    /// Returns whether the first list has not ended, and the server has not refused it.
    pub(super) fn is_listing(&self) -> bool {
        self.listed == Listed::Never && (self.failure.is_none() || self.is_lost())
    }

    /// Returns whether a list of the watch has ended.
    pub(super) fn was_listed(&self) -> bool {
        self.listed != Listed::Never
    }

    /// Notes that the list is complete.
    pub(super) fn end(&mut self) {
        self.listed = Listed::Now;
        self.extent.end();
        self.is_known |= !self.is_asked;
        self.skipped = None;
        self.follow();
        self.unserved_since = None;
    }

    /// Returns whether every object of the Kind is known; never while a selector leaves out objects, or while the
    /// next list is late. During an outage, the previous result is kept, because the outage is reported for the
    /// entire cluster.
    pub(super) fn is_complete(&self) -> bool {
        let is_everything = self.extent.is_everything() && self.skipped.is_none();
        self.is_known && is_everything && !self.has_failed() && !self.is_late()
    }

    /// Requests these labels of each object. If they were not requested before, all objects are listed again.
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

    /// The part of a query that leaves out objects; empty if there is none.
    pub(super) fn filter(&self) -> Arc<str> {
        Arc::clone(&self.asked.borrow().filter)
    }

    /// The only namespace of the watch; `None` for all of the cluster.
    pub(super) fn namespace(&self) -> Option<&Arc<str>> {
        self.namespace.as_ref()
    }

    /// Returns whether the watch has sent every event up to this version; never if versions have no order.
    pub(super) fn has_seen(&self, version: u64) -> bool {
        let is_gapless = self.is_listed() && self.skipped.is_none();
        is_gapless && version > 0 && self.seen.load(Ordering::Relaxed) >= version
    }

    /// The labels that the index keeps.
    pub(super) fn labels(&self) -> Labels {
        self.asked.borrow().labels.clone()
    }

    /// Returns whether a list is complete, and no other list has begun.
    fn is_listed(&self) -> bool {
        self.listed == Listed::Now
    }

    /// Returns whether everything that was requested was listed.
    fn is_whole(&self) -> bool {
        self.is_listed() && !self.is_asked && self.parts.are_listed()
    }

    /// The reason why some objects are not watched now.
    pub(super) fn failure(&self) -> Option<&ApiError> {
        self.failure.as_ref().or_else(|| self.parts.failure())
    }

    /// The time since which the server only answers that it does not serve the Kind; none if it serves the Kind.
    pub(super) fn unserved_since(&self) -> Option<Instant> {
        self.unserved_since
    }

    /// Notes that the watch is open.
    pub(super) fn follow(&mut self) {
        self.failure = None;
        self.refusal = None;
    }

    /// Notes that an event was dropped, for this reason. The event may have changed any known object.
    pub(super) fn skip_event(&mut self, why: &str) {
        let cause = format!("an event could not be decoded: {why}");
        self.skipped = Some(KindCoverage::caused(KindState::Unavailable, cause));
    }

    /// Notes that the next list waits, for this reason. The Kind may change without an event until its list.
    pub(super) fn wait(&mut self, why: &str) {
        self.skipped = Some(KindCoverage::caused(KindState::Unavailable, why));
    }

    /// Notes that the list has an item without a readable identity. All other objects are known.
    pub(super) fn skip_item(&mut self) {
        let cause = "an item of its list has no readable identity";
        self.skipped = Some(KindCoverage::caused(KindState::Incomplete, cause));
    }

    /// Returns whether the watch has no connection and keeps its state, during an outage or for up to [`LOST_MAX`].
    fn is_lost(&self) -> bool {
        self.is_disconnected() && self.kept_until.is_none_or(|until| Instant::now() < until)
    }

    fn is_disconnected(&self) -> bool {
        matches!(self.failure, Some(ApiError::Unreachable(_)))
    }

    /// Returns whether the watch or one of its parts failed, except for a connection that was lost a moment ago.
    fn has_failed(&self) -> bool {
        match (&self.failure, self.parts.failure()) {
            (None, None | Some(ApiError::Unreachable(_))) => false,
            (None, Some(_)) => true,
            (Some(_), _) => !self.is_lost(),
        }
    }

    /// Requests a list of all complete objects, unless a requested list has not begun yet.
    pub(super) fn ask_for_all(&mut self) {
        if !self.is_asked {
            self.is_asked = true;
            self.asked.send_modify(|asked| {
                asked.detail = Detail::Whole;
                asked.list += 1;
            });
        }
    }

    /// Switches the watch to complete objects, without a list.
    pub(super) fn follow_whole(&self) {
        self.asked.send_if_modified(|asked| {
            let before = std::mem::replace(&mut asked.detail, Detail::Whole);
            before != Detail::Whole
        });
    }
}

#[cfg(test)]
mod tests;
