//! The ways in which programs write files.

use std::fs::File;
use std::io::Write as _;
use std::sync::mpsc::sync_channel;
use std::thread;

use super::*;

#[test]
fn a_new_file_is_reported_when_it_is_the_same_at_two_looks() {
    let mut watched = Watched::new();
    assert_eq!(watched.reported(), NOTHING);
    watched.write("b.wasm", "two");
    watched.write("a.wasm", "one");
    for other in ["README", ".a.wasm", "..data.wasm", "a.wasm~", "a.wasm.part"] {
        watched.write(other, "nonsense");
    }
    fs::create_dir(watched.path("sub")).unwrap();
    watched.write("sub/c.wasm", "three");
    assert_eq!(watched.reported(), NOTHING);
    assert_eq!(watched.reported(), ["a.wasm: one", "b.wasm: two"]);
    assert_eq!(watched.settle(), NOTHING);
}

#[test]
fn files_from_before_the_first_look_are_reported() {
    let mut watched = Watched::new();
    watched.write("a.wasm", "one");
    assert_eq!(watched.settle(), ["a.wasm: one"]);
}

#[test]
fn a_file_that_is_replaced_by_rename_is_reported() {
    let mut watched = Watched::new();
    for content in ["one", "two", "six"] {
        watched.put("a.wasm", content);
        assert_eq!(watched.settle(), [format!("a.wasm: {content}")]);
    }
    // A file of the same size and age.
    watched.write(".b.wasm", "ten");
    let modified = fs::metadata(watched.path("a.wasm")).unwrap().modified();
    let unfinished = File::options().write(true).open(watched.path(".b.wasm"));
    unfinished.unwrap().set_modified(modified.unwrap()).unwrap();
    fs::rename(watched.path(".b.wasm"), watched.path("a.wasm")).unwrap();
    assert_eq!(watched.settle(), ["a.wasm: ten"]);
}

#[test]
fn a_file_that_is_overwritten_in_place_is_reported() {
    let mut watched = Watched::new();
    watched.write("a.wasm", "one");
    assert_eq!(watched.settle(), ["a.wasm: one"]);
    watched.write("a.wasm", "longer");
    assert_eq!(watched.settle(), ["a.wasm: longer"]);
    // The content changes, but the size stays the same and the old modification time is restored.
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
fn the_same_bytes_again_are_not_reported() {
    let mut watched = Watched::new();
    watched.write("a.wasm", "one");
    assert_eq!(watched.settle(), ["a.wasm: one"]);
    watched.write("a.wasm", "one");
    assert_eq!(watched.settle(), NOTHING);
    watched.put("a.wasm", "one");
    assert_eq!(watched.settle(), NOTHING);
    // Changed and changed back between two looks.
    watched.put("a.wasm", "two");
    watched.put("a.wasm", "one");
    assert_eq!(watched.settle(), NOTHING);
}

#[test]
fn a_file_that_is_truncated_and_written_is_reported_when_it_is_written() {
    let mut watched = Watched::new();
    watched.write("a.wasm", "one");
    assert_eq!(watched.settle(), ["a.wasm: one"]);
    let mut file = File::create(watched.path("a.wasm")).unwrap();
    assert_eq!(watched.reported(), NOTHING);
    file.write_all(b"two").unwrap();
    assert_eq!(watched.settle(), ["a.wasm: two"]);
}

#[test]
fn a_growing_file_is_reported_once_it_is_stable_and_delays_no_other_file() {
    let mut watched = Watched::new();
    watched.write("b.wasm", "other");
    let mut file = File::create(watched.path("a.wasm")).unwrap();
    let mut reported = Vec::new();
    for _ in 0..20 {
        file.write_all(b"part ").unwrap();
        reported.extend(watched.reported());
    }
    assert_eq!(reported, ["b.wasm: other"]);
    let whole = "part ".repeat(20);
    assert_eq!(watched.settle(), [format!("a.wasm: {whole}")]);
}

#[test]
fn a_writer_that_pauses_for_long_is_reported_twice() {
    let mut watched = Watched::new();
    let mut file = File::create(watched.path("a.wasm")).unwrap();
    file.write_all(b"ha").unwrap();
    assert_eq!(watched.settle(), ["a.wasm: ha"]);
    file.write_all(b"lf").unwrap();
    assert_eq!(watched.settle(), ["a.wasm: half"]);
    assert_eq!(watched.settle(), NOTHING);
}

#[test]
fn of_a_file_that_is_written_slowly_the_last_that_is_reported_is_the_whole() {
    let mut watched = Watched::new();
    let whole: Vec<u8> = (0..1_u32 << 18).flat_map(u32::to_le_bytes).collect();
    let path = watched.path("a.wasm");
    let (look_tx, looks) = sync_channel(0);
    let mut changes = Vec::new();
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let looks = looks;
            let mut file = File::create(path).unwrap();
            for part in whole.chunks(1 << 14) {
                // As slow as the looks.
                looks.recv().unwrap();
                file.write_all(part).unwrap();
            }
        });
        while !writer.is_finished() {
            let _ = look_tx.try_send(());
            changes.extend(watched.look());
        }
    });
    for _ in 0..10 {
        changes.extend(watched.look());
    }
    changes.retain(|change| *change != Change::Complete);
    for change in &changes {
        let Change::Changed { bytes, .. } = change else {
            panic!("{}", short(change));
        };
        assert!(whole.starts_with(bytes));
    }
    let last = changes.last().unwrap();
    assert!(matches!(last, Change::Changed { bytes, .. } if *bytes == whole));
}

