use std::path::PathBuf;

use super::*;

fn names(folder: &TempDir) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// An unfinished file whose process was killed.
fn left_over(folder: &TempDir) -> PathBuf {
    let Unfinished {
        file,
        _folder: own,
        _lock: lock,
    } = Unfinished::new_in(folder.path()).unwrap();
    let (_, path) = file.keep().unwrap();
    fs::write(&path, "a Secret").unwrap();
    lock.unlock().unwrap();
    own.keep()
}

#[test]
fn the_files_of_ended_processes_are_removed_and_those_of_running_processes_stay() {
    let folder = TempDir::new().unwrap();
    let running = Unfinished::new_in(folder.path()).unwrap();
    let ended = left_over(&folder);
    let of_earlier_release = folder.path().join(".kindsight-a1b2c3.unfinished");
    fs::write(&of_earlier_release, "a Secret").unwrap();
    let other = folder.path().join("kindsight-2026-11-24.backup");
    fs::write(&other, "a backup").unwrap();
    assert_eq!(names(&folder).len(), 4);
    let next = Unfinished::new_in(folder.path()).unwrap();
    assert!(!ended.exists() && !of_earlier_release.exists());
    assert!(other.exists() && running.path().exists() && next.path().exists());
    running.finish(&folder.path().join("finished")).unwrap();
    drop(next);
    let mut left = names(&folder);
    left.sort();
    assert_eq!(left, [folder.path().join("finished"), other]);
}

#[test]
fn a_file_that_a_store_of_an_earlier_release_locks_stays() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(".kindsight-a1b2c3.unfinished");
    let store = kindsight_store::RedbStore::open(&path).unwrap();
    Unfinished::new_in(folder.path()).unwrap();
    assert!(path.exists());
    drop(store);
    Unfinished::new_in(folder.path()).unwrap();
    assert!(!path.exists());
}

#[test]
fn an_unfinished_file_replaces_no_other_file() {
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("backup");
    fs::write(&target, "earlier").unwrap();
    let refused = Unfinished::new_in(folder.path()).unwrap().finish(&target);
    assert!(matches!(refused, Err(BackupError::Exists { path }) if path == target));
    assert_eq!(fs::read(&target).unwrap(), b"earlier");
    assert_eq!(names(&folder), [target]);
}
