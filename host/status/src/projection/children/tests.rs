use std::collections::BTreeMap;

use kindsight_model::Phase;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::samples::{NOW_MS, expected, input, object, observed, owned, report, verdict};
use crate::{ClusterView, Expected, project};

use super::*;

fn view(expected: Vec<Expected>, objects: Vec<Object>) -> ClusterView {
    let mut input = input("edge01", expected);
    let ready = |object| observed(object, verdict(Phase::Ready, "", ""));
    report(&mut input, objects.into_iter().map(ready).collect());
    project(input, None, NOW_MS)
}

/// The owner of each child by its name.
fn owners_of(view: &ClusterView) -> BTreeMap<String, String> {
    let name = |at: usize| view.resources().get(at).unwrap().name.to_string();
    let children = view.resources().iter();
    let owners = children.filter_map(|child| Some((child.name.to_string(), name(child.owner?))));
    owners.collect()
}

fn check(objects: Vec<Object>, expected: &[(&str, &str)]) {
    let expected = expected
        .iter()
        .map(|(child, owner)| ((*child).into(), (*owner).into()));
    let expected: BTreeMap<String, String> = expected.collect();
    assert_eq!(owners_of(&view(Vec::new(), objects)), expected);
}

/// An object in the default namespace. Owner references are given as Kind, name and uid.
fn one(kind: &str, name: &str, uid: &str, owners: &[(&str, &str, &str)]) -> Object {
    owned((kind, "default", name, uid), owners)
}

#[test]
fn owners_are_followed_in_any_number_of_steps() {
    let chain = vec![
        one("Pod", "p", "3", &[("ReplicaSet", "r", "2")]),
        one("ReplicaSet", "r", "2", &[("Deployment", "d", "1")]),
        one("Deployment", "d", "1", &[]),
    ];
    check(chain, &[("p", "r"), ("r", "d")]);
}

#[test]
fn an_object_whose_owner_is_not_in_the_report_is_not_a_child() {
    let pods = vec![
        one("Pod", "a", "3", &[("ReplicaSet", "r", "2")]),
        one("Pod", "b", "4", &[("ReplicaSet", "r", "2")]),
    ];
    check(pods, &[]);
    let below_an_orphan = vec![
        one("Claim", "c", "5", &[("Pod", "a", "3")]),
        one("Pod", "a", "3", &[("ReplicaSet", "r", "2")]),
    ];
    check(below_an_orphan, &[("c", "a")]);
}

#[test]
fn cycles_of_owners_make_no_children() {
    let circle = vec![
        one("A", "a", "1", &[("B", "b", "2")]),
        one("B", "b", "2", &[("A", "a", "1")]),
        one("C", "c", "3", &[("B", "b", "2")]),
        one("D", "d", "4", &[("D", "d", "4")]),
        one("E", "e", "", &[("E", "e", "")]),
    ];
    check(circle, &[]);
    let circle_below_an_owner = vec![
        one("A", "a", "1", &[("B", "b", "2"), ("R", "r", "9")]),
        one("B", "b", "2", &[("A", "a", "1")]),
        one("R", "r", "9", &[]),
    ];
    check(circle_below_an_owner, &[("a", "r"), ("b", "a")]);
}

#[test]
fn owners_match_by_uid_or_else_by_kind_and_name() {
    let job = |uid| one("Job", "j", uid, &[]);
    let pod = |uid| one("Pod", "p", "2", &[("Job", "j", uid)]);
    check(vec![job("1"), pod("1")], &[("p", "j")]);
    check(vec![job("new"), pod("old")], &[]);
    check(vec![job(""), pod("1")], &[("p", "j")]);
    check(vec![job("1"), pod("")], &[("p", "j")]);
    let renamed = one("Pod", "p", "2", &[("Other", "other", "1")]);
    check(vec![job("1"), renamed], &[("p", "j")]);
    let elsewhere = owned(("Job", "other", "j", ""), &[]);
    check(vec![elsewhere, pod("")], &[]);
    let node = owned(("Node", "", "n", "7"), &[]);
    let of_node = one("Pod", "p", "2", &[("Node", "n", "7")]);
    check(vec![node, of_node], &[("p", "n")]);
}

