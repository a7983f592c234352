//! `kindsight backup` and `kindsight restore`, on folders and on a real etcd.

use std::path::Path;
use std::process::Output;

use kindsight_cluster::{Binaries, Binary, Etcd};
use serde_json::Value;

use crate::interpreters::stage::{CRANE, STATUS, Stage, crane, judged, version, wait_for};
use crate::process::{Server, run, text};

/// Runs a command that must succeed; returns its output.
fn out(args: &[&str]) -> String {
    let output = run(args, "");
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// The error of a command that failed.
fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    text(&output.stderr)
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The part of an answer about an interpreter that a backup keeps.
fn kept(server: &Server) -> [Value; 3] {
    let (status, mut answer) = server.get(CRANE);
    assert_eq!(status, 200, "{answer}");
    ["status", "versions", "history"].map(|key| answer[key].take())
}

/// The transitions of the application, which a backup keeps.
fn history(server: &Server) -> Value {
    let args = ["history", "--server", &server.url, "-o", "json"];
    let answer = out(&[&args[..], &["port/quay/v1/cranes"]].concat());
    serde_json::from_str(&answer).unwrap()
}

#[test]
fn a_restored_server_has_the_application_its_history_and_the_uploaded_interpreters() {
    let stage = Stage::new(2);
    let server = stage.serve();
    let (first, second) = (crane(), version(2));
    for component in [first, &second] {
        assert_eq!(server.put(CRANE, component).0, 200);
        wait_for(&server, component);
    }
    let before = (judged(&server), kept(&server), history(&server));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kindsight.backup");
    let back_up = ["backup", path(&file), "--data-dir", path(stage.data())];
    let running = refused(&run(&back_up, ""));
    let way_out = "store.redb is in use by another process: stop the server that uses it, and start the server again after the command";
    assert!(running.contains(way_out), "{running}");
    assert!(server.stop());
    let written = out(&back_up);
    assert!(written.starts_with("backed up "), "{written}");
    assert!(
        out(&["store", "check", &format!("file:{}", path(&file))]).contains("0 cannot be read")
    );

    stage.lose_data();
    let restore = ["restore", path(&file), "--data-dir", path(stage.data())];
    let restored = out(&restore);
    let counts = |line: &str| {
        line.split_once(' ')
            .unwrap()
            .1
            .split_once(' ')
            .unwrap()
            .1
            .to_owned()
    };
    assert!(written.ends_with(&counts(&restored)), "{written}{restored}");
    let again = refused(&run(&restore, ""));
    assert!(again.contains("is not empty, it contains `"), "{again}");
    let server = stage.serve();
    wait_for(&server, &second);
    assert_eq!((judged(&server), kept(&server), history(&server)), before);
    assert_eq!(server.get(STATUS).0, 200);
}

#[test]
fn the_state_in_an_etcd_is_backed_up_while_a_server_runs() {
    let Some(binaries) = Binaries::or_skip(Binary::ETCD) else {
        return;
    };
    let (one, other) = (Etcd::start(&binaries), Etcd::start(&binaries));
    let address = |etcd: &Etcd| etcd.url().replace("http://", "etcd://");
    let (one, other) = (address(&one), address(&other));
    let folder = tempfile::tempdir().unwrap();
    let (data, file) = (folder.path().join("data"), folder.path().join("backup"));
    let component = version(2);
    let server = Server::start_with(&data, &[], &["--store", &one]);
    assert_eq!(server.put(CRANE, &component).0, 200);
    let written = out(&["backup", path(&file), "--store", &one]);
    assert!(
        written.ends_with(" and 0 keys of the last-known state\n"),
        "{written}"
    );
    let with_folder = [
        "backup",
        "other",
        "--store",
        &one,
        "--data-dir",
        path(&data),
    ];
    let locked = refused(&run(&with_folder, ""));
    assert!(
        locked.contains("remembered.redb is in use by another process"),
        "{locked}"
    );
    drop(server);

    let restore = ["restore", path(&file), "--store", &other];
    let restored = out(&restore);
    assert!(
        restored.ends_with(" and 0 keys of the last-known state\n"),
        "{restored}"
    );
    let again = refused(&run(&restore, ""));
    assert!(again.contains("the target is not empty"), "{again}");
    let server = Server::start_with(&data, &[], &["--store", &other]);
    let (status, crane) = server.get(CRANE);
    assert_eq!(status, 200, "{crane}");
}
