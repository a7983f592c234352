use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use redb::TableDefinition;
use tempfile::TempDir;

use super::*;
use crate::store::contract;

mod creation;

fn folder() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("store.redb");
    (folder, path)
}

fn put(store: &dyn Store, key: &str, value: &str) -> Result<Revision> {
    store.apply(&Batch::new().put(key, value))
}

fn refusal(path: &Path) -> Error {
    match RedbStore::open(path) {
        Ok(_) => panic!("{} was opened", path.display()),
        Err(error) => error,
    }
}

#[test]
fn memory_keeps_the_contract() {
    contract::check(|| Arc::new(RedbStore::in_memory().unwrap()));
}

#[test]
fn a_file_keeps_the_contract() {
    let folder = TempDir::new().unwrap();
    let count = std::cell::Cell::new(0);
    contract::check(|| {
        count.set(count.get() + 1);
        let path = folder.path().join(count.get().to_string());
        Arc::new(RedbStore::open(&path).unwrap())
    });
}

#[test]
fn an_unwatched_file_keeps_its_values_but_no_changes() {
    let (_folder, path) = folder();
    let store = RedbStore::open_unwatched(&path).unwrap();
    let begin = store.range("").unwrap().revision;
    let first = put(&store, "/a/", "1").unwrap();
    assert!(begin < first);
    assert_eq!(
        contract::compacted_to(store.watch("", begin)),
        store.range("").unwrap().revision
    );
    drop(store);
    let again = RedbStore::open_unwatched(&path).unwrap();
    assert_eq!(again.get("/a/").unwrap().as_deref(), Some(&b"1"[..]));
    assert_eq!(again.range("").unwrap().revision, first);
}

#[test]
fn a_new_store_carries_its_version() {
    let store = RedbStore::in_memory().unwrap();
    let entries = store.range("").unwrap().entries;
    let first = Revision::new(1);
    let mark = Entry {
        key: "/kindsight/format/".to_owned(),
        value: br#"{"version":2}"#.to_vec(),
        created: first,
        changed: first,
    };
    assert_eq!(entries, [mark]);
}

#[test]
fn acknowledged_writes_survive_closing() {
    let (_folder, path) = folder();
    let store = RedbStore::open(&path).unwrap();
    for step in 0..20 {
        put(&store, &format!("/t/{step:02}/"), "x").unwrap();
    }
    let before = store.range("").unwrap().entries;
    drop(store);
    let again = RedbStore::open(&path).unwrap();
    assert_eq!(again.range("").unwrap().entries, before);
}

#[test]
fn acknowledged_writes_survive_a_crash() {
    let (folder, path) = folder();
    let store = RedbStore::open(&path).unwrap();
    put(&store, "/t/a/", "x").unwrap();
    // A copy of the open file is what a killed process leaves behind.
    let left_behind = folder.path().join("copy.redb");
    std::fs::copy(&path, &left_behind).unwrap();
    let again = RedbStore::open(&left_behind).unwrap();
    assert_eq!(
        again.range("").unwrap().entries,
        store.range("").unwrap().entries
    );
}

#[test]
fn revisions_go_on_where_they_were() {
    let (_folder, path) = folder();
    let store = RedbStore::open(&path).unwrap();
    put(&store, "/t/a/", "x").unwrap();
    let before = put(&store, "/t/b/", "x").unwrap();
    let entries = store.range("").unwrap().entries;
    drop(store);
    let again = RedbStore::open(&path).unwrap();
    let range = again.range("").unwrap();
    assert_eq!((range.entries, range.revision), (entries, before));
    let after = put(&again, "/t/a/", "y").unwrap();
    assert_eq!(after, before.next());
    let entry = again.entry("/t/a/").unwrap().unwrap();
    assert!(entry.created < before && entry.changed == after);
    contract::compacted_to(again.watch("/t/", entry.created));
    let mut watch = again.watch("/t/", before).unwrap();
    assert_eq!(contract::wait(watch.next()).unwrap().revision, after);
}

