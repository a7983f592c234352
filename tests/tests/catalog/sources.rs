//! Which source is heard, and what two of one source may not do.

use std::collections::BTreeSet;
use std::sync::Arc;

use expect_test::expect;
use kindsight_catalog::IncomingComponent;
use kindsight_model::Source;

use crate::{Room, component, component_with, file, name, told, upload};

#[test]
fn upload_is_over_directory_is_over_built_in() {
    let room = Room::over(Arc::default(), &[component("a", "1.0.0")]);
    assert_eq!(room.live(), ["a 1.0.0 BuiltIn"]);
    expect!["Live: a 3.0.0 is live, replacing 1.0.0 from built-in"]
        .assert_eq(&room.take(&upload("a", component("a", "3.0.0"))));
    expect!["Live: a 2.0.0 is accepted; the version from upload overrides it"]
        .assert_eq(&room.take(&file("a", component("a", "2.0.0"))));
    assert_eq!(room.live(), ["a 3.0.0 Upload"]);
    expect!["Live: a is removed from upload; 2.0.0 from directory is live"]
        .assert_eq(&told(&room.catalog.remove(&name("a"), Source::Upload)));
    assert_eq!(room.live(), ["a 2.0.0 Directory"]);
    expect!["refused: no version of `a` came from upload"]
        .assert_eq(&told(&room.catalog.remove(&name("a"), Source::Upload)));
    assert_eq!(room.catalog.names_in("a.wasm"), [name("a")]);
    expect!["Live: a is removed from directory; 1.0.0 from built-in is live"]
        .assert_eq(&told(&room.catalog.remove(&name("a"), Source::Directory)));
    assert_eq!(room.live(), ["a 1.0.0 BuiltIn"]);
    assert!(room.catalog.names_in("a.wasm").is_empty());
    expect!["refused: there is no such interpreter"]
        .assert_eq(&told(&room.catalog.remove(&name("b"), Source::Upload)));
}

#[test]
fn what_was_removed_may_come_again() {
    let room = Room::new();
    let delivery = file("a", component("a", "1.0.0"));
    room.take(&delivery);
    assert_eq!(
        room.catalog.files().into_iter().collect::<Vec<_>>(),
        ["a.wasm"]
    );
    room.catalog
        .remove(&name("a"), Source::Directory)
        .expect("removed");
    assert!(room.live().is_empty());
    assert!(room.catalog.files().is_empty());
    expect!["Live: a 1.0.0 is live"].assert_eq(&room.take(&delivery));
    assert_eq!(room.live(), ["a 1.0.0 Directory"]);
}

#[test]
fn two_files_of_one_name_are_told_of_each_other() {
    let room = Room::new();
    room.take(&file("a", component("a", "1.0.0")));
    for bytes in [component("a", "2.0.0"), component("a", "1.0.0")] {
        expect!["refused: published: `a.wasm` has the same name `a`: leave one of them out"]
            .assert_eq(&room.take(&file("b", bytes)));
        assert_eq!(room.live(), ["a 1.0.0 Directory"]);
    }
    room.catalog
        .remove(&name("a"), Source::Directory)
        .expect("removed");
    expect!["Live: a 2.0.0 is live"].assert_eq(&room.take(&file("b", component("a", "2.0.0"))));
    assert_eq!(
        room.catalog.files().into_iter().collect::<Vec<_>>(),
        ["b.wasm"]
    );
}

#[test]
fn a_file_that_is_given_another_name_takes_over_what_it_filled() {
    let room = Room::new();
    let bytes = component("a", "1.0.0");
    room.take(&file("a", bytes.clone()));
    let renamed = IncomingComponent {
        gone: BTreeSet::from(["a.wasm".to_owned()]),
        ..file("b", bytes)
    };
    expect!["Live: a 1.0.0 is live, replacing 1.0.0 from directory"]
        .assert_eq(&room.take(&renamed));
    let files: Vec<_> = room.catalog.files().into_iter().collect();
    assert_eq!(files, ["b.wasm"]);
    assert_eq!(room.live(), ["a 1.0.0 Directory"]);
}

/// A file may be taken away after everything in it was found bad.
#[test]
fn a_file_that_is_gone_fills_no_slot() {
    let room = Room::new();
    let bytes = component("a", "1.0.0");
    room.take(&file("a", bytes.clone()));
    room.catalog
        .trip_breaker(&name("a"), &crate::digest(&bytes), "too many faults")
        .expect("live");
    assert!(room.live().is_empty());
    assert_eq!(
        room.catalog.names_in("a.wasm"),
        [name("a")],
        "bad, and there"
    );
    expect!["None: a is removed from directory"]
        .assert_eq(&told(&room.catalog.remove(&name("a"), Source::Directory)));
    assert!(room.catalog.files().is_empty());
    expect!["refused: received: `a` was rolled back from these bytes (too many faults); upload them to try again"]
        .assert_eq(&room.take(&file("a", bytes)));
}

#[test]
fn two_names_of_one_source_may_not_claim_the_same() {
    let room = Room::new();
    room.take(&upload("a", component("a", "1.0.0")));
    let claims = kindsight_tests::hostile(
        r#"{"name": "thief", "kinds": [["b", "*", "Thing"], ["a", "*", "Thing"]]}"#,
    );
    expect!["refused: published: a 1.0.0 (sha256:…) and thief 1.0.0 (sha256:…) both claim `a/* Thing`: leave one of them out"]
        .assert_eq(&room.take(&upload("thief", claims.clone())));
    assert_eq!(room.live(), ["a 1.0.0 Upload"]);
    expect!["Refuse Some(Upload): published: a 1.0.0 (sha256:…) and thief 1.0.0 (sha256:…) both claim `a/* Thing`: leave one of them out"]
        .assert_eq(&room.last_event("thief"));
    assert_eq!(
        room.shelf.kept().components.len(),
        1,
        "what was refused is not kept"
    );
    room.take(&file("thief", claims));
    assert_eq!(room.live(), ["a 1.0.0 Upload", "thief 1.0.0 Directory"]);
    assert_eq!(room.judges("a"), "a 1.0.0", "the higher source is heard");
}

/// What nobody can see of what is there does not stand in the way.
#[test]
fn what_is_disabled_claims_nothing() {
    let room = Room::new();
    room.take(&upload("a", component("a", "1.0.0")));
    room.catalog.set_disabled(&name("a"), true).expect("a name");
    let twin = kindsight_tests::hostile(r#"{"name": "b", "kinds": [["a", "*", "Thing"]]}"#);
    expect!["Live: b 1.0.0 is live"].assert_eq(&room.take(&upload("b", twin)));
    let enabled = told(&room.catalog.set_disabled(&name("a"), false));
    expect![
        "refused: published: a 1.0.0 (sha256:…) and b 1.0.0 (sha256:…) both claim `a/* Thing`: leave one of them out"
    ]
    .assert_eq(&enabled);
    assert_eq!(room.live(), ["b 1.0.0 Upload"]);
    let moved = component_with("b", "2.0.0", "");
    room.admit(&upload("b", moved)).expect("it loads");
    expect!["Live: a is enabled"].assert_eq(&told(&room.catalog.set_disabled(&name("a"), false)));
}
