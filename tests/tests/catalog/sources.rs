//! Precedence of sources, and conflicts within one source.

use std::collections::BTreeSet;
use std::sync::Arc;

use expect_test::expect;
use kindsight_catalog::IncomingComponent;
use kindsight_model::Source;

use crate::{Host, component, component_with, file, name, outcome_text, upload};

#[test]
fn upload_is_over_directory_is_over_built_in() {
    let host = Host::over(Arc::default(), &[component("a", "1.0.0")]);
    assert_eq!(host.live(), ["a 1.0.0 BuiltIn"]);
    expect!["Live: a 3.0.0 is live, replacing 1.0.0 from built-in"]
        .assert_eq(&host.load(&upload("a", component("a", "3.0.0"))));
    expect!["Live: a 2.0.0 is accepted; the version from upload overrides it"]
        .assert_eq(&host.load(&file("a", component("a", "2.0.0"))));
    assert_eq!(host.live(), ["a 3.0.0 Upload"]);
    expect!["Live: a is removed from upload; 2.0.0 from directory is live"].assert_eq(
        &outcome_text(&host.catalog.remove(&name("a"), Source::Upload)),
    );
    assert_eq!(host.live(), ["a 2.0.0 Directory"]);
    expect!["refused: no version of `a` came from upload"].assert_eq(&outcome_text(
        &host.catalog.remove(&name("a"), Source::Upload),
    ));
    assert_eq!(
        host.catalog.names_in(Source::Directory, "a.wasm"),
        [name("a")]
    );
    expect!["Live: a is removed from directory; 1.0.0 from built-in is live"].assert_eq(
        &outcome_text(&host.catalog.remove(&name("a"), Source::Directory)),
    );
    assert_eq!(host.live(), ["a 1.0.0 BuiltIn"]);
    assert!(
        host.catalog
            .names_in(Source::Directory, "a.wasm")
            .is_empty()
    );
    expect!["refused: there is no such interpreter"].assert_eq(&outcome_text(
        &host.catalog.remove(&name("b"), Source::Upload),
    ));
}

#[test]
fn a_removed_component_can_be_uploaded_again() {
    let host = Host::new();
    let incoming = file("a", component("a", "1.0.0"));
    host.load(&incoming);
    assert_eq!(
        host.catalog
            .files(Source::Directory)
            .into_iter()
            .collect::<Vec<_>>(),
        ["a.wasm"]
    );
    host.catalog
        .remove(&name("a"), Source::Directory)
        .expect("removed");
    assert!(host.live().is_empty());
    assert!(host.catalog.files(Source::Directory).is_empty());
    expect!["Live: a 1.0.0 is live"].assert_eq(&host.load(&incoming));
    assert_eq!(host.live(), ["a 1.0.0 Directory"]);
}

#[test]
fn each_of_two_files_of_one_name_gets_a_note() {
    let host = Host::new();
    host.load(&file("a", component("a", "1.0.0")));
    for bytes in [component("a", "2.0.0"), component("a", "1.0.0")] {
        expect!["refused: published: `a.wasm` has the same name `a`: remove one of them"]
            .assert_eq(&host.load(&file("b", bytes)));
        assert_eq!(host.live(), ["a 1.0.0 Directory"]);
    }
    host.catalog
        .remove(&name("a"), Source::Directory)
        .expect("removed");
    expect!["Live: a 2.0.0 is live"].assert_eq(&host.load(&file("b", component("a", "2.0.0"))));
    assert_eq!(
        host.catalog
            .files(Source::Directory)
            .into_iter()
            .collect::<Vec<_>>(),
        ["b.wasm"]
    );
}

#[test]
fn a_renamed_file_takes_over_its_interpreter() {
    let host = Host::new();
    let bytes = component("a", "1.0.0");
    host.load(&file("a", bytes.clone()));
    let renamed = IncomingComponent {
        gone: BTreeSet::from(["a.wasm".to_owned()]),
        ..file("b", bytes)
    };
    expect!["Live: a 1.0.0 is live, replacing 1.0.0 from directory"]
        .assert_eq(&host.load(&renamed));
    let files: Vec<_> = host.catalog.files(Source::Directory).into_iter().collect();
    assert_eq!(files, ["b.wasm"]);
    assert_eq!(host.live(), ["a 1.0.0 Directory"]);
}

