//! An author's interpreter for an invented Kind: dropped into the directory of a running host,
//! replaced, rolled back and removed.

use std::fs;

use super::stage::{
    CRANE, STATUS, Stage, crane, digest, judged, resources, version, wait_for, wait_for_generic,
    wait_until,
};

#[test]
fn a_new_kind_with_a_new_state_shows_in_the_answer() {
    let stage = Stage::new(3);
    let server = stage.serve();
    wait_for_generic(&server);

    stage.put("crane.wasm", crane());
    let judged_v1 = wait_for(&server, crane());
    assert_eq!(judged_v1.state, "Draining");
    assert_eq!(
        (judged_v1.interpreter.as_str(), judged_v1.version.as_str()),
        ("crane", "1.0.0")
    );
    let answer = server.get(STATUS).1;
    assert_eq!(answer["cluster-status"]["Draining"], 3, "{answer}");
    let resource = &resources(&answer)[0];
    assert_eq!(resource["phase"], "pending");
    assert_eq!(resource["message"], "it finishes its work");
    let since = resource["since"].as_str().unwrap();
    assert!(since.ends_with('Z'), "{since}");
    let detail = server.get(CRANE).1;
    assert_eq!(detail["status"], "live", "{detail}");
    assert_eq!(detail["source"], "directory");
    assert_eq!(detail["kinds"][0]["pattern"], "example.com/*/Crane");

    let v2 = version(2);
    stage.put("crane.wasm", &v2);
    assert_eq!(wait_for(&server, &v2).state, "Parked");
    assert_eq!(server.get(STATUS).1["cluster-status"]["Parked"], 3);

    let (status, outcome) = server.post(&format!("{CRANE}/rollback"), "");
    assert_eq!((status, &outcome["status"]), (200, &"live".into()));
    assert_eq!(outcome["digest"], digest(crane()), "{outcome}");
    assert_eq!(wait_for(&server, crane()).state, "Draining");
    let versions = server.get(CRANE).1["versions"].clone();
    let of = |digest: &str| {
        let mut versions = versions.as_array().unwrap().iter();
        versions
            .find(|version| version["digest"] == digest)
            .unwrap()
            .clone()
    };
    assert_eq!(of(&digest(&v2))["outcome"], "rolled-back", "{versions}");
    assert_eq!(of(&digest(crane()))["outcome"], "live", "{versions}");

    // The file is still there. A server that starts handles it as new, and refuses it with a note.
    assert!(server.stop());
    let server = stage.serve();
    assert_eq!(judged(&server).state, "Draining");
    wait_until("the note", || stage.note("crane.wasm").is_some());
    let note = stage.note("crane.wasm").unwrap();
    assert!(note.contains("were rolled back"), "{note}");
    assert_eq!(judged(&server).digest, digest(crane()));

    fs::remove_file(stage.file("crane.wasm")).unwrap();
    wait_for_generic(&server);
    wait_until("no note", || stage.note("crane.wasm").is_none());
    let detail = server.get(CRANE).1;
    assert_eq!(detail["status"], "none", "{detail}");
    let actions = detail["history"].as_array().unwrap().iter();
    let actions: Vec<_> = actions
        .map(|entry| entry["action"].as_str().unwrap())
        .collect();
    assert_eq!(actions, ["remove", "refuse", "rollback", "load", "load"]);
    assert!(server.stop());
}
