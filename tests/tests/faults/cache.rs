//! The folder of compiled components: used, never trusted blindly, never missed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use kindsight_interpreter::{AotCache, Interpreters};

use crate::one_worker;

struct Cached {
    folder: tempfile::TempDir,
    interpreters: Interpreters,
}

impl Cached {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = AotCache::open(&folder.path().join("aot")).expect("a cache");
        let interpreters = Interpreters::start(one_worker(), Some(cache)).expect("an engine");
        Self {
            folder,
            interpreters,
        }
    }

    /// Loads the hostile guest under that name; answers with the name that came of it.
    fn load(&self, name: &str) -> String {
        let wasm = kindsight_tests::hostile(&format!(r#"{{"name": "{name}"}}"#));
        let loaded = self.interpreters.load(&wasm).expect("a good component");
        loaded.by().name.to_string()
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("aot")
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

#[test]
fn the_second_load_comes_from_the_cache() {
    let cached = Cached::new();
    cached.load("first");
    let first = cached.files();
    assert_eq!(first.len(), 1);
    cached.load("second");
    let second = cached
        .files()
        .into_iter()
        .find(|file| !first.contains(file))
        .expect("a file");
    // One in the place of the other shows what is read.
    fs::copy(&second, &first[0]).expect("copied");
    assert_eq!(cached.load("first"), "second");
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
}

#[test]
fn a_folder_that_others_may_open_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for mode in [0o755, 0o750, 0o701, 0o777] {
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).expect("a mode");
        let refused = AotCache::open(folder.path())
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
    std::os::unix::fs::symlink(folder.path(), &link).expect("a link");
    assert!(AotCache::open(&link).is_err());
}
