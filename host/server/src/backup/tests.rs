use std::os::unix::fs::PermissionsExt as _;

use kindsight_store::{Batch, FORMAT_VERSION, Revision, chain};
use tempfile::TempDir;

use super::*;

/// A folder with a store, a last-known state, and a file of compiled code.
fn server_folder(folder: &Path) {
    let store = RedbStore::open(&folder.join(STORE)).unwrap();
    for (key, value) in [
        ("/context/7/", "7"),
        ("/kindsight/interpreters/book/", "{}"),
        ("/context/7/app/a/", "manifest"),
        ("/context/5/", "5"),
    ] {
        store.apply(&Batch::new().put(key, value)).unwrap();
    }
    let last_known = RedbStore::open(&folder.join(REMEMBERED)).unwrap();
    let batch = Batch::new()
        .put("/kindsight/remembered/version/", r#"{"version":1}"#)
        .put("/kindsight/remembered/clusters/p+a/", "{}");
    last_known.apply(&batch).unwrap();
    fs_write(&folder.join("aot"), b"machine code");
}

fn fs_write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
}

/// A folder for servers and backups, and the backup of a server in it.
fn backed_up() -> (TempDir, PathBuf, BackupContent) {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    server_folder(&data);
    let file = folder.path().join("backup");
    let content = stopped(&data, |server| back_up(server, &file, 0)).unwrap();
    (folder, file, content)
}

