//! The watches of one cluster, and how each of them is.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::watch;

use super::connection::ApiError;
use super::decode::Detail;
use super::discovery::ApiKind;
use super::kind_watch::WatchId;

/// The state of one watch.
pub(super) struct WatchState {
    pub(super) kind: Arc<ApiKind>,
    pub(super) namespace: Option<Arc<str>>,
    detail: watch::Sender<Detail>,
    /// The pass over its Kind that is or was last made.
    pub(super) pass: u64,
    /// The amount of the list that is being read.
    listing: Detail,
    /// The amount of the last whole list; none before the first.
    listed: Option<Detail>,
    /// The reason why it is not followed now.
    failure: Option<ApiError>,
}

/// All watches of a cluster.
#[derive(Default)]
pub(super) struct Watches {
    by_id: BTreeMap<WatchId, WatchState>,
    next_id: WatchId,
}

impl Watches {
    /// Adds a watch. Returns its number, and the amount that is asked for.
    pub(super) fn add(
        &mut self,
        kind: Arc<ApiKind>,
        namespace: Option<Arc<str>>,
    ) -> (WatchId, watch::Receiver<Detail>) {
        let id = self.next_id;
        self.next_id += 1;
        let (detail, receiver) = watch::channel(Detail::Metadata);
        let state = WatchState {
            kind,
            namespace,
            detail,
            pass: 0,
            listing: Detail::Metadata,
            listed: None,
            failure: None,
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

    pub(super) fn kinds(&self) -> impl Iterator<Item = &Arc<ApiKind>> {
        self.by_id.values().map(|it| &it.kind)
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Returns whether each watch was listed as far as it is asked for, or cannot be.
    pub(super) fn are_listed(&self) -> bool {
        let mut watches = self.by_id.values();
        watches.all(|it| it.failure.is_some() || it.listed == Some(*it.detail.borrow()))
    }

    /// The reason why the cluster as a whole is not heard: what is known of it may be out of date.
    ///
    /// A watch that fails costs more than its Kind only where the server cannot be reached, or where
    /// applications have objects of it.
    pub(super) fn trouble(&self, has_members: impl Fn(WatchId) -> bool) -> Option<String> {
        self.by_id.iter().find_map(|(id, it)| {
            let failure = it.failure.as_ref()?;
            let concerns_all = matches!(failure, ApiError::Unreachable(_));
            match concerns_all {
                true => Some(failure.to_string()),
                false if has_members(*id) => Some(it.told(failure)),
                false => None,
            }
        })
    }

    /// The Kinds that are not watched, with the reason.
    pub(super) fn not_covered(&self) -> Vec<Arc<str>> {
        let failed = self.by_id.values();
        let failed = failed.filter_map(|it| Some(it.told(it.failure.as_ref()?).into()));
        failed.collect()
    }
}

impl WatchState {
    /// Notes that a list begins.
    pub(super) fn begin(&mut self, detail: Detail) {
        self.pass += 1;
        self.listing = detail;
    }

    /// Notes that the list is whole.
    pub(super) fn end(&mut self) {
        self.listed = Some(self.listing);
        self.failure = None;
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

    /// Asks for whole objects; where it does already, for all of them once more.
    pub(super) fn ask_whole(&mut self) {
        self.listed = None;
        self.detail.send_replace(Detail::Whole);
    }

    /// Returns whether whole objects were asked for and are not listed yet.
    pub(super) fn is_asking(&self) -> bool {
        self.listed.is_none() && *self.detail.borrow() == Detail::Whole
    }

    fn told(&self, failure: &ApiError) -> String {
        let kind = match &*self.kind.gvk.group {
            "" => self.kind.gvk.kind.to_string(),
            group => format!("{}.{group}", self.kind.gvk.kind),
        };
        match &self.namespace {
            Some(namespace) => format!("{kind} in {namespace}: {failure}"),
            None => format!("{kind}: {failure}"),
        }
    }
}
