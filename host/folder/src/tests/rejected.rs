//! Files that are rejected, and a folder that does not exist.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::*;

#[test]
fn an_entry_that_is_not_a_file_is_rejected_without_blocking() {
    let mut watched = Watched::new();
    fs::create_dir(watched.path("a.wasm")).unwrap();
    let pipe = watched.path("b.wasm");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let _socket = UnixListener::bind(watched.path("c.wasm")).unwrap();
    symlink("a.wasm", watched.path("d.wasm")).unwrap();
    let rejected = [
        "a.wasm rejected: it is a folder, not a file",
        "b.wasm rejected: it is a pipe, not a file",
        "c.wasm rejected: it is a socket, not a file",
        "d.wasm rejected: it is a folder, not a file",
    ];
    assert_eq!(watched.reported(), NOTHING);
    assert_eq!(watched.reported(), rejected);
    watched.write("a.wasm/README", "what is in it does not matter");
    assert_eq!(watched.settle(), NOTHING);
    watched.put("b.wasm", "one");
    assert_eq!(watched.settle(), ["b.wasm: one"]);
}

#[test]
fn a_file_is_rejected_while_it_is_too_large() {
    let mut watched = Watched::with_limit(10);
    let file = File::create(watched.path("a.wasm")).unwrap();
    // The file must not be read: no machine has that much memory.
    file.set_len(1 << 40).unwrap();
    watched.write("b.wasm", "ten bytes.");
    assert_eq!(
        watched.settle(),
        [
            "a.wasm rejected: it has 1099511627776 bytes, and the limit is 10",
            "b.wasm: ten bytes.",
        ]
    );
    watched.write("b.wasm", "ten bytes..");
    let rejected = "b.wasm rejected: it has 11 bytes, and the limit is 10";
    assert_eq!(watched.settle(), [rejected]);
    watched.write("b.wasm", "ten bytes.");
    assert_eq!(watched.settle(), ["b.wasm: ten bytes."]);
}

#[test]
fn no_more_bytes_are_handed_on_at_one_look_than_the_limit() {
    let mut watched = Watched::with_limit(10);
    for file in ["a", "b", "c", "d", "e", "f"] {
        watched.write(&format!("{file}.wasm"), "five.");
    }
    assert_eq!(watched.reported(), NOTHING);
    assert_eq!(watched.reported(), ["a.wasm: five.", "b.wasm: five."]);
    watched.write("a.wasm", "FIVE.");
    watched.write("b.wasm", "FIVE.");
    assert_eq!(watched.reported(), ["c.wasm: five.", "d.wasm: five."]);
    // New files do not overtake waiting files.
    assert_eq!(watched.reported(), ["e.wasm: five.", "f.wasm: five."]);
    assert_eq!(watched.reported(), ["a.wasm: FIVE.", "b.wasm: FIVE."]);
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
    let reported = watched.settle();
    let left_out = "left out: over the limit of 1000 files: 2, from `01001.wasm` on; names that are not UTF-8: 1";
    assert_eq!(reported.len(), 1 + FILES_MAX);
    assert_eq!(reported[0], left_out);
    File::create(watched.path(&name(0))).unwrap();
    let left_out = left_out.replace("2, from `01001.wasm`", "3, from `01000.wasm`");
    let expected = [&left_out, "00000.wasm: ", "01000.wasm removed"];
    assert_eq!(watched.settle(), expected);
    watched.remove(&name(7));
    let left_out = "left out: over the limit of 1000 files: 2, from `01001.wasm` on; names that are not UTF-8: 1";
    assert_eq!(
        watched.settle(),
        [left_out, "01000.wasm: ", "00007.wasm removed"]
    );
}

#[test]
fn a_folder_that_cannot_be_listed_keeps_its_known_files() {
    let mut watched = Watched::new();
    let (path, away) = (watched.folder.path().to_owned(), watched.outside("away"));
    watched.write("a.wasm", "one");
    watched.write("b.wasm", "one");
    assert_eq!(watched.settle(), ["a.wasm: one", "b.wasm: one"]);
    fs::rename(&path, &away).unwrap();
    let unavailable = "unavailable: No such file or directory (os error 2)";
    assert_eq!(watched.reported(), NOTHING);
    assert_eq!(watched.settle(), [unavailable]);
    fs::rename(&away, &path).unwrap();
    watched.write("b.wasm", "two");
    assert_eq!(watched.settle(), ["available", "b.wasm: two"]);
    fs::rename(&path, &away).unwrap();
    fs::write(&path, "not a folder").unwrap();
    let unavailable = "unavailable: Not a directory (os error 20)";
    assert_eq!(watched.settle(), [unavailable]);
    // Reported once for each reason.
    fs::remove_file(&path).unwrap();
    let unavailable = "unavailable: No such file or directory (os error 2)";
    assert_eq!(watched.settle(), [unavailable]);
}

#[test]
fn a_folder_that_is_away_for_a_moment_is_not_unavailable() {
    let mut watched = Watched::new();
    let (path, away) = (watched.folder.path().to_owned(), watched.outside("away"));
    watched.write("a.wasm", "one");
    assert_eq!(watched.settle(), ["a.wasm: one"]);
    for _ in 0..3 {
        fs::rename(&path, &away).unwrap();
        assert_eq!(watched.reported(), NOTHING);
        fs::rename(&away, &path).unwrap();
        assert_eq!(watched.reported(), NOTHING);
    }
}

#[test]
fn a_folder_that_is_created_later_is_watched_from_then_on() {
    let mut watched = Watched::new();
    watched.folder = Folder::new(watched.path("sub"), options(BYTES_MAX));
    let unavailable = "unavailable: No such file or directory (os error 2)";
    assert_eq!(watched.settle(), [unavailable]);
    fs::create_dir(watched.path("")).unwrap();
    watched.write("a.wasm", "one");
    assert_eq!(watched.settle(), ["available", "a.wasm: one"]);
}

#[test]
fn the_first_file_over_the_limit_is_found_in_any_order_of_the_folder() {
    // Folders are listed in no particular order, so several folders cover each order.
    for number in 0..20 {
        let mut watched = Watched::new();
        let limited = FolderOptions {
            files_max: 1,
            ..options(BYTES_MAX)
        };
        watched.folder = Folder::new(watched.path(""), limited);
        for file in ["a", "b", "c"] {
            File::create(watched.path(&format!("{file}{number}.wasm"))).unwrap();
        }
        let left_out = format!("left out: over the limit of 1 files: 2, from `b{number}.wasm` on");
        assert_eq!(watched.settle(), [left_out, format!("a{number}.wasm: ")]);
    }
}
