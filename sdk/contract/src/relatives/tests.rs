//! Tests of the search for related objects.

use super::*;
use crate::pattern::KindPattern;
use crate::tree::Tree;

/// An object in a short form for tests.
#[derive(Debug, Default, Clone)]
struct It {
    kind: &'static str,
    namespace: &'static str,
    name: String,
    uid: &'static str,
    owners: Vec<(&'static str, &'static str, &'static str)>,
    labels: Vec<(&'static str, &'static str)>,
}

impl Relative for It {
    fn gvk(&self) -> (&str, &str, &str) {
        ("", "v1", self.kind)
    }

    fn namespace(&self) -> &str {
        self.namespace
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn uid(&self) -> &str {
        self.uid
    }

    fn owners(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.owners.iter().copied()
    }

    fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.labels.iter().copied()
    }
}

fn it(kind: &'static str, name: &str) -> It {
    It {
        kind,
        namespace: "d",
        name: name.to_owned(),
        ..It::default()
    }
}

fn rule(kind: &str, relation: Relation) -> RelatedRule {
    RelatedRule {
        pattern: KindPattern {
            group: String::new(),
            version: "*".to_owned(),
            kind: kind.to_owned(),
        },
        relation,
        fields: Vec::new(),
        limit: 3,
    }
}

/// The names of the objects that are found for the object with this name, and their number.
fn found(objects: &[It], of: &str, json: &str, rule: &RelatedRule) -> (Vec<String>, usize) {
    let relatives = Relatives::of(objects);
    let object = objects
        .iter()
        .find(|object| object.name == of)
        .expect("an object");
    let tree = Tree::read(json).expect("JSON");
    let found = relatives.find(rule, object, tree.document(json).root());
    let names = found.positions.iter().map(|&at| objects[at].name.clone());
    (names.collect(), found.total)
}

fn names(names: &[&str]) -> (Vec<String>, usize) {
    (names.iter().map(ToString::to_string).collect(), names.len())
}

#[test]
fn an_owner_is_identified_by_uid_or_else_by_kind_and_name() {
    let owner = It {
        uid: "1",
        ..it("Job", "j")
    };
    let owned = |namespace, owners: &[_]| It {
        namespace,
        owners: owners.to_vec(),
        ..it("Pod", "p")
    };
    for (namespace, owners, expect) in [
        ("d", &[("Job", "j", "1")][..], true),
        ("d", &[("Job", "j", "2")], false),
        ("d", &[("Job", "j", "")], true),
        ("e", &[("Job", "j", "")], false),
        ("d", &[("CronJob", "j", "")], false),
        ("d", &[("X", "x", ""), ("Job", "j", "")], true),
        ("d", &[], false),
    ] {
        let owned = owned(namespace, owners);
        assert_eq!(is_owned(&owned, &owner), expect, "{owned:?}");
    }
    assert!(!is_owned(&owned("d", &[("Job", "", "1")]), &it("Job", "")));
}

#[test]
fn owned_objects_come_in_order_and_up_to_the_limit() {
    let pod = |name: &str, owner| It {
        owners: vec![owner],
        ..it("Pod", name)
    };
    let objects = [
        pod("c", ("Job", "j", "u")),
        pod("a", ("Job", "other name", "u")),
        pod("by-name", ("Job", "j", "")),
        pod("another-uid", ("Job", "j", "v")),
        It {
            namespace: "e",
            ..pod("elsewhere", ("Job", "j", ""))
        },
        It {
            kind: "Secret",
            ..pod("secret", ("Job", "j", "u"))
        },
        It {
            uid: "u",
            ..it("Job", "j")
        },
    ];
    let mut owned = rule("Pod", Relation::Owned);
    assert_eq!(
        found(&objects, "j", "{}", &owned),
        names(&["a", "by-name", "c"])
    );
    owned.limit = 1;
    assert_eq!(
        found(&objects, "j", "{}", &owned),
        (vec!["a".to_owned()], 3)
    );
    let owner = rule("Job", Relation::Owner);
    assert_eq!(
        found(&objects, "a", "{}", &owner),
        names(&[]),
        "by its name only"
    );
    assert_eq!(found(&objects, "c", "{}", &owner), names(&["j"]));
    assert_eq!(found(&objects, "another-uid", "{}", &owner), names(&[]));
}

#[test]
fn descendants_are_found_through_others_and_circles_end() {
    let owned = |kind, name: &str, owner| It {
        owners: vec![owner],
        ..it(kind, name)
    };
    let objects = [
        owned("Deployment", "d", ("Pod", "p2", "")),
        owned("ReplicaSet", "r1", ("Deployment", "d", "")),
        owned("ReplicaSet", "r2", ("Deployment", "d", "")),
        owned("Pod", "p1", ("ReplicaSet", "r1", "")),
        owned("Pod", "p2", ("ReplicaSet", "r2", "")),
        owned("Pod", "other", ("ReplicaSet", "r3", "")),
    ];
    let pods = rule("Pod", Relation::Descendant);
    assert_eq!(found(&objects, "d", "{}", &pods), names(&["p1", "p2"]));
    let itself = rule("Deployment", Relation::Descendant);
    assert_eq!(found(&objects, "d", "{}", &itself), names(&[]));
}

#[test]
fn selectors_select_as_kubernetes_does() {
    let pod = |name: &'static str, namespace| It {
        namespace,
        labels: vec![("app", "web"), ("tier", name)],
        ..it("Pod", name)
    };
    let objects = [
        pod("a", "d"),
        pod("b", "d"),
        pod("c", "e"),
        it("Service", "s"),
    ];
    let selected = rule("Pod", Relation::SelectedBy("/spec/selector".to_owned()));
    for (selector, expected) in [
        (r#"{"app": "web"}"#, &["a", "b"][..]),
        (r#"{"app": "web", "tier": "b"}"#, &["b"]),
        (r#"{"app": "web", "tier": 3}"#, &[]),
        (r#"{"matchLabels": {"tier": "a"}}"#, &["a"]),
        (
            r#"{"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["a"]}]}"#,
            &["b"],
        ),
        (
            r#"{"matchExpressions": [{"key": "tier", "operator": "In", "values": ["a", "b", "x"]}]}"#,
            &["a", "b"],
        ),
        (
            r#"{"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "tier", "operator": "In", "values": []}]}"#,
            &[],
        ),
        (
            r#"{"matchExpressions": [{"key": "app", "operator": "Exists"}]}"#,
            &["a", "b"],
        ),
        (
            r#"{"matchExpressions": [{"key": "x", "operator": "Exists"}]}"#,
            &[],
        ),
        (
            r#"{"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}"#,
            &["a", "b"],
        ),
        (
            r#"{"matchExpressions": [{"key": "app", "operator": "Like"}]}"#,
            &[],
        ),
        (r#"{"matchLabels": {}}"#, &[]),
        ("{}", &[]),
        ("3", &[]),
    ] {
        let service = format!(r#"{{"spec": {{"selector": {selector}}}}}"#);
        let found = found(&objects, "s", &service, &selected);
        assert_eq!(found, names(expected), "{selector}");
    }
}

#[test]
fn labels_and_names_lead_to_objects() {
    let objects = [
        it("Service", "web"),
        It {
            labels: vec![("kubernetes.io/service-name", "web")],
            ..it("EndpointSlice", "web-x")
        },
        It {
            namespace: "e",
            labels: vec![("kubernetes.io/service-name", "web")],
            ..it("EndpointSlice", "web-y")
        },
        it("Secret", "one"),
        it("Secret", "two"),
        It {
            namespace: "",
            ..it("Secret", "cluster-scoped")
        },
    ];
    let slices = Relation::Labelled("kubernetes.io/service-name".to_owned());
    let slices = rule("EndpointSlice", slices);
    assert_eq!(found(&objects, "web", "{}", &slices), names(&["web-x"]));
    let json = r#"{"spec": {"secretName": "one", "secrets": [{"name": "two"}, {"name": "none"}, 3, {"name": "two"}],
        "volumeName": "cluster-scoped", "names": ["one", "two"]}}"#;
    for (pointer, expected) in [
        ("/spec/secretName", &["one"][..]),
        ("/spec/secrets/*/name", &["two"]),
        ("/spec/names/*", &["one", "two"]),
        ("/spec/volumeName", &["cluster-scoped"]),
        ("/spec/none", &[]),
    ] {
        let named = rule("Secret", Relation::Named(pointer.to_owned()));
        assert_eq!(
            found(&objects, "web", json, &named),
            names(expected),
            "{pointer}"
        );
    }
}

#[test]
fn a_selector_that_only_excludes_is_searched_up_to_a_limit() {
    let mut objects: Vec<It> = (0..=SCANNED_MAX)
        .map(|at| it("Pod", &format!("{at}")))
        .collect();
    objects.push(it("Service", "s"));
    let json = r#"{"s": {"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}}"#;
    let tree = Tree::read(json).expect("JSON");
    let document = tree.document(json);
    let relatives = Relatives::of(objects.as_slice());
    let service = objects.last().expect("a Service");
    let rule = rule("Pod", Relation::SelectedBy("/s".to_owned()));
    assert!(!relatives.find(&rule, service, document.root()).is_whole);
    let few = Relatives::of(objects.as_slice().get(1..).expect("the others"));
    assert!(few.find(&rule, service, document.root()).is_whole);
}
