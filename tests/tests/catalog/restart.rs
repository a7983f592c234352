//! Restarts: the state that the next process finds.

use std::sync::Arc;

use expect_test::expect;
use kindsight_api::interpreters::Refusal;
use kindsight_catalog::CatalogLimits;
use kindsight_model::Source;
use kindsight_store::chain;

use crate::failing_store::{Failing, FailingStore, Kept};
use crate::{Host, candidate, component, component_with, digest, file, name, outcome_text, upload};

const LOOSE: &str = r#", "settings-schema": "{}""#;

fn error(store: Arc<FailingStore>) -> String {
    let opened = Host::open(store, &[], CatalogLimits::default());
    opened.err().map(|error| chain(&error)).unwrap_or_default()
}

fn over_state(state: &[u8]) -> Arc<FailingStore> {
    FailingStore::over(Kept {
        head: Some(state.to_vec()),
        ..Kept::default()
    })
}

#[test]
fn the_state_is_unchanged() {
    let host = Host::new();
    host.load(&file("a", component("a", "1.0.0")));
    host.load(&upload("a", component_with("a", "2.0.0", LOOSE)));
    let settings = serde_json::json!({"level": 7});
    host.catalog
        .set_settings(&name("a"), settings.as_object().cloned())
        .expect("they fit");
    host.load(&upload("b", component("b", "1.0.0")));
    host.load(&upload("b", component("b", "2.0.0")));
    host.catalog.rollback(&name("b")).expect("there is one");
    host.load(&candidate("b", component("b", "3.0.0")));
    host.load(&upload("c", component("c", "1.0.0")));
    host.catalog.set_disabled(&name("c"), true).expect("a name");
    host.load(&upload("d", b"no component".to_vec()));
    let (entries, live) = (host.catalog.entries(), host.live());
    let host = host.again();
    assert_eq!(host.catalog.entries(), entries);
    assert_eq!(host.live(), live);
    assert_eq!(host.live(), ["a 2.0.0 Upload", "b 1.0.0 Upload"]);
    let judged = host.judge("a", r#"{"do": "say-settings"}"#);
    assert_eq!(&*judged.message, "level 7");
    let host = host.again();
    assert_eq!(host.catalog.entries(), entries, "and once more");
    expect!["Live: b 3.0.0 is live, replacing 1.0.0 from upload"]
        .assert_eq(&outcome_text(&host.catalog.promote(&name("b"), None)));
    expect!["None: b is removed from upload"].assert_eq(&outcome_text(
        &host.catalog.remove(&name("b"), Source::Upload),
    ));
    host.catalog
        .set_disabled(&name("c"), false)
        .expect("a name");
    assert_eq!(host.live(), ["a 2.0.0 Upload", "c 1.0.0 Upload"]);
}

#[test]
fn a_rollback_after_a_restart_is_one_call() {
    let host = Host::new();
    for version in ["1.0.0", "2.0.0", "3.0.0"] {
        host.load(&upload("a", component("a", version)));
    }
    let host = host.again();
    for version in ["a 2.0.0", "a 1.0.0"] {
        host.catalog.rollback(&name("a")).expect("there is one");
        assert_eq!(host.judges("a"), version);
    }
    host.catalog
        .rollback(&name("a"))
        .expect_err("there is none");
}

#[test]
fn built_in_interpreters_of_a_new_binary_replace_the_previous_ones() {
    let host = Host::over(
        Arc::default(),
        &[component("a", "1.0.0"), component("b", "1.0.0")],
    );
    let kept = host.store.kept();
    assert!(
        kept.components.is_empty(),
        "what is built in need not be kept"
    );
    let host = Host::over(FailingStore::over(kept), &[component("a", "2.0.0")]);
    assert_eq!(host.live(), ["a 2.0.0 BuiltIn"]);
    assert!(host.catalog.entry(&name("b")).is_none());
}

#[test]
fn a_built_in_has_nothing_to_be_rolled_back_to() {
    let built_in = [component("a", "1.0.0")];
    let host = Host::over(Arc::default(), &built_in);
    let refused = host
        .catalog
        .trip_breaker(&name("a"), &digest(&built_in[0]), "too many faults")
        .expect_err("nothing else could be live");
    assert!(matches!(refused, Refusal::Conflict(_)), "{refused}");
    assert_eq!(host.live(), ["a 1.0.0 BuiltIn"]);
    let host = Host::over(FailingStore::over(host.store.kept()), &built_in);
    assert_eq!(host.live(), ["a 1.0.0 BuiltIn"]);
}

#[test]
fn a_component_that_was_tampered_with_is_not_used() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    host.load(&upload("a", component("a", "2.0.0")));
    host.load(&upload("b", component("b", "1.0.0")));
    let mut kept = host.store.kept();
    // An attacker could put another valid component in its place.
    for (name, version) in [("a", "2.0.0"), ("b", "1.0.0")] {
        let changed = kept.components.get_mut(&digest(&component(name, version)));
        *changed.expect("it is kept") = component(name, "6.6.6");
    }
    let host = Host::over(FailingStore::over(kept), &[]);
    assert_eq!(host.live(), ["a 1.0.0 Upload"]);
    assert_eq!(
        host.versions("a", Source::Upload),
        ["1.0.0 Live", "2.0.0 Refused"]
    );
    expect!["Refuse None: component sha256:…: the stored bytes have a different digest"]
        .assert_eq(&host.last_event("a"));
    expect!["Refuse None: component sha256:…: the stored bytes have a different digest"]
        .assert_eq(&host.last_event("b"));
    expect!["Live: a 2.0.0 is live, replacing 1.0.0 from upload"]
        .assert_eq(&host.load(&upload("a", component("a", "2.0.0"))));
}

