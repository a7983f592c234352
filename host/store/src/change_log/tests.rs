use super::*;
use crate::store::contract::{compacted_to, nothing_yet, wait};
use crate::{ChangeKind, Watch};

fn puts(prefix: &str, count: usize) -> Vec<Change> {
    let keys = (0..count).map(|number| format!("{prefix}{number}/"));
    keys.map(|key| Change {
        key,
        kind: ChangeKind::Put,
        value: None,
    })
    .collect()
}

fn put(key: &str, bytes: usize) -> Change {
    Change {
        key: key.to_owned(),
        kind: ChangeKind::Put,
        value: Some(vec![0; bytes].into()),
    }
}

fn append(log: &ChangeLog, changes: Vec<Change>) -> Revision {
    let revision = log.latest().next();
    log.append(revision, changes);
    revision
}

#[test]
fn the_oldest_batches_go_when_the_log_is_full() {
    let log = ChangeLog::new(Revision::default());
    let begin = log.latest();
    let first = append(&log, puts("/a/", 1));
    let second = append(&log, puts("/b/", CHANGES_KEPT_MAX - 1));
    assert_eq!(
        wait(Watch::new(&log, "", begin).unwrap().next())
            .unwrap()
            .revision,
        first
    );
    append(&log, puts("/c/", 1));
    assert_eq!(compacted_to(Watch::new(&log, "", begin)), first);
    let mut watch = Watch::new(&log, "/c/", first).unwrap();
    assert_eq!(wait(watch.next()).unwrap().changes, puts("/c/", 1));
    assert_eq!(
        wait(Watch::new(&log, "", first).unwrap().next())
            .unwrap()
            .revision,
        second
    );
    assert_eq!(log.recent.borrow().changes, CHANGES_KEPT_MAX);
}

#[test]
fn the_log_of_an_unwatched_store_keeps_nothing() {
    let log = ChangeLog::unwatched(Revision::default());
    let begin = log.latest();
    let mut watch = Watch::new(&log, "", begin).unwrap();
    let last = append(&log, vec![put("/a/", 100)]);
    assert_eq!(compacted_to(wait(watch.next())), last);
    assert_eq!(log.latest(), last);
    let recent = log.recent.borrow();
    assert!(recent.batches.is_empty());
    assert_eq!((recent.changes, recent.value_bytes), (0, 0));
}

#[test]
fn the_oldest_values_are_dropped_when_they_take_too_many_bytes() {
    let log = ChangeLog::new(Revision::default());
    let begin = log.latest();
    let half = VALUES_KEPT_BYTES_MAX / 2;
    append(&log, vec![put("/a/", half), put("/b/", 1)]);
    append(&log, vec![put("/c/", half - 1)]);
    let kept = |log: &ChangeLog| {
        let mut watch = Watch::new(log, "", begin).unwrap();
        let batches = std::iter::from_fn(|| watch.try_next().unwrap());
        let changes = batches.flat_map(|batch| batch.changes);
        let has_value = changes.map(|change| change.value.is_some());
        has_value.collect::<Vec<_>>()
    };
    assert_eq!(kept(&log), [true; 3]);
    append(&log, vec![put("/d/", 1)]);
    assert_eq!(kept(&log), [false, false, true, true]);
    append(&log, vec![put("/e/", VALUES_KEPT_BYTES_MAX + 1)]);
    assert_eq!(kept(&log), [false; 5]);
    append(&log, puts("/f/", CHANGES_KEPT_MAX));
    append(&log, vec![put("/g/", 1)]);
    assert_eq!(log.recent.borrow().value_bytes, 1);
}

#[test]
fn a_watch_does_not_fall_behind_because_of_skipped_changes() {
    let log = ChangeLog::new(Revision::default());
    let mut watch = Watch::new(&log, "/a/", log.latest()).unwrap();
    for _ in 0..3 {
        append(&log, puts("/b/", CHANGES_KEPT_MAX / 2));
        nothing_yet(&mut watch);
    }
    let revision = append(&log, puts("/a/", 1));
    assert_eq!(wait(watch.next()).unwrap().revision, revision);
}

#[test]
fn a_batch_over_the_limit_leaves_an_empty_log() {
    let log = ChangeLog::new(Revision::default());
    let before = append(&log, puts("/a/", 1));
    let large = append(&log, puts("/b/", CHANGES_KEPT_MAX + 1));
    assert_eq!(compacted_to(Watch::new(&log, "/a/", before)), large);
    assert!(log.recent.borrow().batches.is_empty());
    let mut watch = Watch::new(&log, "", large).unwrap();
    append(&log, puts("/c/", 1));
    assert_eq!(wait(watch.next()).unwrap().changes, puts("/c/", 1));
}

#[test]
fn a_watch_that_is_compacted_stays_compacted_until_it_is_dropped() {
    let log = ChangeLog::new(Revision::default());
    let mut watch = Watch::new(&log, "/a/", log.latest()).unwrap();
    log.forget();
    assert_eq!(compacted_to(wait(watch.next())), log.latest());
    append(&log, puts("/a/", 1));
    compacted_to(wait(watch.next()));
}

#[test]
fn a_revision_that_was_never_reached_is_refused() {
    let (log, other) = (
        ChangeLog::new(Revision::default()),
        ChangeLog::new(Revision::default()),
    );
    let later = append(&other, puts("/a/", 1));
    assert_eq!(compacted_to(Watch::new(&log, "", later)), log.latest());
}

#[test]
fn a_dropped_watch_leaves_nothing_behind() {
    let log = ChangeLog::new(Revision::default());
    let watches = [(); 3].map(|()| Watch::new(&log, "", log.latest()).unwrap());
    assert_eq!(log.recent.receiver_count(), 3);
    drop(watches);
    assert_eq!(log.recent.receiver_count(), 0);
}

#[test]
fn a_watch_reads_to_the_end_and_then_reports_the_closed_store() {
    let log = ChangeLog::new(Revision::default());
    let mut watch = Watch::new(&log, "", log.latest()).unwrap();
    append(&log, puts("/a/", 1));
    drop(log);
    assert_eq!(wait(watch.next()).unwrap().changes, puts("/a/", 1));
    assert!(matches!(wait(watch.next()), Err(Error::Closed)));
}
