//! Refusals: they do not change what is live, and are kept in the history.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use expect_test::expect;
use kindsight_catalog::IncomingComponent;
use kindsight_model::Source;

use crate::failing_store::Failing;
use crate::{Host, component, component_with, name, outcome_text, upload};

#[test]
fn a_refusal_names_its_step_and_is_remembered_under_the_name() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    let before = host.catalog.interpreters().published().generation();
    let with = |bytes| upload("a", bytes);
    let promises = component_with("a", "2.0.0", r#", "fixtures": [["works", "{}", "Ready"]]"#);
    let expected = IncomingComponent {
        expected: Some(crate::digest(b"something else")),
        ..with(component("a", "3.0.0"))
    };
    let mut outcomes = String::new();
    for incoming in [
        with(b"(component)".to_vec()),
        with(wat::parse_str("(component)").expect("text")),
        with(promises),
        with(component("b", "1.0.0")),
        expected,
    ] {
        outcomes.push_str(&host.load(&incoming));
        outcomes.push('\n');
        assert_eq!(host.live(), ["a 1.0.0 Upload"]);
        let entry = host.catalog.entry(&name("a")).expect("an entry");
        let (source, live) = entry.effective().expect("a live version");
        assert_eq!((source, live.version.as_str()), (Source::Upload, "1.0.0"));
        let event = entry.history.back().expect("an event");
        assert!(
            outcomes.contains(&crate::without_digests(&event.outcome)),
            "{event:?}"
        );
    }
    expect![[r#"
        refused: validated: not a WebAssembly component: it is WebAssembly as text (WAT): `wasm-tools parse FILE.wat -o FILE.wasm` makes it binary
        refused: validated: does not export `kindsight:interpreter/description`
        refused: tried: 1 of its fixtures failed: fixture `works`: not a Kubernetes object: it has no `kind`
        refused: tried: its name is `b`, but it was sent as `a`: send it under its own name
        refused: received: the digest of the bytes is sha256:…, but sha256:… was expected
    "#]]
    .assert_eq(&outcomes);
    let published = host.catalog.interpreters().published();
    assert_eq!(published.generation(), before, "nothing was published");
    assert_eq!(
        host.store.kept().components.len(),
        1,
        "nothing more was kept"
    );
    assert!(host.catalog.entry(&name("b")).is_none());
}

#[test]
fn a_live_component_sent_under_another_name_is_refused() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    expect!["refused: tried: its name is `a`, but it was sent as `b`: send it under its own name"]
        .assert_eq(&host.load(&upload("b", component("a", "1.0.0"))));
    assert_eq!(host.live(), ["a 1.0.0 Upload"]);
}

#[test]
fn an_expected_digest_that_is_right_is_no_hindrance() {
    let host = Host::new();
    let bytes = component("a", "1.0.0");
    let incoming = IncomingComponent {
        expected: Some(crate::digest(&bytes)),
        ..upload("a", bytes)
    };
    expect!["Live: a 1.0.0 is live"].assert_eq(&host.load(&incoming));
}

#[test]
fn a_refused_reload_leaves_the_live_version_unchanged() {
    let host = Host::new();
    let bytes = component("a", "1.0.0");
    host.load(&upload("a", bytes.clone()));
    let incoming = IncomingComponent {
        expected: Some(crate::digest(b"something else")),
        ..upload("a", bytes)
    };
    host.admit(&incoming).expect_err("another digest");
    assert_eq!(host.versions("a", Source::Upload), ["1.0.0 Live"]);
}

#[test]
fn a_component_that_cannot_be_stored_does_not_go_live() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    let next = upload("a", component("a", "2.0.0"));
    for (call, expected) in [
        (
            Failing::WriteComponents,
            expect![
                "refused: the component was not stored: no space left for the store: no storage space"
            ],
        ),
        (
            Failing::WriteState,
            expect![
                "refused: the change was not stored: no space left for the store: no storage space"
            ],
        ),
    ] {
        host.store.fail(call);
        expected.assert_eq(&host.load(&next));
        assert_eq!(host.live(), ["a 1.0.0 Upload"]);
        assert_eq!(host.versions("a", Source::Upload), ["1.0.0 Live"]);
        host.store.mend();
    }
    host.store.fail(Failing::WriteState);
    expect!["refused: the change was not stored: no space left for the store: no storage space"]
        .assert_eq(&outcome_text(&host.catalog.set_disabled(&name("a"), true)));
    assert_eq!(host.judges("a"), "a 1.0.0");
    host.store.mend();
    expect!["Live: a 2.0.0 is live, replacing 1.0.0 from upload"].assert_eq(&host.load(&next));
}

#[test]
fn a_component_that_cannot_be_deleted_costs_only_space() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    host.store.fail(Failing::ListComponents);
    host.load(&crate::candidate("a", component("a", "2.0.0")));
    host.load(&crate::candidate("a", component("a", "3.0.0")));
    assert_eq!(host.store.kept().components.len(), 3);
    host.store.mend();
    host.catalog.promote(&name("a"), None).expect("a candidate");
    assert_eq!(
        host.store.kept().components.len(),
        2,
        "the next change drops it"
    );
}

/// Another change made while a component is stored must not drop it as unused.
#[test]
fn a_component_on_its_way_in_is_not_dropped_by_another_change() {
    let host = Host::new();
    host.load(&upload("b", component("b", "1.0.0")));
    let bytes = component("a", "1.0.0");
    let catalog = Arc::clone(&host.catalog);
    // The component is stored, but the state does not refer to it yet.
    host.store.after_component(Box::new(move || {
        let (done, is_done) = mpsc::channel();
        std::thread::spawn(move || {
            let _ = catalog.set_disabled(&name("b"), true);
            let _ = done.send(());
        });
        // The other change may wait until this change is complete.
        let _ = is_done.recv_timeout(Duration::from_millis(500));
    }));
    host.admit(&upload("a", bytes.clone())).expect("it loads");
    let kept = host.store.kept().components;
    assert!(
        kept.contains_key(&crate::digest(&bytes)),
        "what is live is kept"
    );
}