#[test]
fn a_component_that_is_gone_is_stepped_over() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    host.load(&upload("a", component("a", "2.0.0")));
    let mut kept = host.store.kept();
    kept.components.remove(&digest(&component("a", "2.0.0")));
    let host = Host::over(FailingStore::over(kept), &[]);
    assert_eq!(host.live(), ["a 1.0.0 Upload"]);
    expect!["Refuse None: component sha256:…: it is no longer stored; its source is upload"]
        .assert_eq(&host.last_event("a"));
}

/// An interpreter whose settings no longer fit must not prevent the start of the host.
#[test]
fn settings_that_do_not_fit_any_more_do_not_keep_the_host_from_starting() {
    let built_in = component_with("a", "1.0.0", LOOSE);
    let host = Host::over(Arc::default(), &[built_in]);
    let settings = serde_json::json!({"level": 1});
    host.catalog
        .set_settings(&name("a"), settings.as_object().cloned())
        .expect("they fit");
    host.load(&upload("b", component("b", "1.0.0")));
    let store = FailingStore::over(host.store.kept());
    let host = Host::over(store, &[component("a", "2.0.0")]);
    assert_eq!(host.judges("b"), "b 1.0.0");
    assert_eq!(host.judges("a"), "nobody");
    expect!["Disable None: disabled because its settings are no longer valid: a 2.0.0 (sha256:…) has no settings"]
        .assert_eq(&host.last_event("a"));
    host.catalog
        .set_settings(&name("a"), None)
        .expect("none fit always");
    host.catalog
        .set_disabled(&name("a"), false)
        .expect("a name");
    assert_eq!(host.judges("a"), "a 2.0.0");
}

#[test]
fn a_state_of_a_later_release_is_left_alone() {
    let store = over_state(br#"{"format": 4, "shelves": []}"#);
    expect!["the catalog of interpreters has format 4, this release supports up to 3: use the release that wrote it, or a later one"]
        .assert_eq(&error(Arc::clone(&store)));
    assert_eq!(store.writes(), 0);
}

#[test]
fn a_damaged_state_says_so() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    let kept = host.store.kept();
    let state = kept.head.clone().expect("a head");
    for damaged in [
        &b""[..],
        b"\0\0",
        b"[]",
        &state[..state.len() - 1],
        br#"{"format": 1}"#,
        br#"{"format": 2}"#,
        br#"{"format": 3}"#,
    ] {
        let store = over_state(damaged);
        let error = error(Arc::clone(&store));
        assert!(
            error.starts_with("the catalog of interpreters is damaged: "),
            "{error}"
        );
        assert_eq!(store.writes(), 0, "and is left as it is");
    }
    let mut kept = kept;
    for value in kept.names.values_mut() {
        value.pop();
    }
    let error = error(FailingStore::over(kept));
    assert!(
        error.starts_with(
            "the catalog of interpreters is damaged: `/kindsight/interpreters/names/a/`: "
        ),
        "{error}"
    );
}

