use std::sync::Arc;

use super::*;
use crate::RedbStore;

const PREFIX: &str = "/kindsight/bundles/1/";

fn store() -> Arc<dyn Store> {
    Arc::new(RedbStore::in_memory().unwrap())
}

fn value(of: u8, bytes: usize) -> Vec<u8> {
    vec![of; bytes]
}

fn written(store: &dyn Store, value: &[u8]) -> Revision {
    write(store, PREFIX, value, Batch::new()).unwrap()
}

fn keys(store: &dyn Store) -> Vec<String> {
    let keys = store.keys("/kindsight/bundles/").unwrap().keys;
    keys.into_iter()
        .map(|key| key.replace(PREFIX, ""))
        .collect()
}

#[test]
fn a_value_is_read_completely_and_the_previous_one_is_removed() {
    let store = store();
    assert_eq!(read(&*store, PREFIX).unwrap(), None);
    for (of, bytes, expect) in [
        (
            1,
            2 * PART_BYTES_MAX + 1,
            vec![
                "current/",
                "parts/1/00000/",
                "parts/1/00001/",
                "parts/1/00002/",
            ],
        ),
        (2, 3, vec!["current/", "parts/2/00000/"]),
        (3, 0, vec!["current/"]),
        (4, PART_BYTES_MAX, vec!["current/", "parts/4/00000/"]),
    ] {
        written(&*store, &value(of, bytes));
        assert_eq!(read(&*store, PREFIX).unwrap(), Some(value(of, bytes)));
        assert_eq!(keys(&*store), expect);
    }
}

#[test]
fn no_value_is_larger_than_its_limit() {
    let store = store();
    let huge = value(1, PARTS_MAX * PART_BYTES_MAX + 1);
    match write(&*store, PREFIX, &huge, Batch::new()) {
        Err(Error::TooLarge { key, bytes, max }) => {
            assert_eq!(
                (key.as_str(), bytes, max),
                (PREFIX, huge.len(), huge.len() - 1)
            );
        }
        other => panic!("expected a refusal, got {other:?}"),
    }
    assert_eq!(keys(&*store), [""; 0]);
}

#[test]
fn conditions_and_writes_of_the_caller_are_made_with_it() {
    let store = store();
    let with_root = || {
        Batch::new()
            .present("/context/1/")
            .put("/context/1/bundle/", "in parts")
    };
    let refused = write(&*store, PREFIX, b"a", with_root());
    assert!(matches!(refused, Err(Error::Conflict { key }) if key == "/context/1/"));
    assert_eq!(read(&*store, PREFIX).unwrap(), None);
    store
        .apply(&Batch::new().put("/context/1/", "\"1\""))
        .unwrap();
    write(&*store, PREFIX, b"a", with_root()).unwrap();
    assert_eq!(read(&*store, PREFIX).unwrap(), Some(b"a".to_vec()));
    assert_eq!(
        store.get("/context/1/bundle/").unwrap(),
        Some(b"in parts".to_vec())
    );
}

#[test]
fn parts_of_a_writer_that_ended_early_are_not_read_and_are_removed() {
    let store = store();
    written(&*store, b"whole");
    for (number, part) in [(2, "left"), (7, "older")] {
        let key = format!("{PREFIX}parts/{number}/00000/");
        store.apply(&Batch::new().put(key, part)).unwrap();
    }
    assert_eq!(read(&*store, PREFIX).unwrap(), Some(b"whole".to_vec()));
    written(&*store, b"next");
    assert_eq!(read(&*store, PREFIX).unwrap(), Some(b"next".to_vec()));
    assert_eq!(
        keys(&*store),
        ["current/", "parts/2/00000/", "parts/7/00000/"]
    );
}

/// A store in which another writer runs immediately before keys with this suffix are written.
struct Overtaken {
    store: Arc<dyn Store>,
    before: &'static str,
    other: fn(&dyn Store),
}

impl Store for Overtaken {
    fn entry(&self, key: &str) -> Result<Option<Entry>> {
        self.store.entry(key)
    }