/// Calls a function with the state in a folder.
fn stopped<T>(data: &Path, call: impl Fn(&StoppedServer<'_>) -> T) -> T {
    let store = StoreSettings::default();
    call(&StoppedServer {
        data_dir: Some(data),
        store: &store,
    })
}

/// The text of a refused restore into a new folder, which must not get a store.
fn refusal(folder: &Path, file: &Path) -> String {
    let data = folder.join("refused");
    let error = stopped(&data, |server| restore(file, server)).unwrap_err();
    assert_eq!(std::fs::read_dir(&data).unwrap().count(), 0);
    chain(&error).replace(&folder.display().to_string(), "")
}

/// Keys and values of each range of a store, in the order of their creation.
fn entries(file: &Path) -> [Vec<(String, Vec<u8>)>; 2] {
    let store = RedbStore::open(file).unwrap();
    [RECORDS, CONTEXTS].map(|prefix| {
        let mut entries = store.range(prefix).unwrap().entries;
        entries.sort_by_key(|entry| entry.created);
        let entries = entries.into_iter().map(|entry| (entry.key, entry.value));
        entries.collect()
    })
}

#[test]
fn a_restored_folder_has_every_key_in_the_order_of_creation_and_no_compiled_code() {
    let (folder, file, content) = backed_up();
    let expected = BackupContent {
        store_keys: 4,
        last_known_keys: 2,
    };
    assert_eq!(content, expected);
    let (data, restored) = (folder.path().join("data"), folder.path().join("restored"));
    let content = stopped(&restored, |server| restore(&file, server)).unwrap();
    assert_eq!(content, expected);
    for name in [STORE, REMEMBERED] {
        assert_eq!(entries(&restored.join(name)), entries(&data.join(name)));
        let mode = restored.join(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let names = std::fs::read_dir(&restored).unwrap();
    assert_eq!(names.count(), 2);
    let mode = restored.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let again = folder.path().join("again");
    stopped(&restored, |server| back_up(server, &again, 0)).unwrap();
}

#[test]
fn only_the_owner_can_read_a_backup_and_no_other_file_is_left() {
    let (folder, file, _) = backed_up();
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let names = std::fs::read_dir(folder.path()).unwrap();
    assert_eq!(names.count(), 2);
}

#[test]
fn a_backup_does_not_change_the_state_of_the_server() {
    let folder = TempDir::new().unwrap();
    server_folder(folder.path());
    let store = folder.path().join(STORE);
    let old = Batch::new().put("/kindsight/format/", r#"{"version":1}"#);
    RedbStore::open(&store).unwrap().apply(&old).unwrap();
    let file = folder.path().join("backup");
    stopped(folder.path(), |server| back_up(server, &file, 0)).unwrap();
    let mark = RedbStore::open_existing(&store).unwrap();
    let mark = mark.get("/kindsight/format/").unwrap().unwrap();
    assert_eq!(mark, br#"{"version":1}"#, "an earlier release can open it");
}

#[test]
fn a_backup_of_a_running_server_is_refused() {
    let folder = TempDir::new().unwrap();
    server_folder(folder.path());
    let file = folder.path().join("backup");
    for name in [STORE, REMEMBERED] {
        let path = folder.path().join(name);
        let _open = RedbStore::open(&path).unwrap();
        let error = stopped(folder.path(), |server| back_up(server, &file, 0)).unwrap_err();
        let expected = format!(
            "{} is in use by another process: stop the server that uses it, and start the server again after the command",
            path.display()
        );
        assert_eq!(error.to_string(), expected);
        assert!(!file.exists());
    }
}

#[test]
fn a_backup_begins_again_after_a_compaction_but_not_without_an_end() {
    let compacted = || {
        Err(BackupError::Copy {
            prefix: RECORDS,
            source: CopyError::Source(StoreError::RevisionCompacted {
                revision: Revision::default(),
            }),
        })
    };
    let mut tries = 0;
    let done = with_retries(|| {
        tries += 1;
        if tries < TRIES_MAX {
            compacted()
        } else {
            Ok(tries)
        }
    });
    assert_eq!(done.unwrap(), TRIES_MAX);
    let mut tries = 0;
    let error = with_retries(|| {
        tries += 1;
        compacted()
    })
    .unwrap_err();
    assert_eq!(tries, TRIES_MAX);
    assert_eq!(
        chain(&error),
        "failed to copy /kindsight/: failed to read from the source: etcd compacted revision 0, so its keys can no longer be read"
    );
}

#[test]
fn an_existing_file_and_a_missing_store_are_named() {
    let (folder, file, _) = backed_up();
    let data = folder.path().join("data");
    let error = stopped(&data, |server| back_up(server, &file, 0)).unwrap_err();
    let expected = format!(
        "{} exists: choose another name, or remove the file",
        file.display()
    );
    assert_eq!(error.to_string(), expected);
    let other = folder.path().join("other");
    let error = stopped(folder.path(), |server| back_up(server, &other, 0)).unwrap_err();
    assert!(matches!(error, BackupError::NoStore { .. }));
    assert!(!other.exists());
}

#[test]
fn a_folder_with_content_is_never_restored_into() {
    let (folder, file, _) = backed_up();
    let data = folder.path().join("data");
    std::fs::remove_file(data.join(STORE)).unwrap();
    std::fs::remove_file(data.join(REMEMBERED)).unwrap();
    let error = stopped(&data, |server| restore(&file, server)).unwrap_err();
    let expected = format!(
        "{} is not empty, it contains `aot`: choose another folder, or move the content away",
        data.display()
    );
    assert_eq!(error.to_string(), expected);
    let volume = folder.path().join("volume");
    std::fs::create_dir_all(volume.join("lost+found")).unwrap();
    stopped(&volume, |server| restore(&file, server)).unwrap();
}

#[test]
fn the_files_of_a_killed_restore_or_backup_are_removed_by_the_next_command() {
    let (folder, file, _) = backed_up();
    let killed = |folder: &Path| {
        let left = folder.join(".kindsight-a1b2c3.unfinished");
        std::fs::create_dir_all(&left).unwrap();
        for name in ["lock", "file"] {
            fs_write(&left.join(name), b"");
        }
        left
    };
    let data = folder.path().join("restored");
    let left = killed(&data);
    stopped(&data, |server| restore(&file, server)).unwrap();
    assert!(!left.exists());
    assert_eq!(std::fs::read_dir(&data).unwrap().count(), 2);
    let left = killed(folder.path());
    let again = folder.path().join("again");
    stopped(&data, |server| back_up(server, &again, 0)).unwrap();
    assert!(!left.exists());
}

#[test]
fn a_damaged_backup_is_refused() {
    let (folder, file, _) = backed_up();
    let whole = std::fs::read(&file).unwrap();
    let mut flipped = whole.clone();
    let at = flipped.windows(8).position(|bytes| bytes == b"manifest");
    flipped[at.unwrap()] ^= 1;
    let half = &whole[..whole.len() / 2];
    for damaged in [&flipped, half, &whole[..100], b"no store at all"] {
        fs_write(&file, damaged);
        let refusal = refusal(folder.path(), &file);
        let start = "/backup is not a complete backup: ";
        assert!(refusal.starts_with(start), "{refusal}");
        assert_eq!(std::fs::read(&file).unwrap(), damaged, "never written");
    }
    fs_write(&file, b"");
    assert_eq!(
        refusal(folder.path(), &file),
        "/backup is not a complete backup: it has no mark of a backup; copy a store with `kindsight store copy`"
    );
}

#[test]
fn a_backup_of_a_newer_release_is_refused_with_both_versions_and_the_release() {
    let (folder, file, _) = backed_up();
    let newer = |key: &str, value: &str| {
        let changed = folder.path().join("changed");
        std::fs::copy(&file, &changed).unwrap();
        let store = RedbStore::open(&changed).unwrap();
        store.apply(&Batch::new().put(key, value)).unwrap();
        drop(store);
        refusal(folder.path(), &changed)
    };
    assert_eq!(
        newer(
            "/kindsight/backup/",
            r#"{"version":2,"release":"7.0.0","unknown":{}}"#
        ),
        "/changed was made by kindsight 7.0.0 with version 2 of the backup, and this release supports versions up to 1: restore it with kindsight 7.0.0 or a later release"
    );
    assert_eq!(
        newer(
            "/kindsight/backup/",
            r#"{"version":1,"release":"0.9.0","made-ms":0,"formats":{"store":2,"interpreters":4,"last-known":1}}"#
        ),
        "/changed was made by kindsight 0.9.0 with version 4 of the catalog of interpreters, and this release supports versions up to 3: restore it with kindsight 0.9.0 or a later release"
    );
    let format = format!(r#"{{"version":{}}}"#, FORMAT_VERSION + 1);
    assert_eq!(
        newer("/kindsight/format/", &format),
        "failed to open /changed: `/kindsight/format/` has version 3, this release supports versions up to 2: use the release that wrote it, or restore a backup that an earlier release made"
    );
}
