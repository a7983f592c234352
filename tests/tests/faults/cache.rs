//! The cache of compiled components: used, verified before use, and rebuilt when it is lost.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use kindsight_interpreter::{CodeCache, Interpreters};

use crate::one_worker;

struct Cached {
    folder: tempfile::TempDir,
    interpreters: Interpreters,
}

impl Cached {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = CodeCache::open(&folder.path().join("aot")).expect("a cache");
        let interpreters = Interpreters::start(one_worker(), Some(cache)).expect("an engine");
        Self {
            folder,
            interpreters,
        }
    }

    /// Loads the hostile guest under that name; returns the loaded name.
    fn load(&self, name: &str) -> String {
        let wasm = kindsight_tests::hostile(&format!(r#"{{"name": "{name}"}}"#));
        let loaded = self.interpreters.load(&wasm).expect("a good component");
        loaded.by().name.to_string()
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("aot")
    }

    fn key(&self) -> PathBuf {
        self.folder.path().join("aot.key")
    }

    /// The same folder and key, reopened as by the next start.
    fn again(self) -> Self {
        let cache = CodeCache::open(&self.path()).expect("a cache");
        let interpreters = Interpreters::start(one_worker(), Some(cache)).expect("an engine");
        Self {
            folder: self.folder,
            interpreters,
        }
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = fs::read_dir(self.path())
            .expect("the folder")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        files.sort();
        files
    }
}

/// Inode of a file: each file that is written is a new one.
fn number(file: &Path) -> u64 {
    fs::symlink_metadata(file).expect("there").ino()
}

/// Checks that a file changed by `spoil` is not run, and replaced by a good one.
fn check_replaced(what: &str, spoil: impl FnOnce(&Cached, &Path)) {
    let cached = Cached::new();
    cached.load("it");
    let file = cached.files().remove(0);
    spoil(&cached, &file);
    assert_eq!(cached.load("it"), "it", "{what}");
    let metadata = fs::symlink_metadata(&file).expect("there");
    assert!(metadata.is_file(), "{what}");
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600, "{what}");
    let made = number(&file);
    assert_eq!(cached.load("it"), "it", "{what}");
    assert_eq!(number(&file), made, "{what}: good again");
}

#[test]
fn the_second_load_comes_from_the_cache() {
    let cached = Cached::new();
    cached.load("it");
    let file = cached.files().remove(0);
    let made = number(&file);
    cached.load("it");
    let cached = cached.again();
    cached.load("it");
    assert_eq!(cached.files(), std::slice::from_ref(&file));
    assert_eq!(number(&file), made, "it was not compiled again");
}

#[test]
fn a_file_with_the_name_of_another_is_not_run() {
    check_replaced("another in its place", |cached, file| {
        cached.load("other");
        let other = cached.files().into_iter().find(|other| other != file);
        fs::rename(other.expect("a file"), file).expect("renamed");
    });
}

#[test]
fn a_file_of_another_host_is_not_run() {
    check_replaced("a file of another host", |_, file| {
        let other = Cached::new();
        // Another component under this name, as an attacker with a compiler could make it.
        other.load("evil");
        fs::copy(&other.files()[0], file).expect("copied");
    });
    check_replaced("the same component of another host", |_, file| {
        let other = Cached::new();
        other.load("it");
        let theirs = &other.files()[0];
        assert_eq!(theirs.file_name(), file.file_name());
        fs::rename(theirs, file).expect("moved");
    });
}

#[test]
fn a_file_that_is_not_private_is_not_read() {
    check_replaced("a link", |cached, file| {
        let elsewhere = cached.folder.path().join("elsewhere");
        fs::rename(file, &elsewhere).expect("moved");
        symlink(&elsewhere, file).expect("a link");
    });
    check_replaced("others can write it", |_, file| {
        fs::set_permissions(file, fs::Permissions::from_mode(0o666)).expect("a mode");
    });
    check_replaced("the group can write it", |_, file| {
        fs::set_permissions(file, fs::Permissions::from_mode(0o620)).expect("a mode");
    });
    check_replaced("a pipe without a writer", |_, file| {
        fs::remove_file(file).expect("removed");
        let made = std::process::Command::new("mkfifo").arg(file).status();
        assert!(made.expect("mkfifo").success());
    });
}