    fn range(&self, prefix: &str) -> Result<crate::Range> {
        self.store.range(prefix)
    }

    fn keys(&self, prefix: &str) -> Result<crate::Keys> {
        self.store.keys(prefix)
    }

    fn apply(&self, batch: &Batch) -> Result<Revision> {
        let mut writes = batch.writes().iter();
        if writes.any(|write| write.key().ends_with(self.before)) {
            (self.other)(&*self.store);
        }
        self.store.apply(batch)
    }

    fn watch(&self, prefix: &str, after: Revision) -> Result<crate::Watch> {
        self.store.watch(prefix, after)
    }

    fn lease(&self, name: &str) -> Result<crate::Leased> {
        self.store.lease(name)
    }

    fn limits(&self) -> crate::StoreLimits {
        self.store.limits()
    }

    fn connection(&self) -> tokio::sync::watch::Receiver<crate::Connection> {
        self.store.connection()
    }
}

#[test]
fn of_two_writers_one_is_refused_and_the_value_is_whole() {
    let store = store();
    written(&*store, b"before");
    let overtaken = Overtaken {
        store: Arc::clone(&store),
        before: CURRENT,
        other: |store| {
            written(store, b"other");
        },
    };
    let refused = write(&overtaken, PREFIX, b"mine", Batch::new());
    assert!(
        matches!(refused, Err(Error::Conflict { .. })),
        "{refused:?}"
    );
    let stored = read(&*store, PREFIX).unwrap();
    assert_eq!(stored.as_deref(), Some(&b"other"[..]));
    written(&*store, b"again");
    let stored = read(&*store, PREFIX).unwrap();
    assert_eq!(stored.as_deref(), Some(&b"again"[..]));
}

#[test]
fn a_writer_that_was_overtaken_keeps_the_parts_of_the_other() {
    // Once directly after the pointer is read, and once where parts must be deleted first.
    for before in ["parts/2/00000/", "parts/2/"] {
        let store = store();
        written(&*store, b"before");
        let key = format!("{PREFIX}parts/2/00001/");
        store.apply(&Batch::new().put(key, "left")).unwrap();
        let overtaken = Overtaken {
            store: Arc::clone(&store),
            before,
            other: |store| {
                written(store, b"other");
            },
        };
        let refused = write(&overtaken, PREFIX, b"mine!", Batch::new());
        assert!(
            matches!(&refused, Err(Error::Conflict { key }) if key.ends_with(CURRENT)),
            "{refused:?}"
        );
        let stored = read(&*store, PREFIX).unwrap();
        assert_eq!(stored.as_deref(), Some(&b"other"[..]));
    }
}

#[test]
fn parts_that_a_slower_writer_left_beside_the_value_are_not_of_it() {
    let store = store();
    let overtaken = Overtaken {
        store: Arc::clone(&store),
        before: CURRENT,
        other: |store| {
            let key = format!("{PREFIX}parts/1/00001/");
            store
                .apply(&Batch::new().put(key, "of a longer one"))
                .unwrap();
        },
    };
    written(&overtaken, b"mine");
    let stored = read(&*store, PREFIX).unwrap();
    assert_eq!(stored.as_deref(), Some(&b"mine"[..]));
    written(&*store, b"next");
    assert_eq!(keys(&*store), ["current/", "parts/2/00000/"]);
}

#[test]
fn a_value_with_missing_parts_is_said() {
    let store = store();
    written(&*store, &value(1, PART_BYTES_MAX + 1));
    store
        .apply(&Batch::new().delete(format!("{PREFIX}parts/1/00001/")))
        .unwrap();
    let expect = "`/kindsight/bundles/1/current/` cannot be read: 1 parts with 1048576 bytes were found, expected 2 parts with 1048577 bytes";
    assert_eq!(read(&*store, PREFIX).unwrap_err().to_string(), expect);
    store
        .apply(&Batch::new().put(format!("{PREFIX}current/"), "{"))
        .unwrap();
    assert!(matches!(
        read(&*store, PREFIX),
        Err(Error::Unreadable { .. })
    ));
}
