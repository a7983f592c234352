//! Clauses about watches.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use super::{Clause, conflict_of};
use crate::{
    Batch, CHANGES_KEPT_MAX, Change, ChangeKind, Changes, Entry, Error, Result, Revision, Store,
    Watch,
};

/// The longest time within which a change must reach a watch on a busy machine.
const CHANGE_WAIT_MAX: Duration = Duration::from_mins(1);

pub(super) const CLAUSES: &[Clause] = &[
    ("a watch begins after its revision", beginning),
    ("a watch wakes up when something changes", waking),
    ("a watch reports only its prefix", prefixes),
    (
        "a watch reports a delete only for keys that existed",
        deletes,
    ),
    ("all changes of a batch are reported together", together),
    ("a rejected batch changes nothing", refusals),
    ("two watches read independently", independence),
    ("dropping a future loses no change", dropped_futures),
    ("a revision that is too old is rejected", too_old),
    ("a watch that lags too far is compacted", lagging),
    ("changes are reported in the order of the commits", order),
    (
        "nothing is lost between a range and its watch",
        between_range_and_watch,
    ),
];

/// Blocks until `future` is done.
pub(crate) fn wait<F: Future>(future: F) -> F::Output {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().build().unwrap();
    let limited = async { tokio::time::timeout(CHANGE_WAIT_MAX, future).await };
    runtime.block_on(limited).expect("a change in time")
}

fn next(watch: &mut Watch) -> Changes {
    wait(watch.next()).unwrap()
}

/// Polls a watch once and drops the future.
pub(crate) fn nothing_yet(watch: &mut Watch) {
    wait(async {
        tokio::select! {
            biased;
            changes = watch.next() => panic!("{changes:?}"),
            () = std::future::ready(()) => {}
        }
    });
}

fn now(store: &dyn Store) -> Revision {
    store.keys("").unwrap().revision
}

fn watch_now(store: &dyn Store, prefix: &str) -> Watch {
    store.watch(prefix, now(store)).unwrap()
}

fn put(store: &dyn Store, key: &str) -> Revision {
    store.apply(&Batch::new().put(key, "")).unwrap()
}

/// The changes of a batch, in the order of their keys. A key without a value was deleted.
fn changes<const N: usize>(revision: Revision, changes: [(&str, Option<&str>); N]) -> Changes {
    let change = |(key, value): (&str, Option<&str>)| Change {
        key: key.to_owned(),
        kind: value.map_or(ChangeKind::Delete, |_| ChangeKind::Put),
        value: value.map(|value| value.as_bytes().into()),
    };
    Changes {
        revision,
        changes: changes.map(change).into(),
    }
}

fn sorted(mut changes: Changes) -> Changes {
    changes.changes.sort_by(|a, b| a.key.cmp(&b.key));
    changes
}

/// The revision that a [`Error::Compacted`](crate::Error::Compacted) answer reports as the oldest
/// for a new watch.
pub(crate) fn compacted_to(outcome: Result<impl Debug>) -> Revision {
    match outcome {
        Err(Error::Compacted { oldest }) => oldest,
        other => panic!("expected Compacted, got {other:?}"),
    }
}

/// Changes more keys than a store keeps, in as few batches as possible, and waits until watches
/// have passed them. Returns the revision of the last batch.
fn flood(store: &dyn Store) -> Revision {
    let keys: Vec<String> = (0..=CHANGES_KEPT_MAX)
        .map(|number| format!("/flood/{number}/"))
        .collect();
    let mut last = now(store);
    for keys in keys.chunks(store.limits().batch_writes) {
        let batch = keys
            .iter()
            .fold(Batch::new(), |batch, key| batch.put(key, ""));
        last = store.apply(&batch).unwrap();
    }
    let mut watch = store.watch("/ebb/", last).unwrap();
    put(store, "/ebb/");
    next(&mut watch);
    last
}