#[test]
fn a_sent_resource_is_an_owner_but_never_a_child() {
    let sent = vec![expected("v1", "A", "a"), expected("v1", "Gone", "gone")];
    let objects = vec![
        one("B", "b", "2", &[("A", "a", "1")]),
        one("A", "a", "1", &[("B", "b", "2")]),
        one("C", "c", "3", &[("Gone", "gone", "")]),
    ];
    let view = view(sent, objects);
    assert_eq!(owners_of(&view), [("b".into(), "a".into())].into());
}

#[test]
fn an_object_with_the_name_of_its_owner_is_not_its_own_owner() {
    let service = object("serving.knative.dev/v1", "Service", "default", "s");
    let owned = one("Service", "s", "", &[("Service", "s", "")]);
    let view = view(Vec::new(), vec![owned, service]);
    let owners: Vec<_> = view
        .resources()
        .iter()
        .map(|resource| resource.owner)
        .collect();
    assert_eq!(owners, [Some(1), None]);
}

#[test]
fn chains_of_owners_may_be_as_long_as_the_report() {
    const LENGTH: usize = 20_000;
    let name = |at: usize| format!("n{at}");
    let chain = (0..LENGTH).map(|at| {
        let owner = name(at + 1);
        let owners = [("K", &*owner, &*owner)];
        one("K", &name(at), &name(at), &owners)
    });
    let end = one("K", &name(LENGTH), &name(LENGTH), &[]);
    let view = view(Vec::new(), chain.chain([end]).collect());
    let owners = view
        .resources()
        .iter()
        .filter_map(|resource| resource.owner);
    assert!(owners.eq(1..=LENGTH));
}

/// Returns whether an object names another as its owner, by the definition.
fn is_owned(owned: &Object, owner: &Object) -> bool {
    owned.owners.iter().any(|reference| {
        if reference.uid.is_empty() || owner.uid.is_empty() {
            !reference.name.is_empty()
                && (&reference.name, &reference.kind) == (&owner.name, &owner.gvk.kind)
                && owned.namespace == owner.namespace
        } else {
            reference.uid == owner.uid
        }
    })
}

/// Returns whether a chain of owners leads from an object to a root, by the definition.
fn is_child(at: usize, objects: &[Object]) -> bool {
    let above = |at: usize| {
        let others = (0..objects.len()).filter(move |&other| other != at);
        others.filter(move |&other| is_owned(&objects[at], &objects[other]))
    };
    let mut reached = vec![at];
    let mut next = 0;
    while let Some(&at) = reached.get(next) {
        next += 1;
        for owner in above(at) {
            if above(owner).next().is_none() {
                return true;
            }
            if !reached.contains(&owner) {
                reached.push(owner);
            }
        }
    }
    false
}

proptest! {
    #[test]
    fn children_match_the_definition_and_lead_to_a_root(
        graph in vec((any::<bool>(), vec((0..12_usize, any::<bool>()), 0..3)), 0..12),
    ) {
        let uid = |at: usize, has_uid: bool| if has_uid { format!("uid-{at}") } else { String::new() };
        let objects = graph.iter().enumerate().map(|(at, (has_uid, owners))| {
            let owners = owners.iter();
            let owners: Vec<_> = owners
                .map(|(owner, has_uid)| (format!("n{owner}"), uid(*owner, *has_uid)))
                .collect();
            let owners: Vec<_> = owners.iter().map(|(name, uid)| ("K", &**name, &**uid)).collect();
            one("K", &format!("n{at}"), &uid(at, *has_uid), &owners)
        });
        let objects: Vec<Object> = objects.collect();
        let view = view(Vec::new(), objects.clone());
        for (at, resource) in view.resources().iter().enumerate() {
            prop_assert_eq!(resource.owner.is_some(), is_child(at, &objects), "{}", at);
            let mut above = resource.owner;
            let mut steps = 0;
            while let Some(owner) = above {
                steps += 1;
                prop_assert!(steps <= objects.len());
                above = view.resources().get(owner).unwrap().owner;
            }
        }
    }
}
