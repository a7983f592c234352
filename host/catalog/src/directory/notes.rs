//! Notes beside files that are refused.

mod file;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Notes in the watched directory: beside each refused file one that says why.
///
/// That the directory cannot be written, as that of a ConfigMap, is logged once and is no error.
#[derive(Debug)]
pub(super) struct Notes {
    folder: PathBuf,
    /// It was logged that notes cannot be written.
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

    /// Writes beside a file why it is refused, as `<file>.refused.txt`. `why` names the step.
    ///
    /// Called after each refusal. Blocks.
    pub(super) fn write(&self, file: &str, why: &str) {
        self.check(file::write(&self.folder, file, why));
    }

    /// Removes the note beside a file. Called when it is accepted, and when it is gone. Blocks.
    pub(super) fn remove(&self, file: &str) {
        self.check(file::remove(&self.folder, file));
    }

    /// Removes the notes of an earlier process about files that are gone. Called when the directory
    /// was listed. Blocks.
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