#[test]
fn without_its_key_everything_is_compiled_again() {
    let cached = Cached::new();
    cached.load("it");
    let file = cached.files().remove(0);
    let made = number(&file);
    fs::remove_file(cached.key()).expect("removed");
    assert_eq!(cached.load("it"), "it");
    assert_eq!(number(&file), made, "a host that runs has its key");
    let cached = cached.again();
    assert_eq!(cached.load("it"), "it");
    assert_ne!(number(&file), made);
    assert_eq!(cached.files(), [file], "in the place of the old one");
}

#[test]
fn a_key_that_is_not_private_is_refused() {
    let refused = |cached: &Cached| {
        let error = CodeCache::open(&cached.path()).expect_err("refused");
        let key = cached.key().canonicalize().expect("a path");
        error
            .to_string()
            .replace(&*key.to_string_lossy(), "KEY")
            .replace(&*cached.key().to_string_lossy(), "KEY")
    };
    let private = "KEY must be a file of this user with mode 0600";
    let cached = Cached::new();
    for mode in [0o640, 0o604, 0o602, 0o666] {
        fs::set_permissions(cached.key(), fs::Permissions::from_mode(mode)).expect("a mode");
        assert_eq!(refused(&cached), private);
    }
    fs::set_permissions(cached.key(), fs::Permissions::from_mode(0o600)).expect("a mode");
    assert!(CodeCache::open(&cached.path()).is_ok());

    let elsewhere = cached.folder.path().join("elsewhere");
    fs::rename(cached.key(), &elsewhere).expect("moved");
    symlink(&elsewhere, cached.key()).expect("a link");
    let error = CodeCache::open(&cached.path()).expect_err("a link");
    assert!(error.to_string().contains("must be a file of this user"));

    fs::remove_file(cached.key()).expect("removed");
    fs::write(cached.key(), "somebody's letters").expect("written");
    fs::set_permissions(cached.key(), fs::Permissions::from_mode(0o600)).expect("a mode");
    assert_eq!(refused(&cached), "KEY is not a key of 32 bytes");
    let letters = fs::read_to_string(cached.key()).expect("still there");
    assert_eq!(letters, "somebody's letters");
}

#[test]
fn a_damaged_file_is_made_again() {
    let cached = Cached::new();
    cached.load("it");
    let file = cached.files().remove(0);
    let whole = fs::read(&file).expect("compiled");
    let mut flipped = whole.clone();
    *flipped.last_mut().expect("a byte") ^= 1;
    let mut early = whole.clone();
    early[100] ^= 0x80;
    for damaged in [
        flipped,
        early,
        whole[..whole.len() / 2].to_vec(),
        Vec::new(),
    ] {
        fs::write(&file, &damaged).expect("damaged");
        assert_eq!(cached.load("it"), "it");
        assert_ne!(fs::read(&file).expect("compiled again"), damaged);
    }
    assert_eq!(cached.files(), [file], "nothing is left beside it");
}

#[test]
fn it_can_be_deleted_at_any_time() {
    let cached = Cached::new();
    cached.load("it");
    fs::remove_file(&cached.files()[0]).expect("deleted");
    assert_eq!(cached.load("it"), "it");
    assert_eq!(cached.files().len(), 1);
    fs::remove_dir_all(cached.path()).expect("deleted");
    assert_eq!(cached.load("it"), "it");
}

#[test]
fn it_is_private_to_its_owner() {
    let cached = Cached::new();
    cached.load("it");
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&cached.path()), 0o700);
    assert_eq!(mode(&cached.files()[0]), 0o600);
    assert_eq!(mode(&cached.key()), 0o600);
    fs::remove_dir_all(cached.path()).expect("deleted");
    cached.load("it");
    assert_eq!(mode(&cached.path()), 0o700, "also when it is made again");
}

#[test]
fn a_folder_that_others_may_open_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for mode in [0o755, 0o750, 0o701, 0o777] {
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).expect("a mode");
        let refused = CodeCache::open(folder.path())
            .expect_err("open to others")
            .to_string();
        let path = folder.path().display();
        assert_eq!(
            refused,
            format!("{path} must be a folder of this user with mode 0700")
        );
    }
}

#[test]
fn a_link_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("link");
    symlink(folder.path(), &link).expect("a link");
    assert!(CodeCache::open(&link).is_err());
}