#[test]
fn a_file_that_is_removed_is_reported_when_it_is_away_at_two_looks() {
    let mut watched = Watched::new();
    watched.write("a.wasm", "one");
    assert_eq!(watched.settle(), ["a.wasm: one"]);
    watched.remove("a.wasm");
    assert_eq!(watched.reported(), NOTHING);
    assert_eq!(watched.reported(), ["a.wasm removed"]);
    assert_eq!(watched.settle(), NOTHING);
    watched.write("a.wasm", "one");
    assert_eq!(watched.settle(), ["a.wasm: one"]);
}

#[test]
fn a_file_that_is_away_for_a_moment_is_not_removed() {
    let mut watched = Watched::new();
    watched.write("a.wasm", "one");
    assert_eq!(watched.settle(), ["a.wasm: one"]);
    // Editors rename the old file before they create a new one.
    fs::rename(watched.path("a.wasm"), watched.path("a.wasm~")).unwrap();
    assert_eq!(watched.reported(), NOTHING);
    watched.write("a.wasm", "one");
    assert_eq!(watched.settle(), NOTHING);
    watched.remove("a.wasm");
    assert_eq!(watched.reported(), NOTHING);
    watched.write("a.wasm", "two");
    assert_eq!(watched.settle(), ["a.wasm: two"]);
}

#[test]
fn a_file_that_was_never_reported_is_not_removed_either() {
    let mut watched = Watched::new();
    watched.write("a.wasm", "one");
    assert_eq!(watched.reported(), NOTHING);
    watched.remove("a.wasm");
    assert_eq!(watched.settle(), NOTHING);
}

#[test]
fn a_renamed_file_is_added_before_the_old_name_is_removed() {
    let mut watched = Watched::new();
    watched.write("a.wasm", "one");
    assert_eq!(watched.settle(), ["a.wasm: one"]);
    fs::rename(watched.path("a.wasm"), watched.path("b.wasm")).unwrap();
    assert_eq!(watched.settle(), ["b.wasm: one", "a.wasm removed"]);
    fs::rename(watched.path("b.wasm"), watched.path("a.wasm")).unwrap();
    assert_eq!(watched.settle(), ["a.wasm: one", "b.wasm removed"]);
}

