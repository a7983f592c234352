//! Components in the watched directory, and the notes beside those that are refused.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kindsight_folder::{FolderOptions, Pace};

mod note;

/// A file counts when it was the same for so long, and the directory is looked at so often where the
/// kernel does not tell of a change. So a file is reported within a second: quick enough for something
/// that is compiled and tried before it is used, and slow enough for most writers to be done.
pub(crate) const QUIET_FOR: Duration = Duration::from_millis(500);

/// The times of the looks at the directory.
pub(crate) const PACE: Pace = Pace {
    quiet_within: QUIET_FOR,
    poll_every: QUIET_FOR,
};

/// The most files of the directory that are looked at, the first by name. Each costs a few system
/// calls at each look, and a thousand of them some milliseconds; nobody has a thousand interpreters.
pub(crate) const FILES_MAX: usize = 1000;

/// Options for a directory of components of at most so many bytes each. One look hands on no more
/// bytes than one component may have.
pub(crate) fn options(component_bytes_max: usize) -> FolderOptions {
    FolderOptions {
        accepts: is_component,
        files_max: FILES_MAX,
        file_bytes_max: component_bytes_max,
        look_bytes_max: component_bytes_max,
        quiet_for: QUIET_FOR,
    }
}

/// Returns whether a name is that of a component. Editors and copying tools keep unfinished files under
/// other names, and what a ConfigMap needs for itself begins with a dot.
fn is_component(name: &str) -> bool {
    let stem = name.strip_suffix(".wasm");
    stem.is_some_and(|stem| !stem.is_empty() && !stem.starts_with('.') && !stem.contains('/'))
}

/// Notes in the watched directory: beside each refused file one that says why.
///
/// That the directory cannot be written, as that of a ConfigMap, is logged once and is no error.
#[derive(Debug)]
pub(crate) struct Notes {
    folder: PathBuf,
    /// It was logged that notes cannot be written.
    is_unwritable: AtomicBool,
}

impl Notes {
    /// The notes in this directory, which does not need to exist.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            is_unwritable: AtomicBool::new(false),
        }
    }

    /// Writes beside a file why it is refused, as `<file>.refused.txt`. `why` names the step.
    ///
    /// Called after each refusal. Blocks.
    pub(crate) fn write(&self, file: &str, why: &str) {
        self.check(note::write(&self.folder, file, why));
    }

    /// Removes the note beside a file. Called when it is accepted, and when it is gone. Blocks.
    pub(crate) fn remove(&self, file: &str) {
        self.check(note::remove(&self.folder, file));
    }

    /// Removes the notes of an earlier process about files that are gone. Called when the directory
    /// was listed. Blocks.
    pub(crate) fn remove_orphans(&self) {
        self.check(note::remove_orphans(&self.folder));
    }

    fn check(&self, outcome: io::Result<()>) {
        if let Err(error) = outcome
            && !self.is_unwritable.swap(true, Ordering::Relaxed)
        {
            let folder = self.folder.display();
            tracing::debug!(%folder, %error, "notes beside refused interpreters cannot be kept");
        }
    }
}

#[cfg(test)]
mod tests;