#[test]
fn a_store_that_does_not_answer_says_so() {
    let store = Arc::new(FailingStore::default());
    store.fail(Failing::ReadState);
    expect![
        "failed to read the catalog of interpreters: the store failed: the disk does not answer"
    ]
    .assert_eq(&error(store));
}

/// The first start moves the state of the previous release. The previous release then refuses the moved state.
#[test]
fn a_state_of_the_release_before_is_read_and_moved() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    let mut kept = host.store.kept();
    let entry = kept.names.values().next().cloned().expect("an entry");
    let entry = String::from_utf8(entry).expect("text");
    let junk = r#"{"is-disabled": true, "sources": {"upload": {"versions": [
        {"digest": "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
         "version": "", "outcome": "refused", "why": "junk", "received-ms": 1}]}}}"#;
    let junk: Vec<String> = (0..900)
        .map(|number| format!(r#""junk-{number}": {junk}"#))
        .collect();
    let state = format!(
        r#"{{"format": 2, "entries": {{"a": {entry}, {}}}}}"#,
        junk.join(",")
    );
    kept.names.clear();
    kept.head = Some(state.into_bytes());
    let host = Host::over(FailingStore::over(kept), &[]);
    assert_eq!(host.live(), ["a 1.0.0 Upload"]);
    assert_eq!(host.catalog.entries().len(), 1, "refusals fill no names");
    let kept = host.store.kept();
    assert_eq!(kept.names.len(), 1);
    let head = String::from_utf8(kept.head.expect("a head")).expect("text");
    assert!(head.starts_with(r#"{"format":3,"#), "{head}");
}

/// A store that does not answer for a moment must not lose components.
#[test]
fn a_component_that_cannot_be_read_now_is_not_dropped() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    let store = FailingStore::over(host.store.kept());
    store.fail(Failing::ReadComponents);
    let opened = Host::open(Arc::clone(&store), &[], CatalogLimits::default());
    drop(opened);
    store.mend();
    assert_eq!(store.kept().components.len(), 1);
    let host = Host::over(FailingStore::over(store.kept()), &[]);
    assert_eq!(host.live(), ["a 1.0.0 Upload"]);
}

/// Hosts of earlier releases removed an interpreter if no component of its name was left.
#[test]
fn a_version_removed_by_an_older_host_is_restored_by_its_digest() {
    let built_in = component("a", "1.0.0");
    let version = serde_json::json!({"digest": digest(&built_in), "version": "1.0.0",
        "outcome": "rolled-back", "why": "too many faults", "received-ms": 1});
    let state = serde_json::json!({"format": 2, "entries": {"a": {
        "sources": {"built-in": {"versions": [version]}}, "history": []}}});
    let store = over_state(state.to_string().as_bytes());
    let host = Host::over(store, std::slice::from_ref(&built_in));
    assert_eq!(host.judges("a"), "nobody");
    expect!["Unchanged: a was not disabled: nothing changed; no version of it is live; 1.0.0 was rolled back (too many faults): `promote --digest sha256:…` restores it"]
        .assert_eq(&outcome_text(&host.catalog.set_disabled(&name("a"), false)));
    let promoted = host.catalog.promote(&name("a"), Some(&digest(&built_in)));
    expect!["Live: a 1.0.0 is live"].assert_eq(&outcome_text(&promoted));
    assert_eq!(host.judges("a"), "a 1.0.0");
}
