use std::fs;
use std::os::unix::fs::MetadataExt as _;

use tempfile::TempDir;

use super::known::SETTLED_AFTER;
use super::*;

mod linked;
mod refused;
mod written;

/// The limit of the components here.
const BYTES_MAX: usize = 2 << 20;

/// A folder that is looked at, and room beside it.
struct Watched {
    place: TempDir,
    folder: Folder,
    now: Instant,
}

impl Watched {
    fn new() -> Self {
        Self::with_limit(BYTES_MAX)
    }

    fn with_limit(component_bytes_max: usize) -> Self {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("folder");
        fs::create_dir(&path).unwrap();
        Self {
            folder: Folder::new(path, component_bytes_max),
            place,
            now: Instant::now(),
        }
    }

    /// In the folder.
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path.join(name)
    }

    /// Beside the folder.
    fn outside(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// Writes in place, and gives it a stamp of its own.
    fn write(&self, name: &str, content: &str) {
        tick(self.place.path());
        fs::write(self.path(name), content).unwrap();
    }

    /// Puts a file there in one step, as careful writers do.
    fn put(&self, name: &str, content: &str) {
        self.write(".unfinished", content);
        fs::rename(self.path(".unfinished"), self.path(name)).unwrap();
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    /// One look, at the time when it is due.
    fn look(&mut self) -> Vec<Seen> {
        self.now += POLL;
        self.folder.look(self.now)
    }

    /// What is told at one look, in short.
    fn told(&mut self) -> Vec<String> {
        self.look().iter().map(short).collect()
    }

    /// What is told until there is nothing more to tell, in short.
    fn settle(&mut self) -> Vec<String> {
        let enough = self.now + SETTLED_AFTER + POLL * 3;
        let mut told = Vec::new();
        while self.now < enough {
            told.extend(self.told());
        }
        told
    }

    /// What the note beside a file says.
    fn note(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.path(&format!("{file}.refused.txt"))).ok()
    }
}

/// Waits until the clock of the file system, which is coarse, has moved on.
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

fn short(seen: &Seen) -> String {
    match seen {
        Seen::Changed {
            file,
            bytes,
            digest,
        } => {
            assert_eq!(*digest, Digest::of(bytes));
            format!("{file}: {}", String::from_utf8_lossy(bytes))
        }
        Seen::Removed { file } => format!("{file} removed"),
        Seen::Refused { file, why } => format!("{file} refused: {why}"),
    }
}

/// Nothing.
const NOTHING: [&str; 0] = [];
