//! The contract of every store, as clauses that each run on an empty store.
//!
//! Compiled only for the tests of this crate, which contains all stores. A store that wraps another
//! store, for example to fail on purpose, forwards all other calls to it.

use std::fmt::Debug;
use std::sync::Arc;
use std::thread;

use super::Store;
use crate::{Batch, Error, Result};

mod keeping;
mod watching;

pub(crate) use watching::{compacted_to, nothing_yet, wait};

type Clause = (&'static str, fn(&dyn Store));

const CLAUSES: &[Clause] = &[
    ("a key that was never put has no value", missing_key),
    ("any bytes are read back as they were put", any_bytes),
    (
        "a range is in bytewise order and ends with its prefix",
        ranges,
    ),
    (
        "conditions are checked against the state before the batch",
        conditions,
    ),
    ("a conflict names its key and changes nothing", conflict),
    ("a delete removes the named keys and no others", deleting),
    ("a key is not written twice in one batch", overlaps),
    ("if two writers race, one is rejected", races),
];

/// Runs all clauses, each on a new store.
pub(crate) fn check(make: impl Fn() -> Arc<dyn Store>) {
    let clauses = CLAUSES.iter().chain(keeping::CLAUSES);
    for (name, clause) in clauses.chain(watching::CLAUSES) {
        println!("{name}");
        clause(&*make());
    }
}

fn value(store: &dyn Store, key: &str) -> Option<String> {
    let stored = store.get(key).unwrap()?;
    Some(String::from_utf8(stored).unwrap())
}

fn conflict_of(done: Result<impl Debug>) -> String {
    match done {
        Err(Error::Conflict { key }) => key,
        other => panic!("expected a conflict, got {other:?}"),
    }
}

fn missing_key(store: &dyn Store) {
    assert_eq!(store.get("/t/a/").unwrap(), None);
    assert_eq!(store.range("/t/").unwrap().entries, []);
    assert_eq!(store.keys("/t/").unwrap().keys, [""; 0]);
    store.apply(&Batch::new()).unwrap();
}

fn any_bytes(store: &dyn Store) {
    let all: Vec<u8> = (0..=255).collect();
    for bytes in [Vec::new(), vec![0], all] {
        store
            .apply(&Batch::new().put("/t/a/", bytes.clone()))
            .unwrap();
        assert_eq!(store.get("/t/a/").unwrap(), Some(bytes));
    }
}

fn ranges(store: &dyn Store) {
    let keys = [
        "/t/edge-1/",
        "/t/edge.1/",
        "/t/edge/",
        "/t/edge/a/",
        "/t/edge0/",
        "/t/ä/",
    ];
    let mut batch = Batch::new().put("/s/z/", "").put("/t0", "").put("/u/", "");
    for key in keys.iter().rev() {
        batch = batch.put(*key, *key);
    }
    store.apply(&batch).unwrap();
    assert_eq!(store.keys("/t/").unwrap().keys, keys);
    let listed = store.range("/t/").unwrap().entries;
    assert!(
        listed
            .iter()
            .all(|entry| entry.key.as_bytes() == entry.value)
    );
    assert_eq!(
        listed.into_iter().map(|it| it.key).collect::<Vec<_>>(),
        keys
    );
    assert_eq!(
        store.keys("/t/edge/").unwrap().keys,
        ["/t/edge/", "/t/edge/a/"]
    );
}

fn conditions(store: &dyn Store) {
    let create = Batch::new().absent("/t/a/").put("/t/a/", "1");
    store.apply(&create).unwrap();
    assert_eq!(conflict_of(store.apply(&create)), "/t/a/");
    let replace = Batch::new().equals("/t/a/", "1").put("/t/a/", "2");
    store.apply(&replace).unwrap();
    assert_eq!(conflict_of(store.apply(&replace)), "/t/a/");
    let beside = |owner: &str| Batch::new().present(owner).put("/t/b/", "3");
    assert_eq!(conflict_of(store.apply(&beside("/t/x/"))), "/t/x/");
    assert_eq!(value(store, "/t/b/"), None);
    store.apply(&beside("/t/a/")).unwrap();
    assert_eq!(value(store, "/t/a/").as_deref(), Some("2"));
    assert_eq!(value(store, "/t/b/").as_deref(), Some("3"));
    let missing = Batch::new().equals("/t/x/", "").put("/t/x/", "");
    assert_eq!(conflict_of(store.apply(&missing)), "/t/x/");
}

fn conflict(store: &dyn Store) {
    store.apply(&Batch::new().put("/t/a/", "1")).unwrap();
    let batch = Batch::new()
        .present("/t/a/")
        .absent("/t/b/")
        .equals("/t/c/", "x")
        .put("/t/b/", "2")
        .delete("/t/a/");
    assert_eq!(conflict_of(store.apply(&batch)), "/t/c/");
    assert_eq!(store.keys("/t/").unwrap().keys, ["/t/a/"]);
}

fn deleting(store: &dyn Store) {
    let mut batch = Batch::new();
    for key in ["/t/1/", "/t/1/a/", "/t/1/b/", "/t/12/", "/t/2/"] {
        batch = batch.put(key, "");
    }
    store.apply(&batch).unwrap();
    let batch = Batch::new()
        .delete_prefix("/t/1/")
        .delete("/t/2/")
        .delete("/t/3/");
    store.apply(&batch).unwrap();
    assert_eq!(store.keys("/t/").unwrap().keys, ["/t/12/"]);
}

fn overlaps(store: &dyn Store) {
    let put = || Batch::new().put("/t/a/b/", "");
    for batch in [
        put().put("/t/a/b/", ""),
        put().delete("/t/a/b/"),
        put().delete_prefix("/t/a/"),
    ] {
        match store.apply(&batch) {
            Err(Error::DuplicateKey { key }) => assert_eq!(key, "/t/a/b/"),
            other => panic!("expected a refusal, got {other:?}"),
        }
    }
    assert_eq!(value(store, "/t/a/b/"), None);
    store
        .apply(&put().delete("/t/a/").delete_prefix("/t/b/"))
        .unwrap();
    assert_eq!(value(store, "/t/a/b/").as_deref(), Some(""));
}

fn races(store: &dyn Store) {
    const WRITERS: usize = 4;
    const STEPS: usize = 10;
    store.apply(&Batch::new().put("/t/n/", "0")).unwrap();
    let step = || loop {
        let seen = value(store, "/t/n/").unwrap();
        let next = (seen.parse::<usize>().unwrap() + 1).to_string();
        match store.apply(&Batch::new().equals("/t/n/", seen).put("/t/n/", next)) {
            Err(Error::Conflict { .. }) => {}
            done => {
                done.unwrap();
                break;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| (0..STEPS).for_each(|_| step()));
        }
    });
    assert_eq!(value(store, "/t/n/"), Some((WRITERS * STEPS).to_string()));
}
