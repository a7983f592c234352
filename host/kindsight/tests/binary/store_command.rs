//! `kindsight store`, on files and on a real etcd.

use std::path::Path;
use std::process::Output;

use kindsight_cluster::{Binaries, Binary, Etcd};
use kindsight_store::{Batch, EtcdOptions, RedbStore, Store, open};
use serde_json::Value;

use crate::goldens::fill_store;
use crate::process::{run, text};

const SECRET: &str =
    "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {password: aHVudGVyMg==}\n";

/// A file with a recorded application, and a manifest that is a Secret; its address.
fn filled(folder: &Path) -> String {
    fill_store(folder);
    let path = folder.join("store.redb");
    let store = RedbStore::open(&path).unwrap();
    let keys = store.keys("/context/").unwrap().keys;
    let is_manifest = |key: &&String| {
        let below = key.split_once("/resource/").map(|(_, below)| below);
        below.is_some_and(|below| below.matches('/').count() == 1 && below.contains('+'))
    };
    let key = keys.iter().find(is_manifest).expect("a resource");
    let manifest = Value::from(SECRET).to_string();
    store.apply(&Batch::new().put(key, manifest)).unwrap();
    format!("file:{}", path.display())
}

fn store(args: &[&str]) -> Output {
    run(&[&["store"], args].concat(), "")
}

/// The output of a command that succeeded.
fn out(args: &[&str]) -> String {
    let output = store(args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// The error of a command that failed.
fn refused(args: &[&str]) -> String {
    let output = store(args);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    text(&output.stderr)
}

fn entries(address: &str) -> Vec<(String, Vec<u8>)> {
    let store = open(&address.parse().unwrap(), &EtcdOptions::default()).unwrap();
    let entries = store.range("/").unwrap().entries;
    entries
        .into_iter()
        .map(|entry| (entry.key, entry.value))
        .collect()
}

#[test]
fn a_dump_shows_every_key_and_no_content_of_secrets() {
    let folder = tempfile::TempDir::new().unwrap();
    let address = filled(folder.path());
    let dumped = out(&["dump", &address]);
    assert!(!dumped.contains("aHVudGVyMg"), "{dumped}");
    let lines: Vec<Value> = dumped
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let stored = entries(&address);
    assert_eq!(lines.len(), stored.len());
    for (line, (key, value)) in lines.iter().zip(&stored) {
        assert_eq!(line["key"], key.as_str());
        assert!(line["created"].as_u64().unwrap() <= line["changed"].as_u64().unwrap());
        if line["redacted"] == true {
            assert!(line["value"].as_str().unwrap().contains("REDACTED"));
        } else {
            assert_eq!(line["value"].as_str().unwrap().as_bytes(), value);
        }
    }
    assert!(lines.iter().any(|line| line["redacted"] == true));
    let records = out(&["dump", &address, "--prefix", "/kindsight/"]);
    assert!(
        records
            .lines()
            .all(|line| line.contains(r#""key":"/kindsight/"#)),
        "{records}"
    );
}

#[test]
fn a_check_lists_unreadable_keys() {
    let folder = tempfile::TempDir::new().unwrap();
    let address = filled(folder.path());
    let path = folder.path().join("store.redb");
    assert!(out(&["check", &address]).ends_with("; 0 cannot be read\n"));
    let damaged = RedbStore::open(&path).unwrap();
    let root = damaged.keys("/context/").unwrap().keys[0].clone();
    let damage = Batch::new()
        .put(format!("{root}meta/"), "{")
        .put("/kindsight/interpreters/book/", "?");
    damaged.apply(&damage).unwrap();
    drop(damaged);
    let checked = store(&["check", &address]);
    assert_eq!(checked.status.code(), Some(3));
    let said = text(&checked.stdout);
    assert!(said.contains(&format!("{root}meta/: ")), "{said}");
    assert!(said.contains("/kindsight/interpreters/book/: "), "{said}");
    assert!(said.ends_with("; 2 cannot be read\n"), "{said}");
    let missing = refused(&["check", "file:/nowhere/store.redb"]);
    assert!(
        missing.contains("/nowhere/store.redb is no file"),
        "{missing}"
    );
    let unclear = store(&["check", "store.redb"]);
    assert_eq!(unclear.status.code(), Some(2), "{}", text(&unclear.stderr));
}

#[test]
fn a_copy_into_another_file_is_the_same() {
    let folder = tempfile::TempDir::new().unwrap();
    let from = filled(folder.path());
    let to = format!("file:{}", folder.path().join("copy.redb").display());
    let copied = out(&["copy", "--from", &from, "--to", &to]);
    let count = entries(&from).len() - 1;
    assert!(
        copied.starts_with(&format!("{count} keys copied; all ")),
        "{copied}"
    );
    assert_eq!(entries(&to), entries(&from));
    let again = refused(&["copy", "--from", &from, "--to", &to]);
    assert!(again.contains("the target is not empty"), "{again}");
    let again = out(&["copy", "--from", &from, "--to", &to, "--into-existing"]);
    assert!(
        again.starts_with(&format!("0 keys copied, {count} were there; ")),
        "{again}"
    );
}

#[test]
fn a_data_set_moves_to_an_etcd_and_back() {
    let Some(binaries) = Binaries::or_skip(Binary::ETCD) else {
        return;
    };
    let etcd = Etcd::start(&binaries);
    let address = etcd.url().replace("http://", "etcd://");
    let folder = tempfile::TempDir::new().unwrap();
    let from = filled(folder.path());
    out(&["copy", "--from", &from, "--to", &address]);
    assert_eq!(entries(&address), entries(&from));
    assert!(out(&["check", &address]).ends_with("; 0 cannot be read\n"));
    let back = format!("file:{}", folder.path().join("back.redb").display());
    out(&["copy", "--from", &address, "--to", &back]);
    assert_eq!(entries(&back), entries(&from));
    etcd.keys()
        .protect("secret", &[("reader", "word", "/context/")]);
    let denied = refused(&["dump", &address]);
    assert!(
        denied.contains("this etcd requires a user and a password"),
        "{denied}"
    );
    let password = folder.path().join("password");
    std::fs::write(&password, "word\n").unwrap();
    let password = password.display().to_string();
    let user = ["--etcd-user", "reader", "--etcd-password-file", &password];
    let dumped = out(&[&["dump", &address, "--prefix", "/context/"], &user[..]].concat());
    assert!(dumped.lines().count() > 1);
    let denied = refused(&[&["check", &address], &user[..]].concat());
    assert!(denied.contains("the user lacks the permission"), "{denied}");
}