fn beginning(store: &dyn Store) {
    put(store, "/t/1/");
    let between = put(store, "/t/2/");
    let third = put(store, "/t/3/");
    let mut watch = store.watch("/t/", between).unwrap();
    let fourth = put(store, "/t/4/");
    let empty = Some("");
    assert_eq!(next(&mut watch), changes(third, [("/t/3/", empty)]));
    assert_eq!(next(&mut watch), changes(fourth, [("/t/4/", empty)]));
}

fn waking(store: &dyn Store) {
    let mut watch = watch_now(store, "/t/");
    let ready = Barrier::new(2);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            ready.wait();
            next(&mut watch)
        });
        ready.wait();
        let revision = put(store, "/t/a/");
        let expect = changes(revision, [("/t/a/", Some(""))]);
        assert_eq!(reader.join().unwrap(), expect);
    });
}

fn prefixes(store: &dyn Store) {
    let mut watch = watch_now(store, "/t/1/");
    for other in ["/t/1", "/t/12/", "/t/", "/s/t/1/"] {
        put(store, other);
    }
    let batch = Batch::new().put("/t/2/", "").put("/t/1/a/", "");
    let revision = store.apply(&batch).unwrap();
    let expect = changes(revision, [("/t/1/a/", Some(""))]);
    assert_eq!(next(&mut watch), expect);
}

fn deletes(store: &dyn Store) {
    for key in ["/t/1/", "/t/1/a/", "/t/12/", "/t/2/"] {
        put(store, key);
    }
    let mut watch = watch_now(store, "/t/");
    let absent = Batch::new().delete("/t/3/").delete_prefix("/t/4/");
    store.apply(&absent).unwrap();
    let batch = absent
        .delete_prefix("/t/1/")
        .delete("/t/1/a/")
        .delete("/t/2/");
    let revision = store.apply(&batch).unwrap();
    let gone = ["/t/1/", "/t/1/a/", "/t/2/"].map(|key| (key, None));
    assert_eq!(sorted(next(&mut watch)), changes(revision, gone));
}

fn together(store: &dyn Store) {
    put(store, "/t/old/");
    let mut watch = watch_now(store, "/t/");
    let batch = Batch::new()
        .put("/t/a/", "1")
        .put("/t/b/", "2")
        .delete("/t/old/");
    let first = store.apply(&batch).unwrap();
    let second = put(store, "/t/a/");
    let expect = [
        ("/t/a/", Some("1")),
        ("/t/b/", Some("2")),
        ("/t/old/", None),
    ];
    assert_eq!(sorted(next(&mut watch)), changes(first, expect));
    let expect = changes(second, [("/t/a/", Some(""))]);
    assert_eq!(next(&mut watch), expect);
}

fn refusals(store: &dyn Store) {
    let mut watch = watch_now(store, "/t/");
    let conflict = Batch::new().present("/t/x/").put("/t/a/", "");
    conflict_of(store.apply(&conflict));
    let duplicate = Batch::new().put("/t/a/", "").put("/t/a/", "");
    store.apply(&duplicate).unwrap_err();
    let revision = put(store, "/t/b/");
    let expect = changes(revision, [("/t/b/", Some(""))]);
    assert_eq!(next(&mut watch), expect);
}

fn independence(store: &dyn Store) {
    let mut first = watch_now(store, "/t/");
    let mut second = watch_now(store, "/t/");
    let revisions = ["/t/a/", "/t/b/", "/t/c/"].map(|key| put(store, key));
    assert_eq!(revisions.map(|_| next(&mut first).revision), revisions);
    assert_eq!(next(&mut second).revision, revisions[0]);
    drop(first);
    assert_eq!(next(&mut second).revision, revisions[1]);
    let mut third = store.watch("/t/", revisions[1]).unwrap();
    assert_eq!(next(&mut third), next(&mut second));
}

fn dropped_futures(store: &dyn Store) {
    let mut watch = watch_now(store, "/t/");
    for key in ["/t/a/", "/t/b/"] {
        nothing_yet(&mut watch);
        let revision = put(store, key);
        let expect = changes(revision, [(key, Some(""))]);
        assert_eq!(next(&mut watch), expect);
    }
}

