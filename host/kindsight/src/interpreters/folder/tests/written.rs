//! The ways in which files are written.

use std::fs::File;
use std::io::Write as _;
use std::sync::mpsc::sync_channel;
use std::thread;

use super::*;

#[test]
fn a_new_file_is_told_when_it_is_the_same_at_two_looks() {
    let mut watched = Watched::new();
    assert_eq!(watched.told(), NOTHING);
    watched.write("b.wasm", "two");
    watched.write("a.wasm", "one");
    for other in ["README", ".a.wasm", "..data.wasm", "a.wasm~", "a.wasm.part"] {
        watched.write(other, "nonsense");
    }
    fs::create_dir(watched.path("sub")).unwrap();
    watched.write("sub/c.wasm", "three");
    assert_eq!(watched.told(), NOTHING);
    assert_eq!(watched.told(), ["a.wasm: one", "b.wasm: two"]);
    assert_eq!(watched.settle(), NOTHING);
}

#[test]
fn what_is_there_before_the_first_look_is_told() {
    let mut watched = Watched::new();
    watched.write("a.wasm", "one");
    assert_eq!(watched.settle(), ["a.wasm: one"]);
}

#[test]
fn a_file_that_is_replaced_by_rename_is_told() {
    let mut watched = Watched::new();
    for content in ["one", "two", "six"] {
        watched.put("a.wasm", content);
        assert_eq!(watched.settle(), [format!("a.wasm: {content}")]);
    }
    // Of the same size and age.
    watched.write(".b.wasm", "ten");
    let modified = fs::metadata(watched.path("a.wasm")).unwrap().modified();
    let unfinished = File::options().write(true).open(watched.path(".b.wasm"));
    unfinished.unwrap().set_modified(modified.unwrap()).unwrap();
    fs::rename(watched.path(".b.wasm"), watched.path("a.wasm")).unwrap();
    assert_eq!(watched.settle(), ["a.wasm: ten"]);
}

#[test]
fn a_file_that_is_overwritten_in_place_is_told() {
    let mut watched = Watched::new();
    watched.write("a.wasm", "one");
    assert_eq!(watched.settle(), ["a.wasm: one"]);
    watched.write("a.wasm", "longer");
    assert_eq!(watched.settle(), ["a.wasm: longer"]);
    // With the same size, and its old time given back to it.
    let before = fs::metadata(watched.path("a.wasm")).unwrap();
    watched.write("a.wasm", "LONGER");
    let file = File::options().write(true).open(watched.path("a.wasm"));
    let modified = before.modified().unwrap();
    file.unwrap().set_modified(modified).unwrap();
    let after = fs::metadata(watched.path("a.wasm")).unwrap();
    assert_eq!(
        (after.len(), after.ino(), after.modified().unwrap()),
        (before.len(), before.ino(), modified)
    );
    assert_eq!(watched.settle(), ["a.wasm: LONGER"]);
}

#[test]
fn the_same_bytes_again_are_not_told() {
    let mut watched = Watched::new();
    watched.write("a.wasm", "one");
    assert_eq!(watched.settle(), ["a.wasm: one"]);
    watched.write("a.wasm", "one");
    assert_eq!(watched.settle(), NOTHING);
    watched.put("a.wasm", "one");
    assert_eq!(watched.settle(), NOTHING);
    // There and back between two looks.
    watched.put("a.wasm", "two");
    watched.put("a.wasm", "one");
    assert_eq!(watched.settle(), NOTHING);
}

#[test]
fn a_file_that_is_truncated_and_written_is_told_when_it_is_written() {
    let mut watched = Watched::new();
    watched.write("a.wasm", "one");
    assert_eq!(watched.settle(), ["a.wasm: one"]);
    let mut file = File::create(watched.path("a.wasm")).unwrap();
    assert_eq!(watched.told(), NOTHING);
    file.write_all(b"two").unwrap();
    assert_eq!(watched.settle(), ["a.wasm: two"]);
}

#[test]
fn a_file_that_keeps_growing_is_told_when_it_is_quiet_and_holds_up_no_other() {
    let mut watched = Watched::new();
    watched.write("b.wasm", "other");
    let mut file = File::create(watched.path("a.wasm")).unwrap();
    let mut told = Vec::new();
    for _ in 0..20 {
        file.write_all(b"part ").unwrap();
        told.extend(watched.told());
    }
    assert_eq!(told, ["b.wasm: other"]);
    let whole = "part ".repeat(20);
    assert_eq!(watched.settle(), [format!("a.wasm: {whole}")]);
}

