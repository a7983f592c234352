//! Components that a start cannot load: they are kept, and are live again once they can be loaded.

use std::sync::Arc;

use expect_test::expect;
use kindsight_api::interpreters::ShadowRun;
use kindsight_catalog::CatalogLimits;
use kindsight_interpreter::Limits;
use kindsight_model::Source;

use crate::failing_store::FailingStore;
use crate::{Host, candidate, component, digest, name, outcome_text, upload};

/// A component of more bytes than `component` makes: with a custom section at its end.
fn large(version: &str) -> Vec<u8> {
    let section = [&[0, 100, 1, b'x'], &[7; 98][..]].concat();
    [component("a", version), section].concat()
}

/// The next process, whose limit permits only the small components.
fn with_a_small_limit(host: &Host, built_in: &[Vec<u8>]) -> Host {
    let small = component("a", "1.0.0")
        .len()
        .max(component("a", "2.0.0").len());
    let limits = Limits {
        component_bytes_max: small,
        ..crate::engine_limits()
    };
    assert!(large("3.0.0").len() > small);
    let store = FailingStore::over(host.store.kept());
    Host::open_with(store, built_in, CatalogLimits::default(), limits).expect("a catalog")
}

#[test]
fn a_start_with_a_smaller_limit_deletes_nothing() {
    let host = Host::new();
    host.load(&upload("a", large("1.5.0")));
    host.load(&upload("a", large("3.0.0")));
    host.load(&candidate("a", large("4.0.0")));
    host.load(&upload("b", component("b", "1.0.0")));
    let (entries, kept) = (host.catalog.entries(), host.store.kept().components.len());
    assert_eq!(kept, 4);

    let small = with_a_small_limit(&host, &[]);
    assert_eq!(small.live(), ["b 1.0.0 Upload"]);
    let entry = small.catalog.entry(&name("a")).expect("an entry");
    assert_eq!(
        entry.unavailable().count(),
        2,
        "the live one and the candidate"
    );
    let (_, why) = entry.unavailable().next().expect("one");
    assert!(why.contains("over the limit of"), "{why}");
    let notes = small.catalog.unavailable_notes();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(
        notes[0].starts_with("a 4.0.0 cannot be loaded: "),
        "{notes:?}"
    );
    // Changes do not drop them either.
    small
        .catalog
        .set_disabled(&name("b"), true)
        .expect("a name");
    small
        .catalog
        .set_disabled(&name("b"), false)
        .expect("a name");
    assert_eq!(small.store.kept().components.len(), kept);
    let shadow = small
        .catalog
        .shadow(&name("a"), &ShadowRun::default())
        .map(|_| ());
    let shadow = shadow.expect_err("it cannot be loaded").to_string();
    assert!(shadow.contains("cannot be loaded now"), "{shadow}");

    let again = Host::over(FailingStore::over(small.store.kept()), &[]);
    assert_eq!(again.live(), ["a 3.0.0 Upload", "b 1.0.0 Upload"]);
    let of = |entries: &[(_, Arc<kindsight_catalog::Entry>)]| Arc::clone(&entries[0].1);
    assert_eq!(
        of(&again.catalog.entries()),
        of(&entries),
        "as if nothing was"
    );
}

#[test]
fn the_version_before_judges_as_long_as_the_live_one_cannot_be_loaded() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    host.load(&upload("a", component("a", "2.0.0")));
    host.load(&upload("a", large("3.0.0")));
    let small = with_a_small_limit(&host, &[]);
    assert_eq!(small.live(), ["a 2.0.0 Upload"]);
    assert_eq!(
        small.versions("a", Source::Upload),
        ["3.0.0 Live", "2.0.0 Previous", "1.0.0 Previous"]
    );
    assert!(!small.catalog.retry_unavailable().expect("a state"));
    // The same bytes again are tried again.
    let again = small.load(&upload("a", large("3.0.0")));
    assert!(again.contains("over the limit of"), "{again}");
    let refused = small
        .catalog
        .promote(&name("a"), Some(&digest(&large("3.0.0"))));
    let refused = outcome_text(&refused);
    assert!(
        refused.starts_with("refused: a 3.0.0 cannot be loaded now: "),
        "{refused}"
    );
    assert_eq!(small.live(), ["a 2.0.0 Upload"]);
    expect!["Live: a 1.0.0 is live again, rolled back from 2.0.0"]
        .assert_eq(&outcome_text(&small.catalog.rollback(&name("a"))));
    assert_eq!(small.live(), ["a 1.0.0 Upload"]);
    let again = Host::over(FailingStore::over(small.store.kept()), &[]);
    assert_eq!(again.live(), ["a 3.0.0 Upload"], "the live one loads again");
}

#[test]
fn a_lower_source_judges_where_there_is_no_version_before() {
    let built_in = component("a", "1.0.0");
    let host = Host::over(Arc::default(), std::slice::from_ref(&built_in));
    host.load(&upload("a", large("3.0.0")));
    let small = with_a_small_limit(&host, std::slice::from_ref(&built_in));
    assert_eq!(small.live(), ["a 1.0.0 BuiltIn"]);
    assert_eq!(small.versions("a", Source::Upload), ["3.0.0 Live"]);
}
