//! Links: those in a ConfigMap volume, and links with targets outside the folder.

use std::os::unix::fs::symlink;
use std::sync::mpsc::sync_channel;
use std::thread;

use super::*;

/// Mounts a ConfigMap as the kubelet does: each file is a link into `..data`, which is a link to
/// the folder of the current version and is switched in one step.
fn mount(folder: &Path, version: usize, files: &[(&str, &str)]) {
    let before = fs::read_link(folder.join("..data")).ok();
    let versioned = format!("..2026_{version}");
    fs::create_dir(folder.join(&versioned)).unwrap();
    for (file, content) in files {
        fs::write(folder.join(&versioned).join(file), content).unwrap();
    }
    symlink(&versioned, folder.join("..data_tmp")).unwrap();
    fs::rename(folder.join("..data_tmp"), folder.join("..data")).unwrap();
    for (file, _) in files {
        if fs::symlink_metadata(folder.join(file)).is_err() {
            symlink(Path::new("..data").join(file), folder.join(file)).unwrap();
        }
    }
    if let Some(before) = before {
        fs::remove_dir_all(folder.join(before)).unwrap();
    }
}

#[test]
fn the_switch_of_a_config_map_is_one_change() {
    let mut watched = Watched::new();
    let path = watched.path("");
    mount(&path, 1, &[("a.wasm", "one"), ("b.wasm", "one")]);
    assert_eq!(watched.settle(), ["a.wasm: one", "b.wasm: one"]);
    mount(&path, 2, &[("a.wasm", "two"), ("b.wasm", "two")]);
    assert_eq!(watched.reported(), NOTHING);
    assert_eq!(watched.reported(), ["a.wasm: two", "b.wasm: two"]);
    assert_eq!(watched.settle(), NOTHING);
    mount(&path, 3, &[("a.wasm", "two"), ("b.wasm", "six")]);
    assert_eq!(watched.settle(), ["b.wasm: six"]);
    // A key is deleted: for a moment, its link has no target.
    mount(&path, 4, &[("a.wasm", "two")]);
    assert_eq!(watched.reported(), NOTHING);
    watched.remove("b.wasm");
    assert_eq!(watched.settle(), ["b.wasm removed"]);
}

#[test]
fn fifty_switches_are_looked_through() {
    let mut watched = Watched::new();
    let path = watched.path("");
    let contents = |version: usize| (format!("a {version}"), format!("b {version}"));
    let switch = |version| {
        let (a, b) = contents(version);
        mount(&path, version, &[("a.wasm", &a), ("b.wasm", &b)]);
    };
    switch(0);
    let mut reported = watched.settle();
    let (look_tx, looks) = sync_channel(0);
    thread::scope(|scope| {
        let switcher = scope.spawn(|| {
            let looks = looks;
            for version in 1..=50 {
                looks.recv().unwrap();
                switch(version);
            }
        });
        while !switcher.is_finished() {
            let _ = look_tx.try_send(());
            reported.extend(watched.reported());
        }
    });
    reported.extend(watched.settle());
    for file in ["a", "b"] {
        let reported = reported.iter().filter(|text| text.starts_with(file));
        let prefix = format!("{file}.wasm: {file} ");
        let versions = reported.map(|text| {
            text.strip_prefix(&prefix)
                .unwrap_or_else(|| panic!("{text}"))
        });
        let versions: Vec<usize> = versions.map(|text| text.parse().unwrap()).collect();
        assert!(
            versions.is_sorted_by(|one, next| one < next),
            "{versions:?}"
        );
        assert_eq!(versions.last(), Some(&50));
    }
}

#[test]
fn a_link_out_of_the_folder_is_rejected_and_never_read() {
    let mut watched = Watched::new();
    let secret = watched.outside("secret.wasm");
    fs::write(&secret, "secret").unwrap();
    let secret = fs::canonicalize(secret).unwrap();
    symlink(&secret, watched.path("a.wasm")).unwrap();
    symlink("../secret.wasm", watched.path("b.wasm")).unwrap();
    symlink("b.wasm", watched.path("c.wasm")).unwrap();
    symlink("..", watched.path("..up")).unwrap();
    symlink("..up/secret.wasm", watched.path("d.wasm")).unwrap();
    let rejected = ["a", "b", "c", "d"].map(|file| {
        let secret = secret.display();
        format!("{file}.wasm rejected: it is a link to {secret}, which is outside of the folder")
    });
    assert_eq!(watched.reported(), NOTHING);
    assert_eq!(watched.reported(), rejected);
    // The content of the outside file does not matter.
    fs::write(&secret, "another secret").unwrap();
    assert_eq!(watched.settle(), NOTHING);
    watched.put("a.wasm", "one");
    assert_eq!(watched.settle(), ["a.wasm: one"]);
    watched.remove("b.wasm");
    watched.remove("c.wasm");
    assert_eq!(watched.settle(), ["b.wasm removed", "c.wasm removed"]);
}