fn too_old(store: &dyn Store) {
    let before = put(store, "/t/a/");
    let flooded = flood(store);
    compacted_to(store.watch("/t/", before));
    let range = store.range("/t/").unwrap();
    assert!(range.revision >= flooded);
    let mut watch = store.watch("/t/", range.revision).unwrap();
    let revision = put(store, "/t/b/");
    assert_eq!(next(&mut watch).revision, revision);
}

fn lagging(store: &dyn Store) {
    let mut watch = watch_now(store, "/t/");
    put(store, "/t/a/");
    flood(store);
    compacted_to(wait(watch.next()));
    compacted_to(wait(watch.next()));
}

/// One thread puts a key if it is absent, and another deletes it if it is present, so puts and
/// deletes must alternate.
fn order(store: &dyn Store) {
    const TURNS: usize = 100;
    let mut watch = watch_now(store, "/t/");
    let take_turns = |batch: Batch| {
        for _ in 0..TURNS {
            while let Err(Error::Conflict { .. }) = store.apply(&batch) {
                thread::yield_now();
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| take_turns(Batch::new().absent("/t/a/").put("/t/a/", "")));
        scope.spawn(|| take_turns(Batch::new().present("/t/a/").delete("/t/a/")));
        for _ in 0..TURNS {
            for expect in [ChangeKind::Put, ChangeKind::Delete] {
                assert_eq!(next(&mut watch).changes[0].kind, expect);
            }
        }
    });
}

/// Readers that begin while others write end with exactly the store's content, although they take
/// each later value from a watch. Every key is written once, so no later change can hide a lost
/// one.
fn between_range_and_watch(store: &dyn Store) {
    const WRITERS: usize = 3;
    const STEPS: usize = 40;
    const READERS: usize = 6;
    let write = |writer: usize| {
        for step in 0..STEPS {
            let key = format!("/t/{writer}/{step:02}/");
            let mut batch = Batch::new().put(&key, key.as_bytes());
            if let Some(old) = step.checked_sub(3).filter(|old| old % 2 == 0) {
                batch = batch.delete(format!("/t/{writer}/{old:02}/"));
            }
            store.apply(&batch).unwrap();
        }
        put(store, &format!("/t/{writer}/end/"));
    };
    let start = Barrier::new(WRITERS + 1);
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (write, start) = (&write, &start);
            scope.spawn(move || {
                start.wait();
                write(writer);
            });
        }
        start.wait();
        let readers = [(); READERS].map(|()| scope.spawn(|| follow(store, WRITERS)));
        let followed = readers.map(|reader| reader.join().unwrap());
        let stored = by_key(store.range("/t/").unwrap().entries);
        for read in followed {
            assert_eq!(read, stored);
        }
    });
}

fn by_key(entries: Vec<Entry>) -> BTreeMap<String, Vec<u8>> {
    entries
        .into_iter()
        .map(|entry| (entry.key, entry.value))
        .collect()
}

/// Reads everything and then applies each change, until all writers have ended.
fn follow(store: &dyn Store, writers: usize) -> BTreeMap<String, Vec<u8>> {
    let range = store.range("/t/").unwrap();
    let mut watch = store.watch("/t/", range.revision).unwrap();
    let mut position = range.revision;
    let mut read = by_key(range.entries);
    let is_end = |key: &String| key.ends_with("/end/");
    let mut ended: BTreeSet<String> = read.keys().filter(|key| is_end(key)).cloned().collect();
    while ended.len() < writers {
        let Changes { revision, changes } = next(&mut watch);
        assert!(position < revision, "{position} {revision}");
        position = revision;
        for Change { key, value, .. } in changes {
            ended.extend(is_end(&key).then(|| key.clone()));
            match value {
                Some(value) => read.insert(key, value.to_vec()),
                None => read.remove(&key),
            };
        }
    }
    read
}
