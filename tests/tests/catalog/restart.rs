//! What the next process finds.

use std::sync::Arc;

use expect_test::expect;
use kindsight_catalog::CatalogLimits;
use kindsight_model::Source;

use crate::shelf::{Kept, Memory};
use crate::{Room, candidate, component, component_with, digest, file, name, told, upload};

const LOOSE: &str = r#", "settings-schema": "{}""#;

fn error(shelf: Arc<Memory>) -> String {
    let opened = Room::open(shelf, &[], CatalogLimits::default());
    opened
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default()
}

fn over_book(book: &[u8]) -> Arc<Memory> {
    Memory::over(Kept {
        book: Some(book.to_vec()),
        ..Kept::default()
    })
}

#[test]
fn everything_is_as_it_was() {
    let room = Room::new();
    room.take(&file("a", component("a", "1.0.0")));
    room.take(&upload("a", component_with("a", "2.0.0", LOOSE)));
    let settings = serde_json::json!({"level": 7});
    room.catalog
        .set_settings(&name("a"), settings.as_object().cloned())
        .expect("they fit");
    room.take(&upload("b", component("b", "1.0.0")));
    room.take(&upload("b", component("b", "2.0.0")));
    room.catalog.rollback(&name("b")).expect("there is one");
    room.take(&candidate("b", component("b", "3.0.0")));
    room.take(&upload("c", component("c", "1.0.0")));
    room.catalog.set_disabled(&name("c"), true).expect("a name");
    room.take(&upload("d", b"no component".to_vec()));
    let (pages, live) = (room.catalog.entries(), room.live());
    let room = room.again();
    assert_eq!(room.catalog.entries(), pages);
    assert_eq!(room.live(), live);
    assert_eq!(room.live(), ["a 2.0.0 Upload", "b 1.0.0 Upload"]);
    let judged = room.judge("a", r#"{"do": "say-settings"}"#);
    assert_eq!(&*judged.message, "level 7");
    let room = room.again();
    assert_eq!(room.catalog.entries(), pages, "and once more");
    expect!["Live: b 3.0.0 is live, replacing 1.0.0 from upload"]
        .assert_eq(&told(&room.catalog.promote(&name("b"), None)));
    expect!["None: b is removed from upload"]
        .assert_eq(&told(&room.catalog.remove(&name("b"), Source::Upload)));
    room.catalog
        .set_disabled(&name("c"), false)
        .expect("a name");
    assert_eq!(room.live(), ["a 2.0.0 Upload", "c 1.0.0 Upload"]);
}

#[test]
fn a_rollback_after_a_restart_is_one_call() {
    let room = Room::new();
    for version in ["1.0.0", "2.0.0", "3.0.0"] {
        room.take(&upload("a", component("a", version)));
    }
    let room = room.again();
    for version in ["a 2.0.0", "a 1.0.0"] {
        room.catalog.rollback(&name("a")).expect("there is one");
        assert_eq!(room.judges("a"), version);
    }
    room.catalog
        .rollback(&name("a"))
        .expect_err("there is none");
}

#[test]
fn what_this_binary_brings_replaces_what_the_last_one_brought() {
    let room = Room::over(
        Arc::default(),
        &[component("a", "1.0.0"), component("b", "1.0.0")],
    );
    let kept = room.shelf.kept();
    assert!(
        kept.components.is_empty(),
        "what is built in need not be kept"
    );
    let room = Room::over(Memory::over(kept), &[component("a", "2.0.0")]);
    assert_eq!(room.live(), ["a 2.0.0 BuiltIn"]);
    assert!(room.catalog.entry(&name("b")).is_none());
}

#[test]
fn what_was_found_bad_of_this_binary_stays_bad() {
    let built_in = [component("a", "1.0.0")];
    let room = Room::over(Arc::default(), &built_in);
    room.catalog
        .trip_breaker(&name("a"), &digest(&built_in[0]), "too many faults")
        .expect("live");
    assert!(room.live().is_empty());
    let room = Room::over(Memory::over(room.shelf.kept()), &built_in);
    assert!(room.live().is_empty());
}

#[test]
fn a_component_that_was_tampered_with_is_not_used() {
    let room = Room::new();
    room.take(&upload("a", component("a", "1.0.0")));
    room.take(&upload("a", component("a", "2.0.0")));
    room.take(&upload("b", component("b", "1.0.0")));
    let mut kept = room.shelf.kept();
    // Another good component in its place, as somebody would put it there.
    for (name, version) in [("a", "2.0.0"), ("b", "1.0.0")] {
        let changed = kept.components.get_mut(&digest(&component(name, version)));
        *changed.expect("it is kept") = component(name, "6.6.6");
    }
    let room = Room::over(Memory::over(kept), &[]);
    assert_eq!(room.live(), ["a 1.0.0 Upload"]);
    assert_eq!(
        room.versions("a", Source::Upload),
        ["1.0.0 Live", "2.0.0 Refused"]
    );
    expect!["Refuse None: component sha256:…: the stored bytes have another digest"]
        .assert_eq(&room.last_event("a"));
    expect!["Refuse None: component sha256:…: the stored bytes have another digest"]
        .assert_eq(&room.last_event("b"));
    expect!["Live: a 2.0.0 is live, replacing 1.0.0 from upload"]
        .assert_eq(&room.take(&upload("a", component("a", "2.0.0"))));
}

#[test]
fn a_component_that_is_gone_is_stepped_over() {
    let room = Room::new();
    room.take(&upload("a", component("a", "1.0.0")));
    room.take(&upload("a", component("a", "2.0.0")));
    let mut kept = room.shelf.kept();
    kept.components.remove(&digest(&component("a", "2.0.0")));
    let room = Room::over(Memory::over(kept), &[]);
    assert_eq!(room.live(), ["a 1.0.0 Upload"]);
    expect!["Refuse None: component sha256:…: it is not stored any more; it came by upload"]
        .assert_eq(&room.last_event("a"));
}

/// One interpreter whose settings do not fit any more must not keep the host from starting.
#[test]
fn settings_that_do_not_fit_any_more_do_not_keep_the_host_from_starting() {
    let built_in = component_with("a", "1.0.0", LOOSE);
    let room = Room::over(Arc::default(), &[built_in]);
    let settings = serde_json::json!({"level": 1});
    room.catalog
        .set_settings(&name("a"), settings.as_object().cloned())
        .expect("they fit");
    room.take(&upload("b", component("b", "1.0.0")));
    let shelf = Memory::over(room.shelf.kept());
    let room = Room::over(shelf, &[component("a", "2.0.0")]);
    assert_eq!(room.judges("b"), "b 1.0.0");
    assert_eq!(room.judges("a"), "nobody");
    expect!["Disable None: disabled, since its settings do not fit any more: a 2.0.0 (sha256:…) takes no settings"]
        .assert_eq(&room.last_event("a"));
    room.catalog
        .set_settings(&name("a"), None)
        .expect("none fit always");
    room.catalog
        .set_disabled(&name("a"), false)
        .expect("a name");
    assert_eq!(room.judges("a"), "a 2.0.0");
}

#[test]
fn a_book_of_a_later_release_is_left_alone() {
    let shelf = over_book(br#"{"format": 3, "shelves": []}"#);
    expect!["the catalog of interpreters has format 3, this release reads up to 2: use the release that wrote it, or a later one"]
        .assert_eq(&error(Arc::clone(&shelf)));
    assert_eq!(shelf.writes(), 0);
}

#[test]
fn a_damaged_book_says_so() {
    let room = Room::new();
    room.take(&upload("a", component("a", "1.0.0")));
    let book = room.shelf.kept().book.expect("a book");
    for damaged in [
        &b""[..],
        b"\0\0",
        b"[]",
        &book[..book.len() - 1],
        br#"{"format": 1}"#,
        br#"{"format": 2}"#,
    ] {
        let shelf = over_book(damaged);
        let error = error(Arc::clone(&shelf));
        assert!(
            error.starts_with("the catalog of interpreters is damaged: "),
            "{error}"
        );
        assert_eq!(shelf.writes(), 0, "and is left as it is");
    }
}

#[test]
fn a_shelf_that_does_not_answer_says_so() {
    let shelf = Arc::new(Memory::default());
    shelf.fail("book");
    expect!["read the catalog of interpreters: the disk does not answer"].assert_eq(&error(shelf));
}

/// A shelf that does not answer for a moment must not cost what lies on it.
#[test]
fn a_component_that_cannot_be_read_now_is_not_dropped() {
    let room = Room::new();
    room.take(&upload("a", component("a", "1.0.0")));
    let shelf = Memory::over(room.shelf.kept());
    shelf.fail("component");
    let opened = Room::open(Arc::clone(&shelf), &[], CatalogLimits::default());
    drop(opened);
    shelf.mend();
    assert_eq!(shelf.kept().components.len(), 1);
    let room = Room::over(Memory::over(shelf.kept()), &[]);
    assert_eq!(room.live(), ["a 1.0.0 Upload"]);
}