#[test]
fn a_file_whose_component_changes_its_name_replaces_its_predecessor() {
    let host = Host::new();
    host.load(&file("it", component("a", "1.0.0")));
    let renamed = kindsight_tests::hostile(r#"{"name": "b", "kinds": [["a", "*", "Thing"]]}"#);
    expect!["Live: b 1.0.0 is live; a, which `it.wasm` contained, is removed"]
        .assert_eq(&host.load(&file("it", renamed)));
    assert_eq!(host.live(), ["b 1.0.0 Directory"]);
    assert_eq!(host.judges("a"), "b 1.0.0");
    assert_eq!(
        host.catalog.names_in(Source::Directory, "it.wasm"),
        [name("b")]
    );
    expect!["Remove Some(Directory): a is removed from directory: `it.wasm` contains b now"]
        .assert_eq(&host.last_event("a"));
    let host = host.again();
    assert_eq!(host.live(), ["b 1.0.0 Directory"], "after a restart");
}

/// A file may be removed after its component was rolled back.
#[test]
fn a_file_that_is_gone_leaves_no_version() {
    let host = Host::over(Arc::default(), &[component("a", "0.9.0")]);
    let bytes = component("a", "1.0.0");
    host.load(&file("a", bytes.clone()));
    host.catalog
        .trip_breaker(&name("a"), &crate::digest(&bytes), "too many faults")
        .expect("live");
    assert_eq!(host.live(), ["a 0.9.0 BuiltIn"]);
    assert_eq!(
        host.catalog.names_in(Source::Directory, "a.wasm"),
        [name("a")],
        "rolled back, and there"
    );
    expect!["Live: a is removed from directory; 0.9.0 from built-in is live"].assert_eq(
        &outcome_text(&host.catalog.remove(&name("a"), Source::Directory)),
    );
    assert!(host.catalog.files(Source::Directory).is_empty());
    expect!["refused: received: these bytes of `a` were rolled back (too many faults); upload them to try again"]
        .assert_eq(&host.load(&file("a", bytes)));
}

#[test]
fn two_names_of_one_source_may_not_claim_the_same() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    let claims = kindsight_tests::hostile(
        r#"{"name": "thief", "kinds": [["b", "*", "Thing"], ["a", "*", "Thing"]]}"#,
    );
    expect!["refused: published: a 1.0.0 (sha256:…) and thief 1.0.0 (sha256:…) both claim `a/* Thing`: remove one of them"]
        .assert_eq(&host.load(&upload("thief", claims.clone())));
    assert_eq!(host.live(), ["a 1.0.0 Upload"]);
    expect!["published: a 1.0.0 (sha256:…) and thief 1.0.0 (sha256:…) both claim `a/* Thing`: remove one of them"]
        .assert_eq(&host.last_refusal());
    assert!(host.catalog.entry(&name("thief")).is_none());
    assert_eq!(
        host.store.kept().components.len(),
        1,
        "what was refused is not kept"
    );
    host.load(&file("thief", claims));
    assert_eq!(host.live(), ["a 1.0.0 Upload", "thief 1.0.0 Directory"]);
    assert_eq!(host.judges("a"), "a 1.0.0", "the higher source is heard");
}

/// A disabled interpreter conflicts with no other interpreter.
#[test]
fn a_disabled_interpreter_claims_no_kinds() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    host.catalog.set_disabled(&name("a"), true).expect("a name");
    let twin = kindsight_tests::hostile(r#"{"name": "b", "kinds": [["a", "*", "Thing"]]}"#);
    expect!["Live: b 1.0.0 is live"].assert_eq(&host.load(&upload("b", twin)));
    let enabled = outcome_text(&host.catalog.set_disabled(&name("a"), false));
    expect![
        "refused: published: a 1.0.0 (sha256:…) and b 1.0.0 (sha256:…) both claim `a/* Thing`: remove one of them"
    ]
    .assert_eq(&enabled);
    assert_eq!(host.live(), ["b 1.0.0 Upload"]);
    let moved = component_with("b", "2.0.0", "");
    host.admit(&upload("b", moved)).expect("it loads");
    expect!["Live: a is enabled"]
        .assert_eq(&outcome_text(&host.catalog.set_disabled(&name("a"), false)));
}

#[test]
fn the_catalogue_of_rules_is_below_every_other_source() {
    let host = Host::over(Arc::default(), &[component("a", "1.0.0")]);
    let of_catalogue = |stem: &str, bytes| IncomingComponent {
        source: Source::Catalogue,
        ..file(stem, bytes)
    };
    // The name of a built-in interpreter.
    expect!["Live: a 2.0.0 is accepted; the version from built-in overrides it"]
        .assert_eq(&host.load(&of_catalogue("a", component("a", "2.0.0"))));
    assert_eq!(host.live(), ["a 1.0.0 BuiltIn"]);
    // Kinds of two others, and a Kind of its own.
    let wider = kindsight_tests::hostile(
        r#"{"name": "wider", "version": "1.0.0", "kinds": [["a", "*", "Thing"], ["b", "*", "Thing"], ["c", "*", "Thing"]]}"#,
    );
    host.load(&of_catalogue("wider", wider));
    assert_eq!(host.judges("a"), "a 1.0.0");
    assert_eq!(host.judges("b"), "wider 1.0.0");
    host.load(&file("b", component("b", "1.0.0")));
    assert_eq!(host.judges("b"), "b 1.0.0");
    assert_eq!(host.judges("c"), "wider 1.0.0");
}
