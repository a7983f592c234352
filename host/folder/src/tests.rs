use std::fs;
use std::os::unix::fs::MetadataExt as _;

use tempfile::TempDir;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::tracked::SETTLED_AFTER;
use crate::{Change, Folder, FolderOptions};

mod linked;
mod rejected;
mod written;

/// The size limit of a file in these tests.
const BYTES_MAX: usize = 2 << 20;

/// The limit of the number of files in these tests.
const FILES_MAX: usize = 1000;

/// The time between two looks in these tests.
const PAUSE: Duration = Duration::from_millis(500);

/// A watched folder, with space for files outside it.
struct Watched {
    place: TempDir,
    folder: Folder,
    now: Instant,
}

impl Watched {
    fn new() -> Self {
        Self::with_limit(BYTES_MAX)
    }

    fn with_limit(file_bytes_max: usize) -> Self {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("folder");
        fs::create_dir(&path).unwrap();
        Self {
            folder: Folder::new(path, options(file_bytes_max)),
            place,
            now: Instant::now(),
        }
    }

    /// A path in the folder.
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A path outside the folder.
    fn outside(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// Writes a file in place, and ensures that its stamp is unique.
    fn write(&self, name: &str, content: &str) {
        tick(self.place.path());
        fs::write(self.path(name), content).unwrap();
    }

    /// Creates or replaces a file in one step, as careful writers do.
    fn put(&self, name: &str, content: &str) {
        self.write(".unfinished", content);
        fs::rename(self.path(".unfinished"), self.path(name)).unwrap();
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    /// Looks once, at the next time that is due.
    fn look(&mut self) -> Vec<Change> {
        self.now += PAUSE;
        self.folder.look(self.now)
    }

    /// The changes of one look in a short form, without the mark of a complete listing.
    fn reported(&mut self) -> Vec<String> {
        let changes = self.look().into_iter();
        let changes = changes.filter(|change| *change != Change::Complete);
        changes.map(|change| short(&change)).collect()
    }

    /// The changes of repeated looks until no more are reported, in a short form.
    fn settle(&mut self) -> Vec<String> {
        let enough = self.now + SETTLED_AFTER + PAUSE * 3;
        let mut reported = Vec::new();
        while self.now < enough {
            reported.extend(self.reported());
        }
        reported
    }
}

fn options(file_bytes_max: usize) -> FolderOptions {
    FolderOptions {
        accepts: |name| {
            let stem = name.strip_suffix(".wasm");
            stem.is_some_and(|stem| !stem.starts_with('.'))
        },
        files_max: FILES_MAX,
        file_bytes_max,
        look_bytes_max: file_bytes_max,
        quiet_for: PAUSE,
    }
}

/// Waits until the coarse clock of the file system has advanced.
pub(super) fn tick(folder: &Path) {
    let clock = folder.join("clock");
    let time = || {
        fs::write(&clock, "").unwrap();
        let metadata = fs::metadata(&clock).unwrap();
        (metadata.ctime(), metadata.ctime_nsec())
    };
    let before = time();
    while time() == before {}
}

fn short(change: &Change) -> String {
    match change {
        Change::Changed { file, bytes, .. } => {
            format!("{file}: {}", String::from_utf8_lossy(bytes))
        }
        Change::Removed { file } => format!("{file} removed"),
        Change::Rejected { file, reason } => format!("{file} rejected: {reason}"),
        Change::LeftOut(entries) => format!("left out: {entries}"),
        Change::Unavailable { reason } => format!("unavailable: {reason}"),
        Change::Available => "available".to_owned(),
        Change::Complete => "complete".to_owned(),
    }
}

/// No changes.
const NOTHING: [&str; 0] = [];
