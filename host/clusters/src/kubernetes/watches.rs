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
    /// True from the end of a list until the next one begins.
    is_listed: bool,
    /// True from a request for whole objects until the list that answers it begins.
    is_asked: bool,
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
            is_listed: false,
            is_asked: false,
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

    /// Returns whether each watch was listed since it was last asked, or cannot be.
    pub(super) fn are_listed(&self) -> bool {
        let mut watches = self.by_id.values();
        watches.all(|it| it.failure.is_some() || it.is_listed && !it.is_asked)
    }

    /// The reason why the cluster as a whole is not heard: what is known of it may be out of date.
    ///
    /// A watch that fails costs more than its Kind only where the server cannot be reached, or where
    /// applications have objects of it.
    pub(super) fn trouble(&self, has_members: impl Fn(WatchId) -> bool) -> Option<String> {
        self.by_id.iter().find_map(|(id, it)| {
            let failure = it.failure.as_ref()?;
            if matches!(failure, ApiError::Unreachable(_)) {
                return Some(failure.to_string());
            }
            has_members(*id).then(|| it.told(failure))
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
    /// Notes that a list begins. What is asked for while it is read may have been passed over in it, so that
    /// only a request before it is answered by it.
    pub(super) fn begin(&mut self, detail: Detail) {
        self.pass += 1;
        self.is_listed = false;
        self.is_asked &= detail != Detail::Whole;
    }

    /// Notes that the list is whole.
    pub(super) fn end(&mut self) {
        self.is_listed = true;
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

    /// Asks for whole objects, also where they were listed before; once until the list begins.
    pub(super) fn ask_whole(&mut self) {
        if !self.is_asked {
            self.is_asked = true;
            self.detail.send_replace(Detail::Whole);
        }
    }

    fn told(&self, failure: &ApiError) -> String {
        let kind = self.kind.name();
        match &self.namespace {
            Some(namespace) => format!("{kind} in {namespace}: {failure}"),
            None => format!("{kind}: {failure}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use kindsight_model::Gvk;

    use super::*;

    fn one() -> (Watches, WatchId, watch::Receiver<Detail>) {
        let mut watches = Watches::default();
        let kind = ApiKind {
            gvk: Gvk::new("", "v1", "Pod"),
            plural: "pods".to_owned(),
            is_namespaced: true,
        };
        let (id, detail) = watches.add(Arc::new(kind), None);
        (watches, id, detail)
    }

    #[test]
    fn what_is_asked_for_while_a_list_is_read_needs_another_list() {
        let (mut watches, id, mut detail) = one();
        let state = watches.get_mut(id).unwrap();
        state.begin(Detail::Whole);
        state.ask_whole();
        state.end();
        assert!(!watches.are_listed());
        assert!(detail.has_changed().unwrap());
        detail.mark_unchanged();
        let state = watches.get_mut(id).unwrap();
        state.ask_whole();
        assert!(!detail.has_changed().unwrap(), "it was asked for already");
        state.begin(Detail::Whole);
        state.end();
        assert!(watches.are_listed());
    }

    #[test]
    fn a_kind_that_fails_costs_the_cluster_only_where_applications_have_objects_of_it() {
        let (mut watches, id, _detail) = one();
        let state = watches.get_mut(id).unwrap();
        state.fail(ApiError::Forbidden("no".to_owned()));
        assert!(watches.are_listed());
        assert_eq!(watches.trouble(|_| false), None);
        let why = watches.trouble(|_| true).unwrap();
        assert_eq!(why, "Pod: not allowed: no");
        let state = watches.get_mut(id).unwrap();
        state.fail(ApiError::Unreachable("refused".to_owned()));
        assert_eq!(watches.trouble(|_| false).unwrap(), "refused");
    }
}
