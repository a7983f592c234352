use std::collections::BTreeSet;

use kindsight_model::Gvk;

use super::*;
use crate::kubernetes::list::Part;

fn pods() -> Arc<ApiKind> {
    Arc::new(ApiKind {
        gvk: Gvk::new("", "v1", "Pod"),
        plural: "pods".to_owned(),
        is_namespaced: true,
    })
}

fn one() -> (Watches, WatchId, watch::Receiver<Asked>) {
    let mut watches = Watches::default();
    let (id, detail) = watches.add(pods(), None, (Labels::None, Arc::default()));
    (watches, id, detail)
}

/// Objects of a Kind: those that are needed, by namespace, and the number of all in each.
struct Objects(BTreeMap<&'static str, (usize, usize)>);

impl Needed for Objects {
    fn names(&self, namespace: &str) -> Vec<Arc<str>> {
        let needed = self.0.get(namespace).map_or(0, |it| it.0);
        (0..needed).map(|it| it.to_string().into()).collect()
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

/// The parts that are listed of a Kind with these objects, and whether it is listed as a whole instead.
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
fn what_is_needed_is_listed_by_name_by_namespace_or_as_a_whole_whichever_costs_least() {
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
    let why = "a Kind cannot be followed any more: Pod: not allowed: no";
    assert_eq!(watches.trouble(|_, _, _| true).unwrap(), why);
    let state = watches.get_mut(id).unwrap();
    state.part_ended("a", Ok(()), false);
    assert!(watches.are_listed() && watches.trouble(|_, _, _| true).is_none());
}

#[test]
fn what_is_asked_for_while_a_list_is_read_needs_another_list() {
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
fn a_kind_that_fails_costs_the_cluster_only_where_applications_have_objects_of_it() {
    let (mut watches, id, _detail) = one();
    let state = watches.get_mut(id).unwrap();
    state.fail(ApiError::Forbidden("no".to_owned()));
    assert!(watches.are_listed());
    assert_eq!(watches.trouble(|_, _, _| false), None);
    let why = watches.trouble(|_, _, _| true).unwrap();
    let expected = "a Kind cannot be followed any more: Pod: not allowed: no";
    assert_eq!(why, expected);
    let state = watches.get_mut(id).unwrap();
    state.fail(ApiError::Unreachable("refused".to_owned()));
    assert_eq!(
        watches.trouble(|_, _, _| false).unwrap(),
        "the cluster cannot be reached: refused"
    );
}

#[test]
fn a_part_that_nobody_needs_any_more_is_no_trouble() {
    let failed = || {
        let (mut watches, id, asked) = one();
        let state = watches.get_mut(id).unwrap();
        state.begin(0);
        state.end();
        state.need("a".into());
        let few = Objects(BTreeMap::from([("a", (1, 9))]));
        assert_eq!(state.parts_to_list(&few, Instant::now()).len(), 1);
        let error = ApiError::Unreachable("refused".to_owned());
        state.part_ended("a", Err(error), true);
        assert!(watches.trouble(|_, _, _| false).is_some());
        (watches, id, asked)
    };
    // What was needed was deleted meanwhile.
    let (mut watches, id, _asked) = failed();
    let state = watches.get_mut(id).unwrap();
    let at = state.next_part_at().unwrap();
    let none = Objects(BTreeMap::from([("a", (0, 9))]));
    assert!(state.parts_to_list(&none, at).is_empty());
    assert_eq!(watches.trouble(|_, _, _| true), None);
    // More of it was needed, and all was listed.
    let (mut watches, id, _asked) = failed();
    let state = watches.get_mut(id).unwrap();
    let at = state.next_part_at().unwrap();
    let most = Objects(BTreeMap::from([("a", (9, 9))]));
    assert!(state.parts_to_list(&most, at).is_empty());
    state.begin(1);
    state.end();
    assert!(watches.are_listed());
    assert_eq!(watches.trouble(|_, _, _| true), None);
}

#[test]
fn a_kind_is_covered_where_it_is_seen_in_each_namespace() {
    let mut watches = Watches::default();
    let ids = ["a", "b"].map(|namespace| {
        let (id, _) = watches.add(
            pods(),
            Some(namespace.into()),
            (Labels::None, Arc::default()),
        );
        id
    });
    for id in ids {
        let state = watches.get_mut(id).unwrap();
        state.begin(0);
        state.end();
    }
    assert_eq!(watches.covered(), BTreeSet::from([&*pods()]));
    let state = watches.get_mut(ids[1]).unwrap();
    state.fail(ApiError::Forbidden("no".to_owned()));
    assert!(watches.covered().is_empty());
}

#[test]
fn what_a_selector_leaves_out_is_known_once_a_list_without_it_is_whole() {
    let mut watches = Watches::default();
    let filter: Arc<str> = "&labelSelector=team%3Dweb".into();
    let (id, mut asked) = watches.add(pods(), None, (Labels::None, Arc::clone(&filter)));
    let state = watches.get_mut(id).unwrap();
    state.begin(0);
    state.end();
    assert!(!state.is_complete() && state.filter() == filter);
    assert!(watches.are_listed() && watches.are_widened());
    assert!(watches.covered().is_empty() && watches.cut().count() == 1);
    // A list that is read meanwhile may have begun with the selector.
    let state = watches.get_mut(id).unwrap();
    state.begin(0);
    state.widen();
    let next = asked.borrow_and_update().clone();
    assert_eq!((next.list, &*next.filter), (1, ""));
    state.end();
    state.widen();
    assert!(!asked.has_changed().unwrap(), "it was asked for already");
    assert!(!watches.are_listed() && !watches.are_widened());
    assert!(watches.covered().is_empty() && watches.cut().count() == 0);
    let state = watches.get_mut(id).unwrap();
    state.begin(1);
    state.end();
    assert!(state.is_complete() && watches.are_widened());
    assert_eq!(watches.covered().len(), 1);
}
