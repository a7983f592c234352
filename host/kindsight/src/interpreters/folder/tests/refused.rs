//! What is not taken, what is said beside it, and a folder that is not there.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::*;

#[test]
fn what_is_no_file_is_refused_and_not_waited_for() {
    let mut watched = Watched::new();
    fs::create_dir(watched.path("a.wasm")).unwrap();
    let pipe = watched.path("b.wasm");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let _socket = UnixListener::bind(watched.path("c.wasm")).unwrap();
    symlink("a.wasm", watched.path("d.wasm")).unwrap();
    let refused = [
        "a.wasm refused: it is a folder, not a file",
        "b.wasm refused: it is a pipe, not a file",
        "c.wasm refused: it is a socket, not a file",
        "d.wasm refused: it is a folder, not a file",
    ];
    assert_eq!(watched.told(), NOTHING);
    assert_eq!(watched.told(), refused);
    watched.write("a.wasm/README", "what is in it does not matter");
    assert_eq!(watched.settle(), NOTHING);
    watched.put("b.wasm", "one");
    assert_eq!(watched.settle(), ["b.wasm: one"]);
}

#[test]
fn a_file_that_is_too_large_is_refused_until_it_is_not() {
    let mut watched = Watched::with_limit(10);
    let file = File::create(watched.path("a.wasm")).unwrap();
    // It is not read: nobody has that much memory.
    file.set_len(1 << 40).unwrap();
    watched.write("b.wasm", "ten bytes.");
    assert_eq!(
        watched.settle(),
        [
            "a.wasm refused: it has 1099511627776 bytes, and the limit is 10",
            "b.wasm: ten bytes.",
        ]
    );
    watched.write("b.wasm", "ten bytes..");
    let refused = "b.wasm refused: it has 11 bytes, and the limit is 10";
    assert_eq!(watched.settle(), [refused]);
    watched.write("b.wasm", "ten bytes.");
    assert_eq!(watched.settle(), ["b.wasm: ten bytes."]);
}

#[test]
fn no_more_is_told_at_one_look_than_one_component_may_have() {
    let mut watched = Watched::with_limit(10);
    for file in ["a", "b", "c", "d", "e", "f"] {
        watched.write(&format!("{file}.wasm"), "five.");
    }
    assert_eq!(watched.told(), NOTHING);
    assert_eq!(watched.told(), ["a.wasm: five.", "b.wasm: five."]);
    watched.write("a.wasm", "FIVE.");
    watched.write("b.wasm", "FIVE.");
    assert_eq!(watched.told(), ["c.wasm: five.", "d.wasm: five."]);
    // What is new does not go before what waits.
    assert_eq!(watched.told(), ["e.wasm: five.", "f.wasm: five."]);
    assert_eq!(watched.told(), ["a.wasm: FIVE.", "b.wasm: FIVE."]);
    assert_eq!(watched.settle(), NOTHING);
}

#[test]
fn of_too_many_files_the_first_by_name_are_looked_at() {
    let mut watched = Watched::new();
    let name = |number: usize| format!("{number:05}.wasm");
    for number in 1..=FILES_MAX + 2 {
        File::create(watched.path(&name(number))).unwrap();
    }
    File::create(watched.path(".").join(OsStr::from_bytes(b"\xff.wasm"))).unwrap();
    assert_eq!(watched.settle().len(), FILES_MAX);
    assert_eq!(
        watched.folder.left_out.as_deref(),
        Some("2 from 01001.wasm on are over the limit of 1000, 1 have names that are not UTF-8")
    );
    File::create(watched.path(&name(0))).unwrap();
    assert_eq!(watched.settle(), ["00000.wasm: ", "01000.wasm removed"]);
    watched.remove(&name(7));
    assert_eq!(watched.settle(), ["01000.wasm: ", "00007.wasm removed"]);
}

