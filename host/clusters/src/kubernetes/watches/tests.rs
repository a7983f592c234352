use kindsight_cluster_index::Needed;
use kindsight_model::{Gvk, KindState, Scope};

use super::relist::RELIST_MAX;
use super::*;
use crate::kubernetes::list::Part;

fn pods() -> Arc<ApiKind> {
    Arc::new(ApiKind {
        gvk: Gvk::new("", "v1", "Pod"),
        plural: "pods".to_owned(),
        is_namespaced: true,
    })
}

fn one() -> (Watches, WatchId, watch::Receiver<WatchRequest>) {
    let mut watches = Watches::default();
    let (id, detail, _) = watches.add(pods(), (None, 0), (Labels::None, Arc::default()));
    (watches, id, detail)
}

/// Objects of a Kind by namespace: the number of needed objects, and of all objects.
struct Objects(BTreeMap<&'static str, (usize, usize)>);

impl Needed for Objects {
    fn names(&self, namespace: &str) -> Vec<Arc<str>> {
        let needed = self.0.get(namespace).map_or(0, |it| it.0);
        (0..needed)
            .map(|number| number.to_string().into())
            .collect()
    }

    fn objects_in(&self, namespace: &str) -> usize {
        self.0.get(namespace).map_or(0, |it| it.1)
    }

    fn objects(&self) -> usize {
        self.0.values().map(|it| it.1).sum()
    }

    fn are_ordered(&self) -> bool {
        !self.0.contains_key("without order")
    }
}

/// The parts of a Kind with these objects that are listed, and whether the Kind is listed in full instead.
fn parts(objects: &[(&'static str, usize, usize)]) -> (Vec<(Arc<str>, Part)>, bool) {
    let (mut watches, id, asked) = one();
    let state = watches.get_mut(id).unwrap();
    state.begin(0);
    for (namespace, ..) in objects {
        state.need((*namespace).into());
    }
    let objects = objects
        .iter()
        .map(|(at, needed, all)| (*at, (*needed, *all)));
    let objects = Objects(objects.collect());
    let now = Instant::now();
    assert!(
        state.parts_to_list(&objects, now).is_empty(),
        "a list is read"
    );
    state.end();
    let parts = state.parts_to_list(&objects, now);
    assert!(
        state.parts_to_list(&objects, now).is_empty(),
        "they are listed already"
    );
    let asked = asked.borrow();
    assert!(parts.is_empty() || asked.detail == Detail::Whole);
    (parts, asked.list > 0)
}

#[test]
fn needed_objects_are_listed_in_the_way_that_costs_least() {
    let names = Part::Names(vec!["0".into(), "1".into()]);
    assert_eq!(parts(&[("a", 2, 900)]), (vec![("a".into(), names)], false));
    let namespace = vec![("a".into(), Part::Namespace)];
    assert_eq!(parts(&[("a", 9, 10), ("b", 0, 30)]), (namespace, false));
    assert_eq!(parts(&[("a", 9, 10), ("b", 0, 9)]), (Vec::new(), true));
    assert_eq!(parts(&[("without order", 1, 900)]), (Vec::new(), true));
    assert_eq!(parts(&[("a", 0, 900)]), (Vec::new(), false));
}

#[test]
fn a_part_is_listed_again_while_objects_of_it_are_needed() {
    let (mut watches, id, _asked) = one();
    let state = watches.get_mut(id).unwrap();
    state.begin(0);
    state.end();
    state.need("a".into());
    assert!(!watches.are_listed());
    let objects = Objects(BTreeMap::from([("a", (1, 9))]));
    let state = watches.get_mut(id).unwrap();
    assert_eq!(state.parts_to_list(&objects, Instant::now()).len(), 1);
    assert_eq!(state.next_part_at(), None);
    state.part_ended("a", Err(ApiError::Forbidden("no".to_owned())), true);
    let at = state.next_part_at().unwrap();
    assert!(state.parts_to_list(&objects, Instant::now()).is_empty());
    assert_eq!(state.parts_to_list(&objects, at).len(), 1);
    assert_eq!(state_of_pods(&watches), KindState::Unavailable);
    let state = watches.get_mut(id).unwrap();
    state.part_ended("a", Ok(()), false);
    assert!(watches.are_listed());
    assert_eq!(state_of_pods(&watches), KindState::Complete);
}

#[test]
fn a_request_during_a_list_needs_another_list() {
    let (mut watches, id, mut asked) = one();
    let state = watches.get_mut(id).unwrap();
    state.begin(0);
    state.ask_for_all();
    state.end();
    assert!(!watches.are_listed());
    assert!(asked.has_changed().unwrap());
    asked.mark_unchanged();
    let state = watches.get_mut(id).unwrap();
    state.ask_for_all();
    assert!(!asked.has_changed().unwrap(), "it was asked for already");
    state.begin(1);
    state.end();
    assert!(watches.are_listed());
}

#[test]
fn labels_that_were_not_kept_need_another_list() {
    let (mut watches, id, mut asked) = one();
    let state = watches.get_mut(id).unwrap();
    state.begin(0);
    state.end();
    assert!(state.is_complete());
    state.keep_labels(&Labels::None);
    assert!(state.is_complete() && !asked.has_changed().unwrap());
    state.keep_labels(&Labels::All);
    assert!(!state.is_complete() && asked.borrow_and_update().list == 1);
    state.begin(1);
    assert!(!state.is_complete());
    state.end();
    assert!(state.is_complete());
    state.fail(ApiError::Unreachable("refused".to_owned()));
    assert!(state.is_complete());
    state.fail(ApiError::Forbidden("no".to_owned()));
    assert!(!state.is_complete());
}

#[test]
fn a_kind_that_fails_is_not_an_outage_of_the_cluster() {
    let (mut watches, id, _detail) = one();
    let state = watches.get_mut(id).unwrap();
    state.fail(ApiError::Forbidden("no".to_owned()));
    assert!(watches.are_listed());
    assert!(!watches.are_lost());
    assert_eq!(state_of_pods(&watches), KindState::Forbidden);
}

#[test]
fn a_watch_that_lost_its_connection_keeps_its_state_for_a_moment_and_during_an_outage() {
    let (mut watches, id, _detail) = one();
    let state = watches.get_mut(id).unwrap();
    state.begin(0);
    state.end();
    for _ in 0..2 {
        let state = watches.get_mut(id).unwrap();
        state.fail(ApiError::Unreachable("refused".to_owned()));
    }
    assert!(watches.are_lost());
    assert_eq!(state_of_pods(&watches), KindState::Complete);
    watches.get_mut(id).unwrap().kept_until = Some(Instant::now());
    assert!(!watches.are_lost());
    assert_eq!(state_of_pods(&watches), KindState::Unavailable);
    watches.follow_outage(true);
    assert_eq!(state_of_pods(&watches), KindState::Complete);
    watches.follow_outage(false);
    assert!(watches.are_lost());
}

#[test]
fn a_lost_connection_does_not_hide_an_earlier_failure() {
    let (mut watches, id, _detail) = one();
    let state = watches.get_mut(id).unwrap();
    state.begin(0);
    state.end();
    let lost = || ApiError::Unreachable("refused".to_owned());
    assert!(state.fail(ApiError::TimedOut("no answer".to_owned())));
    assert!(!state.fail(lost()), "the first failure is kept");
    assert!(!watches.are_lost());
    assert_eq!(state_of_pods(&watches), KindState::Unavailable);
    // The watch was open in between.
    let state = watches.get_mut(id).unwrap();
    state.follow();
    assert!(state.fail(lost()));
    assert!(watches.are_lost());
    assert_eq!(state_of_pods(&watches), KindState::Complete);
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_listed_again_keeps_its_state_for_a_time() {
    let (mut watches, id, _detail) = one();
    let state = watches.get_mut(id).unwrap();
    state.begin(0);
    state.end();
    state.begin(0);
    tokio::time::advance(RELIST_MAX / 2).await;
    // The list failed, and begins again.
    let state = watches.get_mut(id).unwrap();
    state.begin(0);
    assert!(state.is_complete() && !watches.are_late());
    assert_eq!(state_of_pods(&watches), KindState::Complete);
    tokio::time::advance(RELIST_MAX / 2).await;
    assert!(watches.are_late() && !watches.iter().any(WatchState::is_complete));
    assert_eq!(state_of_pods(&watches), KindState::Unavailable);
    let state = watches.get_mut(id).unwrap();
    state.end();
    assert!(state.is_complete() && !watches.are_late());
    assert_eq!(state_of_pods(&watches), KindState::Complete);
}

#[test]
fn a_part_that_is_no_longer_needed_is_no_failure() {
    let failed = || {
        let (mut watches, id, asked) = one();
        let state = watches.get_mut(id).unwrap();
        state.begin(0);
        state.end();
        state.need("a".into());
        let few = Objects(BTreeMap::from([("a", (1, 9))]));
        assert_eq!(state.parts_to_list(&few, Instant::now()).len(), 1);
        let error = ApiError::TimedOut("no answer".to_owned());
        state.part_ended("a", Err(error), true);
        assert_eq!(state_of_pods(&watches), KindState::Unavailable);
        (watches, id, asked)
    };
    // The needed object was deleted in the meantime.
    let (mut watches, id, _asked) = failed();
    let state = watches.get_mut(id).unwrap();
    let at = state.next_part_at().unwrap();
    let none = Objects(BTreeMap::from([("a", (0, 9))]));
    assert!(state.parts_to_list(&none, at).is_empty());
    assert_eq!(state_of_pods(&watches), KindState::Complete);
    // More objects were needed, and all objects were listed.
    let (mut watches, id, _asked) = failed();
    let state = watches.get_mut(id).unwrap();
    let at = state.next_part_at().unwrap();
    let most = Objects(BTreeMap::from([("a", (9, 9))]));
    assert!(state.parts_to_list(&most, at).is_empty());
    state.begin(1);
    state.end();
    assert!(watches.are_listed());
    assert_eq!(state_of_pods(&watches), KindState::Complete);
}

#[test]
fn a_watch_of_one_namespace_covers_this_namespace_alone() {
    let mut watches = Watches::default();
    let ids = ["a", "b"].map(|namespace| {
        let (id, ..) = watches.add(
            pods(),
            (Some(namespace.into()), 0),
            (Labels::None, Arc::default()),
        );
        id
    });
    for id in ids {
        let state = watches.get_mut(id).unwrap();
        state.begin(0);
        state.end();
    }
    let state = watches.get_mut(ids[1]).unwrap();
    state.fail(ApiError::Forbidden("no".to_owned()));
    let states: Vec<_> = watches
        .iter()
        .map(|watch| (watch.extent_of(), watch.coverage().state))
        .collect();
    let (a, b) = (Scope::Namespace("a"), Scope::Namespace("b"));
    assert_eq!(
        states,
        [(a, KindState::Complete), (b, KindState::Forbidden)]
    );
}

#[test]
fn objects_outside_a_selector_are_known_after_a_complete_list_without_it() {
    let mut watches = Watches::default();
    let filter: Arc<str> = "&labelSelector=team%3Dweb".into();
    let (id, mut asked, _) = watches.add(pods(), (None, 0), (Labels::None, Arc::clone(&filter)));
    let state = watches.get_mut(id).unwrap();
    state.begin(0);
    state.end();
    assert!(!state.is_complete() && state.filter() == filter);
    assert!(watches.are_listed() && watches.are_widened());
    assert_eq!(state_of_pods(&watches), KindState::Selected);
    assert!(watches.iter().all(WatchState::is_cut));
    // A running list may have begun with the selector.
    let state = watches.get_mut(id).unwrap();
    state.begin(0);
    state.widen();
    let next = asked.borrow_and_update().clone();
    assert_eq!((next.list, &*next.filter), (1, ""));
    state.end();
    state.widen();
    assert!(!asked.has_changed().unwrap(), "it was asked for already");
    assert!(!watches.are_listed() && !watches.are_widened());
    assert_eq!(state_of_pods(&watches), KindState::Selected);
    assert!(!watches.iter().any(WatchState::is_cut));
    let state = watches.get_mut(id).unwrap();
    state.begin(1);
    state.end();
    assert!(state.is_complete() && watches.are_widened());
    assert_eq!(state_of_pods(&watches), KindState::Complete);
}

fn state_of_pods(watches: &Watches) -> KindState {
    let mut states = watches.iter().map(|watch| watch.coverage().state);
    states.next().unwrap()
}
