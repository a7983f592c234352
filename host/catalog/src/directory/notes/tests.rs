use std::fs;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;
use crate::directory::is_component;

/// A watched directory, with space for files outside it.
struct Noted {
    place: TempDir,
    notes: Notes,
}

impl Noted {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("folder");
        fs::create_dir(&folder).unwrap();
        let notes = Notes::new(folder);
        Self { place, notes }
    }

    /// A path in the directory.
    fn path(&self, name: &str) -> PathBuf {
        self.notes.folder.join(name)
    }

    /// A path outside the directory.
    fn outside(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// The text of the note beside a file.
    fn note(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.path(&format!("{file}.refused.txt"))).ok()
    }
}

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

#[test]
fn the_note_of_a_refused_file_contains_the_reason_and_is_removed_with_the_refusal() {
    let noted = Noted::new();
    fs::write(noted.path("a.wasm"), "one").unwrap();
    noted.notes.write("a.wasm", "validated: no component");
    let note = "a.wasm is refused: validated: no component\n\n\
                This note is removed when the file is accepted or removed.\n";
    assert_eq!(noted.note("a.wasm").unwrap(), note);
    noted.notes.write("a.wasm", "tried: it traps");
    assert!(noted.note("a.wasm").unwrap().contains("it traps"));
    noted.notes.remove_orphans();
    assert!(noted.note("a.wasm").is_some());
    noted.notes.remove("a.wasm");
    assert_eq!(noted.note("a.wasm"), None);
    noted.notes.remove("a.wasm");
    // No other file remains.
    assert_eq!(fs::read_dir(noted.path("")).unwrap().count(), 1);
}

#[test]
fn a_note_without_its_file_is_dropped() {
    let noted = Noted::new();
    // Notes of an earlier process, and a file that is not a note.
    for file in [
        "old.wasm.refused.txt",
        "linked.wasm.refused.txt",
        "other.refused.txt",
    ] {
        fs::write(noted.path(file), "").unwrap();
    }
    symlink("nowhere", noted.path("linked.wasm")).unwrap();
    noted.notes.remove_orphans();
    assert_eq!(noted.note("old.wasm"), None);
    assert!(noted.note("linked.wasm").is_some());
    assert!(noted.note("other").is_some());
}

#[test]
fn a_note_is_written_nowhere_but_in_the_folder() {
    let noted = Noted::new();
    let target = noted.outside("target");
    fs::write(&target, "untouched").unwrap();
    symlink(&target, noted.path("a.wasm.refused.txt")).unwrap();
    noted.notes.write("a.wasm", "tried: it traps");
    assert!(noted.note("a.wasm").unwrap().contains("it traps"));
    noted.notes.write("../b.wasm", "tried: it traps");
    assert!(!noted.outside("b.wasm.refused.txt").exists());
    noted.notes.remove("../b.wasm");
    assert_eq!(fs::read_to_string(target).unwrap(), "untouched");
}

#[test]
fn a_folder_that_cannot_be_written_is_fine() {
    let noted = Noted::new();
    fs::create_dir(noted.path("a.wasm.refused.txt")).unwrap();
    noted.notes.write("a.wasm", "tried: it traps");
    noted.notes.remove("a.wasm");
    fs::remove_dir_all(noted.path("")).unwrap();
    noted.notes.write("a.wasm", "tried: it traps");
    noted.notes.remove("a.wasm");
    assert!(noted.notes.is_unwritable.into_inner());
}
