//! The watched directory, with every usual way to write files.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::stage::{
    CRANE, Stage, crane, digest, judged, named, pause, version, wait_for, wait_for_generic,
    wait_until,
};

#[test]
fn garbage_is_refused_beside_the_file_until_a_good_one_takes_its_place() {
    let stage = Stage::new(1);
    let server = stage.serve();
    fs::write(stage.file("tower.wasm"), "garbage").unwrap();
    wait_until("the note", || stage.note("tower.wasm").is_some());
    let note = stage.note("tower.wasm").unwrap();
    assert!(note.starts_with("tower.wasm is refused"), "{note}");
    assert!(note.contains("validated: "), "{note}");
    let list = server.get("/v2/interpreters").1;
    assert_eq!(list["refused"][0]["file"], "tower.wasm", "{list}");
    assert_eq!(list["refused"][0]["step"], "validated", "{list}");
    assert_eq!(
        server.get("/v2/interpreters/tower").0,
        404,
        "no name is left"
    );
    wait_for_generic(&server);
    stage.put("tower.wasm", &named("tower", 1, "Tower"));
    wait_until("the tower", || {
        server.get("/v2/interpreters/tower").1["status"] == "live"
    });
    wait_until("no note", || stage.note("tower.wasm").is_none());
    assert_eq!(server.get("/healthz").0, 200);
    assert!(server.stop());
}

#[test]
fn a_file_that_is_too_large_is_in_the_list_of_refusals() {
    let stage = Stage::new(1);
    let server = stage.serve_with(&["--component-bytes-max", "2000000"]);
    fs::write(stage.file("tower.wasm"), vec![0; 2_000_001]).unwrap();
    wait_until("the note", || stage.note("tower.wasm").is_some());
    let refused = &server.get("/v2/interpreters").1["refused"][0];
    assert_eq!(refused["file"], "tower.wasm");
    let why = refused["why"].as_str().unwrap();
    assert!(why.contains("--component-bytes-max"), "{why}");
    assert!(server.stop());
}

#[test]
fn a_file_that_fails_on_a_reported_object_is_refused() {
    let stage = Stage::new(3);
    stage.report_doing(1, "panic");
    let server = stage.serve();
    stage.put("crane.wasm", crane());
    wait_for(&server, crane());
    stage.put("crane.wasm", &version(2));
    wait_until("the note", || stage.note("crane.wasm").is_some());
    let why = "tried: its calls for 3 of the 3 known objects that it was tried on end in a fault";
    let note = stage.note("crane.wasm").unwrap();
    assert!(note.contains(why), "{note}");
    let list = server.get("/v2/interpreters").1;
    assert_eq!(list["refused"][0]["file"], "crane.wasm", "{list}");
    assert_eq!(judged(&server).digest, digest(crane()), "it continues");
    assert!(server.stop());

    // A restart lists the clusters before it tries the file.
    let server = stage.serve();
    wait_until("the refusal", || {
        let list = server.get("/v2/interpreters").1;
        let refused = list["refused"][0]["why"].as_str().unwrap_or_default();
        refused.starts_with("its calls for 3 of the 3 known objects")
    });
    assert_eq!(judged(&server).digest, digest(crane()), "it continues");
    assert!(server.stop());

    let server = stage.serve_with(&["--promote-max-faults", "3"]);
    wait_for(&server, &version(2));
    assert!(server.stop());
}

