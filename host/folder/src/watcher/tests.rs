use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::timeout;

use super::*;
use crate::FolderOptions;

/// A time limit that no step of these tests reaches.
const PATIENCE: Duration = Duration::from_secs(30);

/// A poll interval for tests that must not poll.
const NO_POLL: Duration = Duration::from_hours(1);

/// A folder that is watched.
struct Watched {
    place: TempDir,
    watcher: Watcher,
}

impl Watched {
    /// Watches `path` in a new folder after `prepare` has filled the folder.
    fn at(path: &str, poll_every: Duration, prepare: impl FnOnce(&std::path::Path)) -> Self {
        let place = tempfile::tempdir().unwrap();
        prepare(place.path());
        let options = FolderOptions {
            accepts: |name| !name.starts_with('.'),
            files_max: 10,
            file_bytes_max: 10,
            look_bytes_max: 10,
            quiet_for: Duration::from_millis(50),
        };
        let pace = Pace {
            quiet_within: Duration::from_millis(100),
            poll_every,
        };
        let folder = Folder::new(place.path().join(path), options);
        let watcher = Watcher::new(folder, pace);
        Self { place, watcher }
    }

    /// Watches a new folder, woken by notifications only.
    fn new() -> Self {
        Self::at("", NO_POLL, |_| ())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// The changes of the next look that finds some, in a short form.
    async fn next(&mut self) -> Vec<String> {
        let shutdown = CancellationToken::new();
        loop {
            let next = timeout(PATIENCE, self.watcher.next(&shutdown));
            let changes = next.await.unwrap().unwrap();
            if !changes.is_empty() {
                return changes.iter().map(short).collect();
            }
        }
    }
}

fn short(change: &Change) -> String {
    match change {
        Change::Changed { file, bytes, .. } => {
            format!("{file}: {}", String::from_utf8_lossy(bytes))
        }
        Change::Removed { file } => format!("{file} removed"),
        other => format!("{other:?}"),
    }
}

#[tokio::test]
async fn changes_are_noticed_without_a_poll() {
    let mut watched = Watched::new();
    assert_eq!(watched.next().await, ["Complete"]);
    fs::write(watched.path("a"), "one").unwrap();
    assert_eq!(watched.next().await, ["a: one"]);
    fs::rename(watched.path("a"), watched.path("b")).unwrap();
    assert_eq!(watched.next().await, ["b: one", "a removed"]);
    fs::remove_file(watched.path("b")).unwrap();
    assert_eq!(watched.next().await, ["b removed"]);
}

#[tokio::test]
async fn bytes_that_do_not_fit_into_one_look_follow_at_once() {
    let mut watched = Watched::at("", NO_POLL, |folder| {
        for file in ["a", "b", "c"] {
            fs::write(folder.join(file), "eight...").unwrap();
        }
    });
    assert_eq!(watched.next().await, ["a: eight..."]);
    assert_eq!(watched.next().await, ["b: eight..."]);
    assert_eq!(watched.next().await, ["c: eight...", "Complete"]);
    // The same for content that is requested again.
    watched
        .watcher
        .with_folder(|folder| folder.report_again("b"));
    assert_eq!(watched.next().await, ["b: eight..."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_reported_although_the_folder_never_falls_quiet() {
    let mut watched = Watched::new();
    assert_eq!(watched.next().await, ["Complete"]);
    let (noise, is_over) = (watched.path(".noise"), AtomicBool::new(false));
    fs::write(watched.path("a"), "one").unwrap();
    let (runtime, is_over) = (tokio::runtime::Handle::current(), &is_over);
    tokio::task::block_in_place(|| {
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    fs::write(&noise, "noise").unwrap();
                }
            });
            let changes = runtime.block_on(watched.next());
            is_over.store(true, Ordering::Relaxed);
            assert_eq!(changes, ["a: one"]);
        });
    });
}

#[tokio::test]
async fn the_poll_heals_a_change_without_a_notification() {
    // No notification reports that the link to the folder has a new target.
    let poll = Duration::from_millis(20);
    let mut watched = Watched::at("link", poll, |folder| {
        for version in ["1", "2"] {
            fs::create_dir(folder.join(version)).unwrap();
            fs::write(folder.join(version).join("a"), version).unwrap();
        }
        symlink("1", folder.join("link")).unwrap();
    });
    assert_eq!(watched.next().await, ["a: 1", "Complete"]);
    symlink("2", watched.path("new")).unwrap();
    fs::rename(watched.path("new"), watched.path("link")).unwrap();
    assert_eq!(watched.next().await, ["a: 2"]);
}

#[tokio::test]
async fn the_watcher_ends_on_cancellation() {
    let mut watched = Watched::new();
    assert_eq!(watched.next().await, ["Complete"]);
    let shutdown = CancellationToken::new();
    shutdown.cancel();
    let next = timeout(PATIENCE, watched.watcher.next(&shutdown));
    assert_eq!(next.await.unwrap(), None);
}
