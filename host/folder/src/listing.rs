//! The names in the folder.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::state::FileState;
use crate::{FolderOptions, LeftOut};

/// The names in the folder at one look.
pub(crate) struct Listing {
    /// The path of the folder, with all links resolved.
    pub(crate) root: PathBuf,
    /// The names of the files to read.
    pub(crate) names: BTreeSet<String>,
    /// The entries that are not read.
    pub(crate) left_out: LeftOut,
}

impl Listing {
    /// Lists a folder.
    ///
    /// # Errors
    /// The folder cannot be read. The file types of its entries are not checked here.
    pub(crate) fn of(folder: &Path, options: &FolderOptions) -> io::Result<Self> {
        let mut listing = Self {
            root: fs::canonicalize(folder)?,
            names: BTreeSet::new(),
            left_out: LeftOut {
                files_max: options.files_max,
                ..LeftOut::default()
            },
        };
        for entry in fs::read_dir(&listing.root)? {
            match entry?.file_name().into_string() {
                Ok(name) if (options.accepts)(&name) => listing.add(name),
                Err(name) if (options.accepts)(&name.to_string_lossy()) => {
                    listing.left_out.not_utf8 += 1;
                }
                _ => {}
            }
        }
        Ok(listing)
    }

    fn add(&mut self, name: String) {
        self.names.insert(name);
        if self.names.len() > self.left_out.files_max
            && let Some(last) = self.names.pop_last()
        {
            self.left_out.over += 1;
            let first = self.left_out.first_over.get_or_insert(last.clone());
            if last < *first {
                *first = last;
            }
        }
    }

    /// The state of a file. A file that is left out counts as absent.
    pub(crate) fn state(&self, file: &str, bytes_max: usize) -> FileState {
        match &self.left_out.first_over {
            Some(first) if file >= first.as_str() => FileState::Absent,
            _ => FileState::of(&self.root, file, bytes_max),
        }
    }
}