#[test]
fn a_file_is_reported_again_after_a_link_replaced_it_for_a_while() {
    let mut watched = Watched::new();
    watched.write("a.wasm", "one");
    assert_eq!(watched.settle(), ["a.wasm: one"]);
    watched.remove("a.wasm");
    symlink("/dev/null", watched.path("a.wasm")).unwrap();
    let rejected = "a.wasm rejected: it is a link to /dev/null, which is outside of the folder";
    assert_eq!(watched.settle(), [rejected]);
    watched.put("a.wasm", "one");
    assert_eq!(watched.settle(), ["a.wasm: one"]);
}

#[test]
fn a_link_that_stays_within_the_folder_is_followed() {
    let mut watched = Watched::new();
    fs::create_dir(watched.path("builds")).unwrap();
    watched.write("builds/7", "seven");
    symlink(watched.path("builds/7"), watched.path("a.wasm")).unwrap();
    symlink("builds/../a.wasm", watched.path("b.wasm")).unwrap();
    assert_eq!(watched.settle(), ["a.wasm: seven", "b.wasm: seven"]);
    watched.write("builds/7", "SEVEN");
    assert_eq!(watched.settle(), ["a.wasm: SEVEN", "b.wasm: SEVEN"]);
}

#[test]
fn a_broken_link_is_rejected_until_its_target_exists() {
    let mut watched = Watched::new();
    symlink("builds/8", watched.path("a.wasm")).unwrap();
    symlink("b.wasm", watched.path("b.wasm")).unwrap();
    let reported = watched.settle();
    let [a, b] = reported.as_slice() else {
        panic!("{reported:?}");
    };
    let nowhere = "a.wasm rejected: it is a link to builds/8, which cannot be followed: ";
    assert!(a.starts_with(nowhere), "{a}");
    let loops = "b.wasm rejected: it is a link to b.wasm, which cannot be followed: ";
    assert!(b.starts_with(loops), "{b}");
    fs::create_dir(watched.path("builds")).unwrap();
    watched.write("builds/8", "eight");
    assert_eq!(watched.settle(), ["a.wasm: eight"]);
}

#[test]
fn a_link_that_leads_nowhere_is_not_reported_while_the_folder_changes() {
    let mut watched = Watched::new();
    symlink("..data/a.wasm", watched.path("a.wasm")).unwrap();
    for turn in 0..5 {
        watched.write(&format!("..{turn}"), "a step of a switch");
        assert_eq!(watched.reported(), NOTHING);
    }
    assert_eq!(watched.settle().len(), 1);
}

#[test]
fn a_link_that_is_switched_out_of_the_folder_at_any_moment_leads_nowhere_else() {
    let mut watched = Watched::new();
    let (path, outside) = (watched.path(""), watched.outside("outside"));
    for folder in [&path.join("..inside"), &outside] {
        fs::create_dir(folder).unwrap();
    }
    fs::write(path.join("..inside/a.wasm"), "inside").unwrap();
    fs::write(outside.join("a.wasm"), "secret").unwrap();
    // Switches the file itself, and a folder on the path to another file.
    let switch = |link: &str, target: &Path| {
        symlink(target, path.join("..tmp")).unwrap();
        fs::rename(path.join("..tmp"), path.join(link)).unwrap();
    };
    let switch_all = |is_inside: bool| {
        let target = if is_inside {
            Path::new("..inside")
        } else {
            &outside
        };
        switch("a.wasm", &target.join("a.wasm"));
        switch("..data", target);
    };
    switch_all(true);
    symlink("..data/a.wasm", path.join("b.wasm")).unwrap();
    let mut reported = watched.settle();
    assert_eq!(reported, ["a.wasm: inside", "b.wasm: inside"]);
    thread::scope(|scope| {
        let switcher = scope.spawn(|| {
            for turn in 0..500 {
                switch_all(turn % 2 == 1);
            }
        });
        while !switcher.is_finished() {
            reported.extend(watched.reported());
        }
    });
    reported.extend(watched.settle());
    for reported in &reported {
        let is_right =
            reported.ends_with(": inside") || reported.contains(" rejected: it is a link to ");
        assert!(is_right, "{reported}");
    }
    watched.write("..inside/a.wasm", "changed");
    assert_eq!(watched.settle(), ["a.wasm: changed", "b.wasm: changed"]);
}

#[test]
fn the_folder_may_itself_be_a_link_that_is_switched() {
    let mut watched = Watched::new();
    let link = watched.outside("current");
    for release in ["release-1", "release-2"] {
        fs::create_dir(watched.outside(release)).unwrap();
        fs::write(watched.outside(release).join("a.wasm"), release).unwrap();
    }
    symlink("release-1", &link).unwrap();
    watched.folder = Folder::new(link.clone(), options(BYTES_MAX));
    assert_eq!(watched.settle(), ["a.wasm: release-1"]);
    fs::remove_file(&link).unwrap();
    symlink("release-2", &link).unwrap();
    assert_eq!(watched.settle(), ["a.wasm: release-2"]);
}