#[test]
fn the_listing_is_complete_when_every_file_was_reported() {
    let mut watched = Watched::with_limit(10);
    let short_of =
        |watched: &mut Watched| -> Vec<String> { watched.look().iter().map(short).collect() };
    for file in ["a.wasm", "b.wasm", "c.wasm"] {
        watched.write(file, "six...");
    }
    assert_eq!(short_of(&mut watched), NOTHING);
    assert_eq!(short_of(&mut watched), ["a.wasm: six..."]);
    assert_eq!(short_of(&mut watched), ["b.wasm: six..."]);
    assert_eq!(short_of(&mut watched), ["c.wasm: six...", "complete"]);
    watched.write("d.wasm", "new");
    assert_eq!(watched.settle(), ["d.wasm: new"]);
    // The same again after the folder was absent, with files that were removed in that time.
    let (path, away) = (watched.path(""), watched.outside("away"));
    fs::rename(&path, &away).unwrap();
    assert_eq!(watched.settle().len(), 1);
    fs::remove_file(away.join("a.wasm")).unwrap();
    fs::rename(&away, &path).unwrap();
    assert_eq!(short_of(&mut watched), ["available"]);
    assert_eq!(short_of(&mut watched), ["a.wasm removed", "complete"]);
}

#[test]
fn an_empty_folder_is_complete_at_once() {
    let mut watched = Watched::new();
    assert_eq!(watched.look(), [Change::Complete]);
    assert_eq!(watched.look(), []);
}

#[test]
fn a_file_that_is_never_quiet_does_not_keep_the_listing_from_being_complete() {
    let mut watched = Watched::new();
    watched.write("b.wasm", "other");
    let begin = watched.now;
    let mut file = File::create(watched.path("a.wasm")).unwrap();
    let mut changes = Vec::new();
    while changes.last() != Some(&Change::Complete) {
        file.write_all(b"part ").unwrap();
        changes.extend(watched.look());
        assert!(watched.now < begin + Duration::from_secs(5));
    }
    assert_eq!(changes.len(), 2);
    assert_eq!(short(&changes[0]), "b.wasm: other");
}

#[test]
fn looks_that_follow_each_other_at_once_do_not_make_a_file_count() {
    let mut watched = Watched::new();
    watched.write("a.wasm", "one");
    watched.look();
    for _ in 0..3 {
        watched.now += PAUSE / 4;
        assert_eq!(watched.folder.look(watched.now), []);
    }
    watched.now += PAUSE / 4;
    assert_eq!(short(&watched.folder.look(watched.now)[0]), "a.wasm: one");
}

#[test]
fn content_that_its_owner_needs_again_is_reported_again() {
    let mut watched = Watched::new();
    watched.write("a.wasm", "one");
    assert_eq!(watched.settle(), ["a.wasm: one"]);
    watched.folder.report_again("a.wasm");
    watched.folder.report_again("b.wasm");
    assert_eq!(watched.reported(), ["a.wasm: one"]);
    assert_eq!(watched.settle(), NOTHING);
}

#[test]
fn files_that_went_before_the_first_look_are_removed_when_somebody_remembers_them() {
    let mut watched = Watched::with_limit(10);
    watched.write("b.wasm", "six...");
    watched.write("c.wasm", "six...");
    fs::write(watched.outside("d.wasm"), "outside").unwrap();
    let remembered = ["a.wasm", "b.wasm", "README", "../d.wasm"].map(str::to_owned);
    watched.folder.remember(remembered, watched.now);
    assert_eq!(watched.reported(), NOTHING);
    assert!(!watched.folder.is_gone("a.wasm"));
    // The replacement is reported first, even if this takes some time.
    assert_eq!(watched.reported(), ["b.wasm: six..."]);
    assert!(watched.folder.is_gone("a.wasm"));
    assert_eq!(watched.reported(), ["c.wasm: six...", "a.wasm removed"]);
    assert_eq!(watched.settle(), NOTHING);
    watched.folder.remember(["b.wasm".to_owned()], watched.now);
    assert_eq!(watched.settle(), NOTHING);
}
