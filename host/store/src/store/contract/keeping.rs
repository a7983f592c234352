//! Clauses about limits and revisions.

use super::{Clause, conflict_of};
use crate::{Batch, Entry, Error, Revision, Store};

pub(super) const CLAUSES: &[Clause] = &[
    ("a value over the limit fails only its batch", limit),
    (
        "the error for a batch over the limits names the exceeded limit",
        batches,
    ),
    (
        "a batch has a greater revision than those before it",
        revisions,
    ),
    (
        "a key keeps the revisions that created and changed it",
        kept_revisions,
    ),
    ("the revision of a key shows a later change", unchanged),
];

fn limit(store: &dyn Store) {
    let max = store.limits().value_bytes;
    let batch = Batch::new()
        .put("/t/a/", "")
        .put("/t/b/", vec![b'x'; max + 1]);
    match store.apply(&batch) {
        Err(Error::TooLarge {
            key,
            bytes,
            max: limit,
        }) => {
            assert_eq!((key.as_str(), bytes, limit), ("/t/b/", max + 1, max));
        }
        other => panic!("expected a refusal, got {other:?}"),
    }
    assert_eq!(store.keys("/t/").unwrap().keys, [""; 0]);
    store
        .apply(&Batch::new().put("/t/b/", vec![b'x'; 1024 * 1024]))
        .unwrap();
}

/// Batches over the limits of a store are rejected, and batches exactly at the limits are accepted.
fn batches(store: &dyn Store) {
    // The embedded store accepts more writes than a test should make.
    const WRITES_TRIED_MAX: usize = 10_000;
    let limits = store.limits();
    if limits.batch_writes > WRITES_TRIED_MAX {
        return;
    }
    let of = |count: usize| {
        let keys = (0..count).map(|number| format!("/t/{number:05}/"));
        keys.fold(Batch::new(), |batch, key| batch.absent(&key).put(key, ""))
    };
    match store.apply(&of(limits.batch_writes + 1)) {
        Err(Error::BatchTooLarge {
            what, found, max, ..
        }) => {
            assert_eq!((what, found, max), ("writes", max + 1, limits.batch_writes));
        }
        other => panic!("expected a refusal, got {other:?}"),
    }
    let half = vec![b'x'; limits.value_bytes.min(limits.batch_bytes / 2)];
    let large = ["/t/a/", "/t/b/", "/t/c/"];
    let large = large.map(|key| (key, half.clone())).into_iter();
    let large = large.fold(Batch::new(), |batch, (key, value)| batch.put(key, value));
    match store.apply(&large) {
        Err(Error::BatchTooLarge { what, found, .. }) => {
            assert_eq!((what, found), ("bytes", large.bytes()));
        }
        other => panic!("expected a refusal, got {other:?}"),
    }
    assert_eq!(store.keys("/t/").unwrap().keys, [""; 0]);
    store.apply(&of(limits.batch_writes)).unwrap();
    let keys = store.keys("/t/").unwrap().keys;
    assert_eq!(keys.len(), limits.batch_writes);
    // A value that fills the batch to its last byte.
    let key = "/t/full/";
    let room = limits.batch_bytes - Batch::new().put(key, "").bytes();
    let value = vec![b'x'; room.min(limits.value_bytes)];
    let mut full = Batch::new().put(key, value);
    let left = limits.batch_bytes - full.bytes();
    if let Some(left) = left.checked_sub(Batch::new().put("/t/rest/", "").bytes()) {
        full = full.put("/t/rest/", vec![b'x'; left]);
    }
    store.apply(&full).unwrap();
}

fn revisions(store: &dyn Store) {
    let mut before = store.range("").unwrap().revision;
    for step in 0..3 {
        let key = format!("/t/{step}/");
        let applied = store.apply(&Batch::new().put(&key, "")).unwrap();
        assert!(before < applied);
        before = applied;
        assert_eq!(store.range("/t/").unwrap().revision, applied);
        assert_eq!(store.keys("/u/").unwrap().revision, applied);
        conflict_of(store.apply(&Batch::new().absent(&key).put(&key, "")));
        assert_eq!(
            store.keys("/t/").unwrap().revision,
            applied,
            "after a conflict"
        );
    }
}

fn revisions_of(store: &dyn Store, key: &str) -> Option<(Revision, Revision)> {
    let entry = store.entry(key).unwrap()?;
    let listed = store.range(key).unwrap().entries;
    assert_eq!(listed.first(), Some(&entry), "alone and in a range");
    let Entry {
        created, changed, ..
    } = entry;
    Some((created, changed))
}

fn kept_revisions(store: &dyn Store) {
    let put = |key: &str| store.apply(&Batch::new().put(key, "")).unwrap();
    let first = put("/t/a/");
    assert_eq!(revisions_of(store, "/t/a/"), Some((first, first)));
    let beside = put("/t/b/");
    let second = put("/t/a/");
    assert_eq!(revisions_of(store, "/t/a/"), Some((first, second)));
    assert_eq!(revisions_of(store, "/t/b/"), Some((beside, beside)));
    store.apply(&Batch::new().delete("/t/a/")).unwrap();
    assert_eq!(revisions_of(store, "/t/a/"), None);
    let third = put("/t/a/");
    assert_eq!(revisions_of(store, "/t/a/"), Some((third, third)));
    let together = Batch::new().put("/t/c/", "").delete_prefix("/t/a/");
    let together = store.apply(&together.put("/t/d/", "")).unwrap();
    for key in ["/t/c/", "/t/d/"] {
        assert_eq!(revisions_of(store, key), Some((together, together)));
    }
    let nothing = store.apply(&Batch::new().delete("/t/a/")).unwrap();
    assert_eq!(nothing, together, "nothing was changed");
}

fn unchanged(store: &dyn Store) {
    let put = Batch::new().put("/t/a/", "x");
    let first = store.apply(&put).unwrap();
    let replace = |since| Batch::new().unchanged("/t/a/", since).put("/t/a/", "x");
    let second = store.apply(&replace(first)).unwrap();
    assert_eq!(conflict_of(store.apply(&replace(first))), "/t/a/");
    store.apply(&Batch::new().delete("/t/a/")).unwrap();
    for gone in [second, Revision::default()] {
        assert_eq!(conflict_of(store.apply(&replace(gone))), "/t/a/");
    }
}
