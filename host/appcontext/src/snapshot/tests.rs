mod images;
mod later_release;
mod updated;

use expect_test::expect;
use kindsight_store::{Batch, RedbStore, Store};
use proptest::prelude::*;

use super::*;
use crate::keys::{self, ContextKey};
use crate::value::WHY_CHARS_MAX;

const ROOT: &str = "/context/7/";

/// A context whose values are mostly not what they should be.
const DAMAGED: &[(&str, &str)] = &[
    ("meta/", "[]"),
    ("status/", r#""Instantiated""#),
    ("stopflag/", "1"),
    ("app/a/", "not looked at"),
    ("app/a/cluster/p+c/", ""),
    ("app/a/cluster/p+c/status/", r#"{"ready":false}"#),
    ("app/a/cluster/p+c/readystatus/", r#""Perhaps""#),
    ("app/a/cluster/p+c/resource/noKind/", r#""x""#),
    ("app/a/cluster/p+c/resource/x+Pod/", "{"),
    (
        "app/a/cluster/p+c/resource/x+Pod/status/",
        r#"{"Status":"Done"}"#,
    ),
    ("app/a/cluster/p+c/resource/y+Pod/", r#""fine""#),
    (
        "app/a/cluster/p+c/resource/y+Pod/status/",
        r#"{"Status":"Applied"}"#,
    ),
    ("app/a/cluster/nowhere/", r#""nowhere""#),
    ("app/a/cluster/nowhere/status/", r#""{}""#),
];

fn id() -> ContextId {
    "7".parse().unwrap()
}

/// Reads a context out of a store with these entries.
fn read_entries(entries: &[(String, Vec<u8>)]) -> Option<ContextSnapshot> {
    let store = RedbStore::in_memory().unwrap();
    let put = |batch: Batch, (key, value): &(String, Vec<u8>)| batch.put(key, value.clone());
    store
        .apply(&entries.iter().fold(Batch::new(), put))
        .unwrap();
    read(&store, &id()).unwrap()
}

/// Reads a context out of keys below its root, sorted as a store sorts them.
fn read_below(entries: &[(&str, &str)]) -> ContextSnapshot {
    let mut entries: Vec<_> = entries
        .iter()
        .map(|(below, value)| (format!("{ROOT}{below}"), value.as_bytes().to_vec()))
        .collect();
    entries.push((ROOT.to_owned(), br#""7""#.to_vec()));
    entries.sort();
    read_entries(&entries).unwrap()
}

fn app_names(snapshot: &ContextSnapshot) -> Vec<&str> {
    snapshot.apps.iter().map(|app| app.name.as_str()).collect()
}

fn why(snapshot: &ContextSnapshot) -> Vec<(&str, &str)> {
    let unreadable = snapshot.unreadable.iter();
    unreadable
        .map(|one| (one.key.strip_prefix(ROOT).unwrap(), one.why.as_str()))
        .collect()
}

#[test]
fn without_its_root_key_a_context_does_not_exist() {
    let entries = [(format!("{ROOT}app/sink/"), br#""sink""#.to_vec())];
    assert_eq!(read_entries(&entries), None);
    assert_eq!(read_entries(&[]), None);
}

#[test]
fn apps_follow_the_order_and_then_their_keys() {
    let snapshot = read_below(&[
        (
            "app/instruction/order/",
            r#""{\"apporder\":[\"z\",\"gone\",\"b\",\"z\"]}""#,
        ),
        ("app/a/", r#""a""#),
        ("app/a-1/", r#""a-1""#),
        ("app/b/", r#""b""#),
        ("app/z/", r#""z""#),
    ]);
    assert_eq!(app_names(&snapshot), ["z", "b", "a-1", "a"]);
    assert_eq!(snapshot.unreadable, []);
}

#[test]
fn resources_follow_the_order_and_then_their_keys() {
    let snapshot = read_below(&[
        ("app/a/", r#""a""#),
        ("app/a/cluster/p+c/", r#""p+c""#),
        ("app/a/cluster/p+c/resource/a+Pod/", r#""1""#),
        (
            "app/a/cluster/p+c/resource/instruction/order/",
            r#""{\"resorder\":[\"x+y+Role\",\"b+Pod\"]}""#,
        ),
        ("app/a/cluster/p+c/resource/b+Pod/", r#""2""#),
        ("app/a/cluster/p+c/resource/x+y+Role/", r#""3""#),
        (
            "app/a/cluster/p+c/resource/x+y+Role/status/",
            r#"{"Status":"Failed"}"#,
        ),
    ]);
    let resources = &snapshot.apps[0].clusters[0].resources;
    let names: Vec<_> = resources
        .iter()
        .map(|one| (one.name.as_str(), one.kind.as_str()))
        .collect();
    assert_eq!(names, [("x+y", "Role"), ("b", "Pod"), ("a", "Pod")]);
    assert_eq!(resources[0].status, Some(RsyncStatus::Failed));
    assert_eq!(resources[1].status, None);
}

#[test]
fn a_damaged_order_leaves_the_order_of_the_keys() {
    let apps = [("app/b/", r#""b""#), ("app/a/", r#""a""#)];
    for order in [
        r#"{"apporder":["b"]}"#,
        r#""{}""#,
        r#""null""#,
        r#""[[\"b\"]]""#,
        "",
        r#""{\"apporder\":null}""#,
    ] {
        let snapshot = read_below(&[&apps[..], &[("app/instruction/order/", order)]].concat());
        assert_eq!(app_names(&snapshot), ["a", "b"], "{order}");
    }
}

#[test]
fn the_oldest_meta_is_read() {
    let meta = r#"{"Project":"p","CompositeApp":"ca","Version":"v1","Release":"r","DeploymentIntentGroup":"d"}"#;
    let snapshot = read_below(&[("meta/", meta)]);
    let meta = snapshot.meta.unwrap();
    assert_eq!((meta.dig.as_str(), meta.level.as_str()), ("d", ""));
    assert_eq!(snapshot.unreadable, []);
}

#[test]
fn a_damaged_value_costs_only_itself() {
    let snapshot = read_below(DAMAGED);
    let cluster = &snapshot.apps[0].clusters[0];
    assert_eq!(cluster.resources.len(), 2);
    assert_eq!(
        (&cluster.resources[0].manifest, cluster.resources[0].status),
        (&None, None)
    );
    assert_eq!(cluster.resources[1].manifest.as_deref(), Some("fine"));
    assert_eq!(cluster.resources[1].status, Some(RsyncStatus::Applied));
    expect![[r#"
        [
            (
                "app/a/cluster/nowhere/",
                "`nowhere` is not a cluster: write `provider+name` (in a URL, `provider%2Bname`), each of them 1 to 128 letters, digits, `-`, `_` or `.`, not `-` alone or only dots",
            ),
            (
                "app/a/cluster/nowhere/status/",
                "the app has no cluster `nowhere`",
            ),
            (
                "app/a/cluster/p+c/readystatus/",
                "unknown variant `Perhaps`, expected one of `Available`, `Retrying`, `Unknown` at line 1 column 9",
            ),
            (
                "app/a/cluster/p+c/resource/noKind/",
                "a resource is named `<name>+<Kind>`",
            ),
            (
                "app/a/cluster/p+c/resource/x+Pod/",
                "invalid type: map, expected a string at line 1 column 0",
            ),
            (
                "app/a/cluster/p+c/resource/x+Pod/status/",
                "unknown variant `Done`, expected one of `Pending`, `Applied`, `Instantiated`, `Failed`, `Retrying`, `Deleted`, `Terminated`",
            ),
            (
                "app/a/cluster/p+c/status/",
                "invalid type: map, expected a string at line 1 column 0",
            ),
            (
                "meta/",
                "invalid type: sequence, expected a JSON object at line 1 column 0",
            ),
            (
                "status/",
                "invalid type: string \"Instantiated\", expected a map at line 1 column 14",
            ),
            (
                "stopflag/",
                "invalid type: integer `1`, expected a boolean at line 1 column 1",
            ),
        ]
    "#]].assert_debug_eq(&why(&snapshot));
}

#[test]
fn a_reason_does_not_repeat_a_large_value() {
    let value = format!("\"{}\"", "x".repeat(100_000));
    let snapshot = read_below(&[("stopflag/", &value)]);
    assert_eq!(snapshot.unreadable[0].why.chars().count(), WHY_CHARS_MAX);
}

#[test]
fn what_belongs_to_nothing_is_said() {
    let snapshot = read_below(&[
        ("app/a/cluster/p+c/", r#""p+c""#),
        ("app/b/", r#""b""#),
        ("app/b/cluster/p+c/status/", r#""{}""#),
        ("app/c/", r#""c""#),
        ("app/c/cluster/p+c/", r#""p+c""#),
        (
            "app/c/cluster/p+c/resource/x+Pod/status/",
            r#"{"Status":"Applied"}"#,
        ),
    ]);
    assert_eq!(
        why(&snapshot),
        [
            ("app/a/cluster/p+c/", "the context has no app `a`"),
            ("app/b/cluster/p+c/status/", "the app has no cluster `p+c`"),
            (
                "app/c/cluster/p+c/resource/x+Pod/status/",
                "the cluster has no resource `x+Pod`"
            ),
        ]
    );
}

#[test]
fn a_root_that_names_another_context_is_said() {
    let entries = [(ROOT.to_owned(), br#""8""#.to_vec())];
    let snapshot = read_entries(&entries).unwrap();
    assert_eq!(
        why(&snapshot),
        [("", "does not hold the id of its context")]
    );
}

fn any_key() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("app"),
        Just("cluster"),
        Just("resource"),
        Just("instruction"),
        Just("order"),
        Just("status"),
        Just("meta"),
        Just("a"),
        Just("p+c"),
        Just("x+Pod"),
        Just("+"),
        Just(""),
        Just("!@#metaGrp"),
        Just("readystatus"),
        Just("stopflag"),
        Just("ä"),
    ];
    let known = prop_oneof![
        Just("meta/"),
        Just("status/"),
        Just("stopflag/"),
        Just("app/instruction/order/"),
        Just("app/a/"),
        Just("app/a/cluster/p+c/"),
        Just("app/a/cluster/p+c/status/"),
        Just("app/a/cluster/p+c/readystatus/"),
        Just("app/a/cluster/p+c/!@#metaGrp/"),
        Just("app/a/cluster/p+c/resource/instruction/order/"),
        Just("app/a/cluster/p+c/resource/x+Pod/"),
        Just("app/a/cluster/p+c/resource/x+Pod/status/"),
    ];
    prop_oneof![
        3 => known.prop_map(str::to_owned),
        1 => proptest::collection::vec(part, 0..9).prop_map(|parts| parts.join("/")),
    ]
}

fn any_value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..20),
        prop_oneof![
            Just(r#""{\"apporder\":[\"a\"]}""#),
            Just(r#""{\"resorder\":[\"x+Pod\"]}""#),
            Just(r#"{"Status":"Applied"}"#),
            Just("true"),
            Just("null"),
            Just(r#""a""#),
            Just("{}"),
        ]
        .prop_map(|text| text.as_bytes().to_vec()),
    ]
}

proptest! {
    #[test]
    fn anything_under_a_context_is_read(
        entries in proptest::collection::btree_map(any_key(), any_value(), 0..30)
    ) {
        let mut sorted: Vec<_> = entries
            .into_iter()
            .map(|(below, value)| (format!("{ROOT}{below}"), value))
            .collect();
        sorted.sort();
        let rooted = sorted.iter().any(|(key, _)| key == ROOT);
        let snapshot = read_entries(&sorted);
        prop_assert_eq!(snapshot.is_some(), rooted);
        sorted.retain(|(key, _)| key != ROOT);
        sorted.insert(0, (ROOT.to_owned(), br#""7""#.to_vec()));
        let snapshot = read_entries(&sorted).unwrap();
        let own_keys = sorted.iter().filter(|(key, _)| {
            matches!(keys::context_key(ROOT, key), ContextKey::App(_))
        });
        prop_assert_eq!(snapshot.apps.len(), own_keys.count());
        prop_assert!(snapshot.unreadable.len() <= sorted.len());
    }
}
