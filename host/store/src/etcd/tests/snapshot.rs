//! Readers of one revision, while other programs write.

use super::*;
use crate::{RedbStore, StoreAddress, copy, open_existing};

/// An etcd with keys below two prefixes, and a snapshot of it.
fn with_snapshot() -> Option<(Etcd, Arc<dyn Store>)> {
    let etcd = started()?;
    write(&etcd, "before");
    let address = StoreAddress::Etcd(vec![endpoint(etcd.url())]);
    let snapshot = open_existing(&address, &EtcdOptions::default()).unwrap();
    Some((etcd, snapshot))
}

/// Writes the keys as another program.
fn write(etcd: &Etcd, value: &str) {
    let keys = etcd.keys();
    keys.put("/s/a/", value);
    keys.put("/t/a/", value);
}

#[test]
fn a_copy_has_one_revision_although_another_program_writes() {
    let Some((etcd, snapshot)) = with_snapshot() else {
        return;
    };
    let target = RedbStore::in_memory().unwrap();
    for prefix in ["/s/", "/t/"] {
        let written = |_: usize, _: usize| {
            write(&etcd, "during");
            etcd.keys().put("/t/b/", "during");
        };
        copy(&*snapshot, &target, prefix, false, written).unwrap();
    }
    assert_eq!(value(&target, "/s/a/").as_deref(), Some("before"));
    assert_eq!(value(&target, "/t/a/").as_deref(), Some("before"));
    assert_eq!(target.keys("/t/").unwrap().keys, ["/t/a/"]);
    let changed = put(&*snapshot, "/t/a/", "mine");
    assert!(matches!(changed, Err(Error::ReadOnly)), "{changed:?}");
}

#[test]
fn a_reader_of_a_revision_that_was_compacted_gets_an_error() {
    let Some((etcd, snapshot)) = with_snapshot() else {
        return;
    };
    let at = snapshot.keys("/t/").unwrap().revision;
    write(&etcd, "after");
    etcd.keys().compact();
    for read in [
        snapshot.range("/t/").map(drop),
        snapshot.keys("/t/").map(drop),
        snapshot.entry("/t/a/").map(drop),
    ] {
        match read {
            Err(Error::RevisionCompacted { revision }) => assert_eq!(revision, at),
            other => panic!("expected RevisionCompacted, got {other:?}"),
        }
    }
}
