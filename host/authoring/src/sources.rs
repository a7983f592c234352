//! The state of a project's sources, to notice a change.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::project::{Project, ProjectError};

/// Maximum number of files of a project that are followed.
const FILES_MAX: usize = 10_000;
/// Most levels of folders that are followed.
const DEPTH_MAX: usize = 16;
/// Folders that builds write.
const WRITTEN: [&str; 3] = ["build", "node_modules", "target"];
/// Files that builds write in a folder of sources.
const GENERATED: [&str; 3] = ["Cargo.lock", "description.json", "fixtures.json"];

/// Sizes and times of change of the sources of a project.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SourceState(BTreeMap<PathBuf, (u64, Option<SystemTime>)>);

impl Project {
    /// The present state of the sources: every file except hidden files and the files of builds.
    ///
    /// # Errors
    /// If a folder cannot be read, or there are too many files.
    pub fn sources(&self) -> Result<SourceState, ProjectError> {
        let mut state = SourceState::default();
        state.add(self.folder(), DEPTH_MAX)?;
        Ok(state)
    }
}

impl SourceState {
    fn add(&mut self, folder: &Path, depth: usize) -> Result<(), ProjectError> {
        let failed = |error| ProjectError::Io(format!("read {}", folder.display()), error);
        if depth == 0 || self.0.len() > FILES_MAX {
            let what = format!("more than {FILES_MAX} files or {DEPTH_MAX} levels of folders");
            return Err(failed(io::Error::other(what)));
        }
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            // An editor replaces a file: one that is gone now is seen in the next round.
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            if name.starts_with('.') || path.extension() == Some("wasm".as_ref()) {
                continue;
            }
            if metadata.is_dir() {
                if !WRITTEN.contains(&&*name) && name != "__pycache__" {
                    self.add(&path, depth - 1)?;
                }
            } else if !GENERATED.contains(&&*name) {
                self.0
                    .insert(path, (metadata.len(), metadata.modified().ok()));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Language, NewProject};

    #[test]
    fn edits_are_changes_and_builds_are_not() {
        let parent = tempfile::tempdir().unwrap();
        let new = NewProject {
            name: "widgets".to_owned(),
            language: Language::Go,
            kind: "v1/Pod".parse().unwrap(),
        };
        let folder = new.write(parent.path()).unwrap();
        let project = Project::open(&folder).unwrap();
        let before = project.sources().unwrap();
        fs::create_dir(folder.join("build")).unwrap();
        for written in [
            "build/module.wasm",
            "widgets.wasm",
            "kindsight/fixtures.json",
        ] {
            fs::write(folder.join(written), "x").unwrap();
        }
        assert_eq!(project.sources().unwrap(), before);
        fs::write(folder.join("rule.go"), "package main").unwrap();
        assert_ne!(project.sources().unwrap(), before);
    }
}
