//! A process that is killed at any write. The next process has the state before the change or after it.

use std::sync::Arc;

use kindsight_catalog::{Catalog, CatalogLimits, Entry};
use kindsight_model::{InterpreterName, Source};

use crate::failing_store::FailingStore;
use crate::{Host, candidate, component, component_with, digest, file, name, upload};

const LOOSE: &str = r#", "settings-schema": "{}""#;

/// State that a restart can change.
type Picture = (Vec<(InterpreterName, Arc<Entry>)>, Vec<String>);

type Step = (&'static str, fn(&Catalog) -> bool);

/// All commands that change the catalog. Each command starts from the state that the previous command left.
const SCRIPT: &[Step] = &[
    ("load", |catalog| {
        catalog.admit(&upload("a", component("a", "1.0.0"))).is_ok()
    }),
    ("load another", |catalog| {
        catalog
            .admit(&upload("a", component_with("a", "2.0.0", LOOSE)))
            .is_ok()
    }),
    ("load a file", |catalog| {
        catalog.admit(&file("b", component("b", "1.0.0"))).is_ok()
    }),
    ("candidate", |catalog| {
        catalog
            .admit(&candidate("a", component_with("a", "3.0.0", LOOSE)))
            .is_ok()
    }),
    ("promote", |catalog| {
        catalog.promote(&name("a"), None).is_ok()
    }),
    ("settings", |catalog| {
        let settings = serde_json::json!({"level": 1});
        catalog
            .set_settings(&name("a"), settings.as_object().cloned())
            .is_ok()
    }),
    ("roll back", |catalog| catalog.rollback(&name("a")).is_ok()),
    // A remembered refusal is a change like any other.
    ("refuse", |catalog| {
        catalog
            .admit(&upload("a", b"no component".to_vec()))
            .is_err()
    }),
    ("disable", |catalog| {
        catalog.set_disabled(&name("b"), true).is_ok()
    }),
    ("enable", |catalog| {
        catalog.set_disabled(&name("b"), false).is_ok()
    }),
    ("replace the file", |catalog| {
        catalog.admit(&file("b", component("b", "2.0.0"))).is_ok()
    }),
    ("trip the breaker", |catalog| {
        catalog
            .trip_breaker(&name("b"), &digest(&component("b", "2.0.0")), "faults")
            .is_ok()
    }),
    ("override", |catalog| {
        catalog.admit(&upload("b", component("b", "3.0.0"))).is_ok()
    }),
    ("remove", |catalog| {
        catalog.remove(&name("b"), Source::Upload).is_ok()
    }),
    ("remove the file", |catalog| {
        catalog.remove(&name("b"), Source::Directory).is_ok()
    }),
];

/// Few versions, so that components are dropped too.
fn limits() -> CatalogLimits {
    CatalogLimits {
        versions_kept_max: 1,
        ..CatalogLimits::default()
    }
}

fn open(store: Arc<FailingStore>) -> Option<Host> {
    Host::open(store, &[component("base", "1.0.0")], limits()).ok()
}

fn picture(host: &Host) -> Picture {
    (host.catalog.entries(), host.live())
}

/// The pictures before the first step and after each step, and the number of writes.
fn undisturbed() -> (Vec<Picture>, usize) {
    let host = open(Arc::default()).expect("a catalog");
    let mut pictures = vec![picture(&host)];
    for (what, step) in SCRIPT {
        assert!(step(&host.catalog), "{what}");
        pictures.push(picture(&host));
        let again = open(FailingStore::over(host.store.kept())).expect("a catalog");
        assert_eq!(
            picture(&again),
            picture(&host),
            "the next process, after {what}"
        );
    }
    (pictures, host.store.writes())
}

#[test]
fn a_crash_at_any_write_leaves_the_old_or_the_new() {
    let (pictures, writes) = undisturbed();
    let components = SCRIPT.len() / 3;
    assert!(writes > SCRIPT.len() + components, "{writes} writes");
    for max in 0..writes {
        let store = Arc::new(FailingStore::default());
        store.stop_after(max);
        let mut done = 0;
        if let Some(host) = open(Arc::clone(&store)) {
            for (_, step) in SCRIPT {
                step(&host.catalog);
                if store.is_stopped() {
                    break;
                }
                done += 1;
            }
        }
        assert!(store.is_stopped(), "write {max} is in the script");
        let host = open(FailingStore::over(store.kept())).expect("it opens again");
        let now = picture(&host);
        let what = SCRIPT.get(done).map_or("the end", |(what, _)| *what);
        let is_old_or_new = pictures
            .iter()
            .skip(done)
            .take(2)
            .any(|picture| *picture == now);
        assert!(
            is_old_or_new,
            "killed at write {max}, in `{what}`: {now:#?}"
        );
        let live = host.live();
        assert!(
            live.iter().any(|entry| entry.starts_with("base ")),
            "{live:?}"
        );
    }
}