#[test]
fn a_store_of_the_release_before_is_taken_over() {
    let (_folder, path) = folder();
    let database = Database::create(&path).unwrap();
    let transaction = database.begin_write().unwrap();
    let mut values = transaction.open_table(tables::VALUES).unwrap();
    for (key, value) in [
        ("/kindsight/format/", r#"{"version":1}"#),
        ("/t/a/", "x"),
        ("/t/b/", "x"),
    ] {
        values.insert(key, value.as_bytes()).unwrap();
    }
    drop(values);
    transaction.commit().unwrap();
    drop(database);
    let store = RedbStore::open(&path).unwrap();
    let revisions = |key: &str| {
        let entry = store.entry(key).unwrap().unwrap();
        (entry.created.number(), entry.changed.number())
    };
    assert_eq!(revisions("/t/a/"), (0, 0));
    let unchanged = Batch::new().unchanged("/t/a/", Revision::default());
    let changed = store.apply(&unchanged.put("/t/a/", "y")).unwrap();
    assert_eq!(revisions("/t/a/"), (0, changed.number()));
    assert_eq!(revisions("/t/b/"), (0, 0));
    let mark = store.get("/kindsight/format/").unwrap().unwrap();
    assert_eq!(mark, br#"{"version":2}"#);
}

#[test]
fn a_store_in_one_process_is_always_connected() {
    let store = RedbStore::in_memory().unwrap();
    assert_eq!(*store.connection().borrow(), Connection::Connected);
}

#[test]
fn a_file_in_use_is_refused() {
    let (_folder, path) = folder();
    let store = RedbStore::open(&path).unwrap();
    let error = refusal(&path);
    assert!(matches!(&error, Error::Locked { path: locked } if *locked == path));
    assert!(
        error
            .to_string()
            .ends_with("store.redb is in use by another process")
    );
    put(&store, "/t/a/", "x").unwrap();
}

#[test]
fn a_file_is_opened_as_soon_as_its_lock_is_released() {
    let (_folder, path) = folder();
    let first = RedbStore::open(&path).unwrap();
    put(&first, "/t/a/", "x").unwrap();
    let second = thread::spawn(move || RedbStore::open(&path));
    // Long enough for the first attempt of the thread.
    thread::sleep(Duration::from_millis(100));
    drop(first);
    assert!(second.join().unwrap().is_ok());
}

#[test]
fn a_file_of_another_kind_is_rejected_and_not_changed() {
    let (_folder, path) = folder();
    let text = b"not a database, but somebody's notes";
    std::fs::write(&path, text).unwrap();
    assert!(matches!(refusal(&path), Error::ForeignStore { .. }));
    assert_eq!(std::fs::read(&path).unwrap(), text);
}

#[test]
fn a_database_of_another_program_is_refused() {
    const THEIRS: TableDefinition<'_, u64, u64> = TableDefinition::new("theirs");
    const SAME_NAME: TableDefinition<'_, u64, u64> = TableDefinition::new("kindsight");
    for table in [THEIRS, SAME_NAME] {
        let (_folder, path) = folder();
        let database = Database::create(&path).unwrap();
        let transaction = database.begin_write().unwrap();
        transaction.open_table(table).unwrap().insert(1, 2).unwrap();
        transaction.commit().unwrap();
        drop(database);
        assert!(matches!(refusal(&path), Error::ForeignStore { .. }));
    }
}

#[test]
fn a_damaged_file_is_refused() {
    let (_folder, path) = folder();
    let store = RedbStore::open(&path).unwrap();
    put(&store, "/t/a/", &"acknowledged ".repeat(10_000)).unwrap();
    drop(store);
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes
        .windows(13)
        .rposition(|window| window == b"acknowledged ");
    bytes[at.unwrap()] ^= 1;
    for damaged in [&bytes[..], &bytes[..bytes.len() / 2], &bytes[..100]] {
        File::create(&path).unwrap().write_all(damaged).unwrap();
        assert!(matches!(refusal(&path), Error::ForeignStore { .. }));
    }
}

#[test]
fn a_store_of_a_newer_release_is_refused() {
    let (_folder, path) = folder();
    let store = RedbStore::open(&path).unwrap();
    put(&store, "/kindsight/format/", r#"{"version":3,"more":true}"#).unwrap();
    drop(store);
    let expect = "`/kindsight/format/` has version 3, this release supports versions up to 2: use the release that wrote it, or restore a backup that an earlier release made";
    assert_eq!(refusal(&path).to_string(), expect);
}

#[test]
fn a_store_that_is_opened_for_reading_is_not_created_or_upgraded() {
    let (_folder, path) = folder();
    let missing = RedbStore::open_existing(&path).map(drop).unwrap_err();
    assert!(matches!(missing, Error::Open { path: named, .. } if named == path));
    assert!(!path.exists());
    let store = RedbStore::open(&path).unwrap();
    let old = r#"{"version":1}"#;
    put(&store, "/kindsight/format/", old).unwrap();
    drop(store);
    let store = RedbStore::open_existing(&path).unwrap();
    let mark = store.get("/kindsight/format/").unwrap();
    assert_eq!(mark.as_deref(), Some(old.as_bytes()));
    let written = store.apply(&Batch::new().put("/t/a/", "x"));
    assert!(matches!(written, Err(Error::ReadOnly)));
}

#[test]
fn an_empty_file_is_not_opened_for_reading_and_stays_empty() {
    let (_folder, path) = folder();
    File::create(&path).unwrap();
    let error = RedbStore::open_existing(&path).map(drop).unwrap_err();
    let expected = format!(
        "{} is not a kindsight store: the file is empty",
        path.display()
    );
    assert_eq!(error.to_string(), expected);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
}

#[test]
fn a_store_with_a_damaged_mark_is_refused() {
    let (_folder, path) = folder();
    let store = RedbStore::open(&path).unwrap();
    put(&store, "/kindsight/format/", "1").unwrap();
    drop(store);
    assert!(matches!(refusal(&path), Error::Unreadable { .. }));
}

#[test]
fn a_folder_that_is_missing_is_named() {
    let (_folder, path) = folder();
    let path = path.join("missing/store.redb");
    assert!(matches!(refusal(&path), Error::Open { path: named, .. } if named == path));
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path) = folder();
    let _store = RedbStore::open(&path).unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// A disk that fails for a while. Clones share the same disk.
#[derive(Debug, Clone, Default)]
struct Disk {
    content: Arc<InMemoryBackend>,
    /// The disk accepts no more data.
    is_full: Arc<AtomicBool>,
    /// The disk does not let the file grow.
    cannot_grow: Arc<AtomicBool>,
    /// The disk writes data but reports that it did not.
    cannot_sync: Arc<AtomicBool>,
}

impl Disk {
    fn store(&self) -> RedbStore {
        let disk = self.clone();
        let open = move || build(disk.clone()).map_err(|error| failed(error.into()));
        RedbStore::open_with(open).unwrap()
    }
}

fn fail_if(fault: &AtomicBool) -> io::Result<()> {
    if fault.load(Ordering::SeqCst) {
        return Err(ErrorKind::StorageFull.into());
    }
    Ok(())
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        self.content.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.content.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        fail_if(&self.is_full)?;
        fail_if(&self.cannot_grow)?;
        self.content.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        fail_if(&self.is_full)?;
        self.content.sync_data()?;
        fail_if(&self.cannot_sync)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        fail_if(&self.is_full)?;
        self.content.write(offset, data)
    }
}

#[test]
fn a_full_disk_fails_only_the_writes_during_that_time() {
    let disk = Disk::default();
    let store = disk.store();
    put(&store, "/t/a/", "before").unwrap();
    disk.is_full.store(true, Ordering::SeqCst);
    assert!(matches!(
        put(&store, "/t/b/", "during"),
        Err(Error::Full(_))
    ));
    assert!(put(&store, "/t/b/", "during").is_err());
    disk.is_full.store(false, Ordering::SeqCst);
    put(&store, "/t/c/", "after").unwrap();
    assert_eq!(store.keys("/t/").unwrap().keys, ["/t/a/", "/t/c/"]);
}

#[test]
fn a_change_that_a_fault_left_in_doubt_is_read_again() {
    let disk = Disk::default();
    let store = disk.store();
    let before = put(&store, "/t/a/", "before").unwrap();
    let mut watch = store.watch("/t/", before).unwrap();
    disk.cannot_sync.store(true, Ordering::SeqCst);
    put(&store, "/t/b/", "during").unwrap_err();
    contract::compacted_to(contract::wait(watch.next()));
    contract::compacted_to(store.watch("/t/", before));
    // The disk failed, but redb may answer from memory until the file is opened again.
    let during = store.keys("/t/").map(|keys| keys.revision);
    disk.cannot_sync.store(false, Ordering::SeqCst);
    let after = put(&store, "/t/c/", "after").unwrap();
    let range = store.range("/t/").unwrap();
    assert_eq!(range.entries.len(), 3, "the uncertain batch was on disk");
    assert_eq!(range.revision, after);
    if let Ok(during) = during {
        contract::compacted_to(store.watch("/t/", during));
    }
    let mut watch = store.watch("/t/", after).unwrap();
    let last = put(&store, "/t/d/", "").unwrap();
    assert_eq!(contract::wait(watch.next()).unwrap().revision, last);
}

#[test]
fn a_batch_that_fails_before_its_commit_does_not_affect_watches() {
    let disk = Disk::default();
    let store = disk.store();
    let before = put(&store, "/t/a/", "before").unwrap();
    let mut watch = store.watch("/t/", before).unwrap();
    disk.cannot_grow.store(true, Ordering::SeqCst);
    let large = "x".repeat(8 * 1024 * 1024);
    put(&store, "/t/b/", &large).unwrap_err();
    disk.cannot_grow.store(false, Ordering::SeqCst);
    let after = put(&store, "/t/c/", "after").unwrap();
    assert_eq!(contract::wait(watch.next()).unwrap().revision, after);
    assert_eq!(store.keys("/t/").unwrap().keys, ["/t/a/", "/t/c/"]);
}