#[test]
fn every_way_of_writing_a_file_is_handled() {
    let stage = Stage::new(2);
    let server = stage.serve();
    let file = stage.file("crane.wasm");
    stage.put("crane.wasm", crane());
    wait_for(&server, crane());

    // Truncated and written in place.
    let v2 = version(2);
    fs::write(&file, &v2).unwrap();
    wait_for(&server, &v2);

    // Written slowly, with pauses shorter than the settling time and one longer pause. At the longer pause, half a
    // file is refused, and the live version does not change.
    let v3 = version(3);
    let mut slow = File::create(&file).unwrap();
    let (first, second) = v3.split_at(v3.len() / 2);
    for part in first.chunks(first.len().div_ceil(5)) {
        slow.write_all(part).unwrap();
        pause(200);
        assert_eq!(judged(&server).digest, digest(&v2));
    }
    wait_until("half a file is refused", || {
        assert_eq!(judged(&server).digest, digest(&v2));
        stage.note("crane.wasm").is_some()
    });
    slow.write_all(second).unwrap();
    drop(slow);
    wait_for(&server, &v3);
    wait_until("no note", || stage.note("crane.wasm").is_none());

    // As the kubelet writes a ConfigMap.
    let v4 = version(4);
    configure(&stage, "..2026_11_21", &v4);
    symlink("..data/crane.wasm", stage.elsewhere("link")).unwrap();
    fs::rename(stage.elsewhere("link"), &file).unwrap();
    wait_for(&server, &v4);
    let v5 = version(5);
    configure(&stage, "..2026_11_22", &v5);
    fs::remove_dir_all(stage.file("..2026_11_21")).unwrap();
    wait_for(&server, &v5);

    fs::remove_file(&file).unwrap();
    wait_for_generic(&server);
    assert!(server.stop());
}

/// A version of the crane's interpreter whose schema requires a setting of this name.
fn with_setting(number: usize, setting: &str) -> Vec<u8> {
    let schema = json!({"type": "object", "required": [setting], "additionalProperties": false, "properties": {setting: {"type": "integer"}}});
    let description = json!({
        "name": "crane",
        "version": format!("{number}.0.0"),
        "kinds": [["example.com", "*", "Crane"]],
        "states": ["Parked"],
        "settings-schema": schema.to_string(),
    });
    kindsight_tests::hostile(&description.to_string())
}

