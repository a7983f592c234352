//! Notes beside files that are refused.

mod file;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Notes in the watched directory: for each refused file, a file beside it that contains the
/// reason.
///
/// If the directory is not writable, like a ConfigMap volume, this is logged once and is not an
/// error.
#[derive(Debug)]
pub(super) struct Notes {
    folder: PathBuf,
    /// True if it was logged that notes cannot be written.
    is_unwritable: AtomicBool,
}

impl Notes {
    /// The notes in this directory, which does not need to exist.
    pub(super) fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            is_unwritable: AtomicBool::new(false),
        }
    }

    /// Writes the reason why a file is refused to `<file>.refused.txt`. `why` contains the step.
    ///
    /// Called after each refusal. Blocks.
    pub(super) fn write(&self, file: &str, why: &str) {
        self.check(file::write(&self.folder, file, why));
    }

    /// Removes the note beside a file. Called when the file is accepted, and when it was removed.
    /// Blocks.
    pub(super) fn remove(&self, file: &str) {
        self.check(file::remove(&self.folder, file));
    }

    /// Removes notes of an earlier process about files that no longer exist. Called when the
    /// directory was listed. Blocks.
    pub(super) fn remove_orphans(&self) {
        self.check(file::remove_orphans(&self.folder));
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
