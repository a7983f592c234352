//! Which names are in the folder.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::FILES_MAX;
use super::note;
use super::sight::Sight;

/// What is in the folder, by name.
pub(super) struct Listing {
    /// The folder itself, without links.
    pub(super) root: PathBuf,
    /// What is looked at.
    pub(super) names: BTreeSet<String>,
    /// About which files there are notes; no more than are looked at.
    pub(super) notes: Vec<String>,
    /// How many names are over [`FILES_MAX`], and the first of them.
    over: Option<(usize, String)>,
    /// How many names are not text.
    illegible: usize,
}

impl Listing {
    /// Of this folder, now.
    ///
    /// # Errors
    /// The folder cannot be read. What its entries are is not asked yet.
    pub(super) fn of(folder: &Path) -> io::Result<Self> {
        let mut listing = Self {
            root: fs::canonicalize(folder)?,
            names: BTreeSet::new(),
            notes: Vec::new(),
            over: None,
            illegible: 0,
        };
        for entry in fs::read_dir(&listing.root)? {
            match entry?.file_name().into_string() {
                Ok(name) => listing.add(name),
                Err(name) if is_component(&name.to_string_lossy()) => listing.illegible += 1,
                Err(_) => {}
            }
        }
        Ok(listing)
    }

    fn add(&mut self, name: String) {
        if let Some(file) = note::about(&name) {
            if self.notes.len() < FILES_MAX {
                self.notes.push(file.to_owned());
            }
        } else if is_component(&name) {
            self.names.insert(name);
            if self.names.len() > FILES_MAX
                && let Some(last) = self.names.pop_last()
            {
                let count = self.over.as_ref().map_or(0, |(count, _)| *count);
                // The last one that is taken away is the first by name.
                self.over = Some((count + 1, last));
            }
        }
    }

    /// What a file is now. What is left out counts as not there.
    pub(super) fn sight(&self, file: &str, bytes_max: usize) -> Sight {
        match &self.over {
            Some((_, first)) if file >= first.as_str() => Sight::Absent,
            _ => Sight::of(&self.root, file, bytes_max),
        }
    }

    /// Which entries are not looked at, for people.
    pub(super) fn left_out(&self) -> Option<String> {
        let over = self.over.as_ref().map(|(count, first)| {
            format!("{count} from {first} on are over the limit of {FILES_MAX}")
        });
        let illegible = (self.illegible > 0)
            .then(|| format!("{} have names that are not UTF-8", self.illegible));
        let texts: Vec<String> = over.into_iter().chain(illegible).collect();
        (!texts.is_empty()).then(|| texts.join(", "))
    }
}

/// Whether a name is that of a component. Editors and copying tools keep unfinished files under
/// other names, and what a ConfigMap needs for itself begins with a dot.
pub(super) fn is_component(name: &str) -> bool {
    let stem = name.strip_suffix(".wasm");
    stem.is_some_and(|stem| !stem.is_empty() && !stem.starts_with('.') && !stem.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_finished_components_are_looked_at() {
        for good in ["apps.wasm", "a.b.wasm", "a.tmp.wasm", "ä.wasm"] {
            assert!(is_component(good), "{good}");
        }
        let others = [
            ".wasm",
            "..data",
            ".a.wasm",
            "..wasm",
            "a.wasm~",
            "a.wasm.swp",
            "a.wasm.part",
            "wasm",
            "a.WASM",
            "a.wasm.refused.txt",
            "../a.wasm",
            "b/a.wasm",
            "",
        ];
        for other in others {
            assert!(!is_component(other), "{other}");
        }
    }
}