#[test]
fn a_folder_that_is_away_keeps_what_is_known() {
    let mut watched = Watched::new();
    let (path, away) = (watched.folder.path.clone(), watched.outside("away"));
    watched.write("a.wasm", "one");
    watched.write("b.wasm", "one");
    assert_eq!(watched.settle(), ["a.wasm: one", "b.wasm: one"]);
    fs::rename(&path, &away).unwrap();
    assert_eq!(watched.settle(), NOTHING);
    assert!(watched.folder.is_away);
    fs::rename(&away, &path).unwrap();
    watched.write("b.wasm", "two");
    assert_eq!(watched.settle(), ["b.wasm: two"]);
    assert!(!watched.folder.is_away);
    fs::rename(&path, &away).unwrap();
    fs::write(&path, "not a folder").unwrap();
    assert_eq!(watched.settle(), NOTHING);
}

#[test]
fn a_folder_that_comes_later_is_looked_at_from_then_on() {
    let mut watched = Watched::new();
    watched.folder = Folder::new(watched.path("sub"), BYTES_MAX);
    assert_eq!(watched.settle(), NOTHING);
    fs::create_dir(watched.path("")).unwrap();
    watched.write("a.wasm", "one");
    assert_eq!(watched.settle(), ["a.wasm: one"]);
}

#[test]
fn the_note_beside_a_refused_file_says_why_and_goes_with_the_refusal() {
    let mut watched = Watched::new();
    watched.write("a.wasm", "one");
    watched.settle();
    watched.folder.refused("a.wasm", "validated: no component");
    let note = "a.wasm is refused: validated: no component\n\n\
                This note goes away when the file is accepted or removed.\n";
    assert_eq!(watched.note("a.wasm").unwrap(), note);
    watched.folder.refused("a.wasm", "tried: it traps");
    assert!(watched.note("a.wasm").unwrap().contains("it traps"));
    assert_eq!(watched.settle(), NOTHING);
    assert!(watched.note("a.wasm").is_some());
    watched.folder.accepted("a.wasm");
    assert_eq!(watched.note("a.wasm"), None);
    watched.folder.accepted("a.wasm");
    // Nothing else is left behind.
    assert_eq!(fs::read_dir(watched.path("")).unwrap().count(), 1);
}

#[test]
fn the_note_goes_with_the_file() {
    let mut watched = Watched::new();
    // One of an earlier process, and a file that is nobody's note.
    watched.write("old.wasm.refused.txt", "");
    watched.write("other.refused.txt", "");
    watched.write("a.wasm", "one");
    watched.settle();
    assert_eq!(watched.note("old.wasm"), None);
    assert!(watched.note("other").is_some());
    watched.folder.refused("a.wasm", "tried: it traps");
    watched.remove("a.wasm");
    assert_eq!(watched.told(), NOTHING);
    assert!(watched.note("a.wasm").is_some());
    assert_eq!(watched.told(), ["a.wasm removed"]);
    assert_eq!(watched.note("a.wasm"), None);
}

#[test]
fn a_note_is_written_nowhere_but_in_the_folder() {
    let watched = Watched::new();
    let target = watched.outside("target");
    fs::write(&target, "untouched").unwrap();
    symlink(&target, watched.path("a.wasm.refused.txt")).unwrap();
    watched.folder.refused("a.wasm", "tried: it traps");
    assert!(watched.note("a.wasm").unwrap().contains("it traps"));
    watched.folder.refused("../b.wasm", "tried: it traps");
    assert!(!watched.outside("b.wasm.refused.txt").exists());
    watched.folder.accepted("../b.wasm");
    assert_eq!(fs::read_to_string(target).unwrap(), "untouched");
}

#[test]
fn a_folder_that_cannot_be_written_is_fine() {
    let watched = Watched::new();
    fs::create_dir(watched.path("a.wasm.refused.txt")).unwrap();
    watched.folder.refused("a.wasm", "tried: it traps");
    watched.folder.accepted("a.wasm");
    fs::remove_dir_all(watched.path("")).unwrap();
    watched.folder.refused("a.wasm", "tried: it traps");
    watched.folder.accepted("a.wasm");
    assert!(watched.folder.is_unwritable.into_inner());
}
