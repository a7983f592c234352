//! Starts of `serve` over stores that earlier releases wrote, and over stores of newer releases.
//! `old_stores/README.md` describes the files.

use std::fs::File;
use std::io;
use std::path::Path;

use flate2::read::GzDecoder;
use kindsight_store::{Batch, RedbStore, Store};
use serde_json::Value;

use crate::interpreters::stage::{Stage, judged};
use crate::process::{Server, run, text};

/// A data folder of an earlier release.
struct OldFolder {
    /// File of the store.
    store: &'static str,
    /// Version of its layout.
    version: u64,
    /// File of the last-known state, which early releases did not have.
    last_known: Option<&'static str>,
}

const STORES: [OldFolder; 4] = [
    OldFolder {
        store: "store-1-interpreters-1",
        version: 1,
        last_known: None,
    },
    OldFolder {
        store: "store-1-interpreters-2",
        version: 1,
        last_known: None,
    },
    OldFolder {
        store: "store-1-interpreters-3",
        version: 1,
        last_known: Some("store-1-last-known-1"),
    },
    OldFolder {
        store: "store-2-interpreters-3",
        version: 2,
        last_known: Some("store-2-last-known-1"),
    },
];

/// Writes a file of an earlier release into a data folder.
fn unpack(name: &str, to: &Path) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/binary/old_stores");
    let packed = File::open(folder.join(format!("{name}.redb.gz"))).unwrap();
    let mut file = File::create(to).unwrap();
    io::copy(&mut GzDecoder::new(packed), &mut file).unwrap();
}

fn json(store: &dyn Store, key: &str) -> Value {
    let value = store.get(key).unwrap();
    serde_json::from_slice(&value.unwrap_or_else(|| panic!("{key}"))).unwrap()
}

/// Runs a command against a server; returns its output, which must be JSON.
fn answer(server: &Server, args: &[&str]) -> Value {
    let output = run(
        &[args, &["--server", &server.url, "-o", "json"]].concat(),
        "",
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Starts the present release over a stage whose data folder is of an earlier release, and checks everything in it.
fn check(stage: &Stage, old: &OldFolder) {
    let reports = tempfile::tempdir().unwrap();
    let found = format!("p+c={}", reports.path().display());
    let server = stage.serve_with(&["--cluster", &found]);
    let crane = judged(&server);
    assert_eq!((&*crane.interpreter, &*crane.version), ("crane", "1.0.0"));
    assert_eq!(crane.state, "Ready", "the settings are in effect");

    let crane = server.get("/v2/interpreters/crane").1;
    let versions = crane["versions"].as_array().unwrap();
    let versions: Vec<_> = versions
        .iter()
        .map(|version| (version["version"].as_str(), version["outcome"].as_str()))
        .collect();
    let expected = [
        (Some("2.0.0"), Some("rolled-back")),
        (Some("1.0.0"), Some("live")),
    ];
    assert_eq!(versions, expected, "{}", old.store);
    assert_eq!(crane["versions"][0]["why"], "it was worse", "{crane}");
    let history = crane["history"].as_array().unwrap();
    let actions: Vec<_> = history
        .iter()
        .map(|event| event["action"].as_str().unwrap())
        .collect();
    assert_eq!(actions, ["settings", "rollback", "load", "load"]);
    let disabled = server.get("/v2/interpreters/batch").1;
    assert_eq!(disabled["status"], "disabled", "{disabled}");

    if old.last_known.is_some() {
        let history = answer(&server, &["history", "web/shop"]);
        let transitions = history["transitions"].as_array().unwrap();
        let oldest = transitions.last().unwrap();
        assert_eq!(oldest["id"], 7, "{history}");
        assert_eq!(oldest["to"]["state"], "Failed", "{history}");
        // The folder of the cluster is empty, so the last-known state changes.
        let is_gone = |transition: &Value| {
            transition["name"] == "front"
                && transition["from"]["state"] == "Failed"
                && transition["to"]["state"] == "NotPresent"
        };
        assert!(transitions.iter().any(is_gone), "{history}");
    }
    assert!(server.stop());
}

#[test]
fn a_store_of_every_earlier_release_is_read_upgraded_and_read_again() {
    for old in &STORES {
        let stage = Stage::new(2);
        let store = stage.data().join("store.redb");
        unpack(old.store, &store);
        if let Some(last_known) = old.last_known {
            unpack(last_known, &stage.data().join("remembered.redb"));
        }
        let version = |file: &Path| {
            let store = RedbStore::open_existing(file).unwrap();
            json(&store, "/kindsight/format/")["version"].as_u64()
        };
        assert_eq!(version(&store), Some(old.version));
        check(&stage, old);
        assert_eq!(version(&store), Some(2), "{}", old.store);
        let upgraded = RedbStore::open_existing(&store).unwrap();
        let head = json(&upgraded, "/kindsight/interpreters/book/");
        assert_eq!(head["format"], 3, "{}", old.store);
        drop(upgraded);
        check(&stage, old);
        let address = format!("file:{}", store.display());
        let checked = text(&run(&["store", "check", &address], "").stdout);
        assert!(checked.ends_with("; 0 cannot be read\n"), "{checked}");
    }
}

#[test]
fn a_store_of_a_newer_release_is_refused_with_both_versions_and_a_correction() {
    for (key, value, expected) in [
        (
            "/kindsight/format/",
            r#"{"version":3}"#,
            "`/kindsight/format/` has version 3, this release supports versions up to 2: use the release that wrote it, or restore a backup that an earlier release made",
        ),
        (
            "/kindsight/interpreters/book/",
            r#"{"format":4}"#,
            "the catalog of interpreters has format 4, this release supports up to 3: use the release that wrote it, or a later one",
        ),
    ] {
        let stage = Stage::new(1);
        let store = RedbStore::open(&stage.data().join("store.redb")).unwrap();
        store.apply(&Batch::new().put(key, value)).unwrap();
        drop(store);
        let data = stage.data().to_str().unwrap();
        let output = run(
            &["serve", "--listen", "127.0.0.1:0", "--data-dir", data],
            "",
        );
        assert_eq!(output.status.code(), Some(1));
        let refused = text(&output.stderr);
        assert!(refused.contains(expected), "{refused}");
    }
}