#[test]
fn a_writer_that_pauses_for_long_is_told_twice() {
    let mut watched = Watched::new();
    let mut file = File::create(watched.path("a.wasm")).unwrap();
    file.write_all(b"ha").unwrap();
    assert_eq!(watched.settle(), ["a.wasm: ha"]);
    watched.folder.refused("a.wasm", "validated: it ends early");
    assert!(watched.note("a.wasm").is_some());
    file.write_all(b"lf").unwrap();
    assert_eq!(watched.settle(), ["a.wasm: half"]);
    watched.folder.accepted("a.wasm");
    assert_eq!(watched.note("a.wasm"), None);
    assert_eq!(watched.settle(), NOTHING);
}

#[test]
fn of_a_file_that_is_written_slowly_the_last_that_is_told_is_the_whole() {
    let mut watched = Watched::new();
    let whole: Vec<u8> = (0..1_u32 << 18).flat_map(u32::to_le_bytes).collect();
    let path = watched.path("a.wasm");
    let (look_tx, looks) = sync_channel(0);
    let mut seen = Vec::new();
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let looks = looks;
            let mut file = File::create(path).unwrap();
            for part in whole.chunks(1 << 14) {
                // As slow as the looks are.
                looks.recv().unwrap();
                file.write_all(part).unwrap();
            }
        });
        while !writer.is_finished() {
            let _ = look_tx.try_send(());
            seen.extend(watched.look());
        }
    });
    for _ in 0..10 {
        seen.extend(watched.look());
    }
    for seen in &seen {
        let Seen::Changed { bytes, .. } = seen else {
            panic!("{}", short(seen));
        };
        assert!(whole.starts_with(bytes));
    }
    let last = seen.last().unwrap();
    assert!(matches!(last, Seen::Changed { bytes, .. } if *bytes == whole));
}

#[test]
fn a_file_that_is_removed_is_told_when_it_is_away_at_two_looks() {
    let mut watched = Watched::new();
    watched.write("a.wasm", "one");
    assert_eq!(watched.settle(), ["a.wasm: one"]);
    watched.remove("a.wasm");
    assert_eq!(watched.told(), NOTHING);
    assert_eq!(watched.told(), ["a.wasm removed"]);
    assert_eq!(watched.settle(), NOTHING);
    watched.write("a.wasm", "one");
    assert_eq!(watched.settle(), ["a.wasm: one"]);
}

#[test]
fn a_file_that_is_away_for_a_moment_is_not_removed() {
    let mut watched = Watched::new();
    watched.write("a.wasm", "one");
    assert_eq!(watched.settle(), ["a.wasm: one"]);
    // As editors do: the old one gets another name before there is a new one.
    fs::rename(watched.path("a.wasm"), watched.path("a.wasm~")).unwrap();
    assert_eq!(watched.told(), NOTHING);
    watched.write("a.wasm", "one");
    assert_eq!(watched.settle(), NOTHING);
    watched.remove("a.wasm");
    assert_eq!(watched.told(), NOTHING);
    watched.write("a.wasm", "two");
    assert_eq!(watched.settle(), ["a.wasm: two"]);
}

#[test]
fn a_file_that_was_never_told_is_not_removed_either() {
    let mut watched = Watched::new();
    watched.write("a.wasm", "one");
    assert_eq!(watched.told(), NOTHING);
    watched.remove("a.wasm");
    assert_eq!(watched.settle(), NOTHING);
}

#[test]
fn a_file_that_gets_another_name_is_there_before_it_is_gone() {
    let mut watched = Watched::new();
    watched.write("a.wasm", "one");
    assert_eq!(watched.settle(), ["a.wasm: one"]);
    fs::rename(watched.path("a.wasm"), watched.path("b.wasm")).unwrap();
    assert_eq!(watched.settle(), ["b.wasm: one", "a.wasm removed"]);
    fs::rename(watched.path("b.wasm"), watched.path("a.wasm")).unwrap();
    assert_eq!(watched.settle(), ["a.wasm: one", "b.wasm removed"]);
}