/// A rename of a setting, as the kubelet writes a ConfigMap, and with one file after the other.
#[test]
fn a_component_and_the_settings_beside_it_are_swapped_together() {
    let stage = Stage::new(1);
    let server = stage.serve();
    let settings = || server.get(CRANE).1["settings"].clone();
    let v2 = with_setting(2, "level");
    stage.put("crane.wasm", &v2);
    wait_for(&server, &v2);
    stage.put("crane.settings.yaml", b"level: high\n");
    wait_until("the note", || stage.note("crane.wasm").is_some());
    let note = stage.note("crane.wasm").unwrap();
    assert!(
        note.contains("\"high\" is not of type \"integer\" at `/level`"),
        "{note}"
    );
    stage.put("crane.settings.yaml", b"# metres\nlevel: 3\n");
    wait_until("the settings", || settings() == json!({"level": 3}));
    wait_until("no note", || stage.note("crane.wasm").is_none());
    let place = &server.get(CRANE).1["settings-declared-in"];
    assert_eq!(place, "`crane.settings.yaml` of the watched directory");
    let (status, refused) = server.put_json(&format!("{CRANE}/settings"), r#"{"level": 4}"#);
    assert_eq!(status, 409, "{refused}");

    // The settings of the next version arrive first, and wait for it.
    stage.put("crane.settings.yaml", b"height: 9\n");
    wait_until("the note", || stage.note("crane.wasm").is_some());
    assert_eq!(settings(), json!({"level": 3}));
    let v3 = with_setting(3, "height");
    stage.put("crane.wasm", &v3);
    wait_for(&server, &v3);
    assert_eq!(settings(), json!({"height": 9}));

    // Both change in one step.
    let folder = stage.file("..2026_11_27");
    fs::create_dir(&folder).unwrap();
    let v4 = with_setting(4, "depth");
    fs::write(folder.join("crane.wasm"), &v4).unwrap();
    fs::write(folder.join("crane.settings.yaml"), "depth: 1\n").unwrap();
    symlink("..2026_11_27", stage.file("..data")).unwrap();
    for file in ["crane.wasm", "crane.settings.yaml"] {
        symlink(format!("..data/{file}"), stage.elsewhere(file)).unwrap();
        fs::rename(stage.elsewhere(file), stage.file(file)).unwrap();
    }
    wait_for(&server, &v4);
    assert_eq!(settings(), json!({"depth": 1}));
    assert!(server.stop());

    // A restart finds the same files, and changes nothing.
    let server = stage.serve();
    wait_for(&server, &v4);
    assert_eq!(server.get(CRANE).1["settings"], json!({"depth": 1}));
    stage.put("tower.settings.json", b"{}");
    wait_until("a note about settings alone", || {
        let note = stage.note("tower.settings.json").unwrap_or_default();
        note.contains("`tower.wasm`, whose settings it has, is not beside it")
    });
    assert!(server.stop());
}

/// Creates a new directory with the file, and switches the link `..data` to it.
fn configure(stage: &Stage, name: &str, bytes: &[u8]) {
    fs::create_dir(stage.file(name)).unwrap();
    fs::write(stage.file(name).join("crane.wasm"), bytes).unwrap();
    let switch = stage.file("..data_tmp");
    symlink(name, &switch).unwrap();
    fs::rename(switch, stage.file("..data")).unwrap();
}

#[test]
fn a_link_out_of_the_directory_is_refused() {
    let stage = Stage::new(1);
    let server = stage.serve();
    let outside = stage.elsewhere("crane.wasm");
    fs::write(&outside, crane()).unwrap();
    symlink(&outside, stage.file("crane.wasm")).unwrap();
    wait_until("the note", || stage.note("crane.wasm").is_some());
    let note = stage.note("crane.wasm").unwrap();
    assert!(note.contains("received: "), "{note}");
    assert!(note.contains("outside of the folder"), "{note}");
    wait_for_generic(&server);
    fs::remove_file(stage.file("crane.wasm")).unwrap();
    wait_until("no note", || stage.note("crane.wasm").is_none());
    assert!(server.stop());
}

#[test]
fn a_file_that_is_given_another_name_stays_live() {
    let stage = Stage::new(1);
    let server = stage.serve();
    stage.put("crane.wasm", crane());
    wait_for(&server, crane());
    fs::rename(stage.file("crane.wasm"), stage.file("lift.wasm")).unwrap();
    // It remains live under its new name: cranes are judged at all times.
    let mut events = Vec::new();
    wait_until("it is loaded again", || {
        assert_eq!(judged(&server).state, "Draining");
        let detail = server.get(CRANE).1;
        let history = detail["history"].as_array().unwrap().iter();
        events = history.map(|entry| entry["action"].clone()).collect();
        events.len() > 1
    });
    assert_eq!(events, ["load", "load"], "never unloaded");
    // Two files with one name: the first stays live, and the second replaces it when it is deleted.
    let v2 = version(2);
    stage.put("other.wasm", &v2);
    wait_until("the note", || stage.note("other.wasm").is_some());
    let note = stage.note("other.wasm").unwrap();
    assert!(note.contains("`lift.wasm`"), "{note}");
    assert_eq!(judged(&server).digest, digest(crane()));
    fs::remove_file(stage.file("lift.wasm")).unwrap();
    wait_for(&server, &v2);
    wait_until("no note", || stage.note("other.wasm").is_none());
    assert!(server.stop());
}

#[test]
fn a_file_that_is_replaced_by_another_interpreter_unloads_the_old_one() {
    let stage = Stage::new(1);
    let server = stage.serve();
    stage.put("crane.wasm", crane());
    wait_for(&server, crane());
    stage.put("crane.wasm", &named("tower", 1, "Tower"));
    wait_until("the tower", || {
        server.get("/v2/interpreters/tower").1["status"] == "live"
    });
    wait_for_generic(&server);
    fs::remove_file(stage.file("crane.wasm")).unwrap();
    wait_until("no tower", || {
        server.get("/v2/interpreters/tower").1["status"] == "none"
    });
    assert!(server.stop());
}

#[test]
fn a_file_replaces_a_built_in_interpreter_only_where_the_operator_allows_it() {
    let stage = Stage::new(1);
    let file = kindsight_tests::hostile(r#"{"name": "batch", "kinds": [["batch", "*", "Work"]]}"#);
    stage.put("works.wasm", &file);
    let live =
        |server: &crate::process::Server| server.get("/v2/interpreters/batch").1["source"].clone();
    let server = stage.serve();
    wait_until("the note", || stage.note("works.wasm").is_some());
    let note = stage.note("works.wasm").unwrap();
    assert!(
        note.contains("start the server with `--replace-built-in`"),
        "{note}"
    );
    assert_eq!(live(&server), "built-in");
    assert!(server.stop());
    let server = stage.serve_with(&["--replace-built-in"]);
    wait_until("the file judges", || live(&server) == "directory");
    assert!(server.stop());
}
