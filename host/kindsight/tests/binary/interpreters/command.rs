//! `kindsight interpreters …` against a server: output and exit code of each command, and the state
//! after a restart.

use std::fs;
use std::process::Output;

use serde_json::Value;

use super::stage::{
    CRANE, Stage, crane, digest, judged, named, version, wait_for, wait_for_generic, wait_until,
};
use crate::process::{Server, run, text};

/// `kindsight interpreters … --server …`.
fn command(server: &Server, args: &[&str]) -> Output {
    command_with(server, args, "")
}

fn command_with(server: &Server, args: &[&str], input: &str) -> Output {
    let mut all = vec!["interpreters", "--server", &server.url];
    all.extend(args);
    run(&all, input)
}

/// Runs a command that succeeds; returns its output.
fn done(server: &Server, args: &[&str]) -> String {
    let output = command(server, args);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {errors}");
    text(&output.stdout)
}

/// Runs a command that fails with 1 and prints only the reason; returns the reason.
fn refused(server: &Server, args: &[&str]) -> String {
    let output = command(server, args);
    assert_eq!(output.status.code(), Some(1), "{args:?}");
    assert_eq!(text(&output.stdout), "", "{args:?}");
    text(&output.stderr)
}

fn check(output: &str, expected: &[&str]) {
    for expected in expected {
        assert!(output.contains(expected), "{expected} is not in: {output}");
    }
}

/// Writes a file; returns its path.
fn written(stage: &Stage, name: &str, bytes: &[u8]) -> String {
    let path = stage.elsewhere(name);
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn an_interpreter_is_loaded_tried_promoted_and_rolled_back_by_hand() {
    let stage = Stage::new(2);
    let server = stage.serve();
    let (v1, v2) = (crane(), version(2));
    let list = done(&server, &["list"]);
    check(&list, &["NAME", "KINDS", "generic", "built-in"]);
    assert!(!list.contains("crane"), "{list}");

    let file = written(&stage, "Of another name.wasm", v1);
    check(
        &done(&server, &["load", &file]),
        &["crane 1.0.0 is live", &digest(v1)],
    );
    assert_eq!(wait_for(&server, v1).state, "Draining");
    check(&done(&server, &["load", &file]), &["nothing changed"]);

    let file = written(&stage, "next.wasm", &v2);
    let args = ["load", &file, "--name", "tower", "--candidate"];
    check(&refused(&server, &args), &["422", "its name is `crane`"]);
    let args = ["load", &file, "--candidate"];
    let output = command(&server, &args);
    check(&text(&output.stdout), &["crane 2.0.0 is accepted"]);
    let promote = format!("promote crane --digest {}", digest(&v2));
    check(
        &text(&output.stderr),
        &["interpreters shadow crane", &promote],
    );
    assert_eq!(judged(&server).digest, digest(v1));

    let report = done(&server, &["shadow", "crane"]);
    check(
        &report,
        &["2 of 2 verdicts would change", "Draining", "Parked"],
    );
    let report = done(&server, &["shadow", "crane", "-o", "json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["changes"][0]["count"], 2, "{report}");
    assert_eq!(report["changes"][0]["samples"][0]["to"]["state"], "Parked");
    assert_eq!(
        judged(&server).digest,
        digest(v1),
        "a shadow changes nothing"
    );

    for (fail_on, code) in [("changes", 3), ("faults", 0), ("faults,changes", 3)] {
        let output = command(&server, &["shadow", "crane", "--fail-on", fail_on]);
        assert_eq!(output.status.code(), Some(code), "{fail_on}");
        check(&text(&output.stdout), &["2 of 2 verdicts would change"]);
    }
    let output = command(&server, &["shadow", "crane", "--fail-on", "errors"]);
    assert_eq!(output.status.code(), Some(2));
    check(&text(&output.stderr), &["errors", "changes", "faults"]);

    let other = digest(b"other");
    let args = ["promote", "crane", "--digest", &other];
    check(&refused(&server, &args), &["409", &digest(&v2), &other]);
    let args = ["promote", "crane", "--digest", &digest(&v2)];
    check(&done(&server, &args), &["crane 2.0.0 is live"]);
    assert_eq!(wait_for(&server, &v2).state, "Parked");
    check(
        &refused(&server, &["promote", "crane"]),
        &["409", "no candidate"],
    );
    check(
        &done(&server, &["inspect", "crane"]),
        &["2.0.0", "1.0.0", "upload", "Parked", "example.com/*/Crane"],
    );

    check(
        &done(&server, &["rollback", "crane"]),
        &["crane 1.0.0 is live again"],
    );
    wait_for(&server, v1);
    check(
        &refused(&server, &["rollback", "crane"]),
        &["409", "no version to roll back to"],
    );
    check(&done(&server, &["disable", "crane"]), &["disabled"]);
    wait_for_generic(&server);
    check(&done(&server, &["enable", "crane"]), &["crane is enabled"]);
    wait_for(&server, v1);
    check(
        &done(&server, &["remove", "crane"]),
        &["crane is removed from upload"],
    );
    wait_for_generic(&server);
    assert!(server.stop());
}

#[test]
fn settings_are_checked_by_the_schema_and_change_verdicts() {
    let stage = Stage::new(1);
    let server = stage.serve();
    let file = written(&stage, "crane.wasm", crane());
    done(&server, &["load", &file]);
    wait_for(&server, crane());
    assert_eq!(done(&server, &["settings", "crane"]), "{}\n");
    let settings = written(&stage, "settings.json", br#"{"ready": "Draining"}"#);
    done(&server, &["settings", "crane", &settings]);
    wait_until("ready as set", || judged(&server).state == "Ready");
    let output = command_with(&server, &["settings", "crane", "-"], r#"{"ready": 3}"#);
    assert_eq!(output.status.code(), Some(1));
    check(&text(&output.stderr), &["422", "step: published", "/ready"]);
    check(&done(&server, &["settings", "crane"]), &["Draining"]);
    done(&server, &["settings", "crane", "--clear"]);
    wait_until("draining again", || judged(&server).state == "Draining");
    assert!(server.stop());
}

#[test]
fn a_refusal_names_the_step_and_the_reason() {
    let stage = Stage::new(1);
    let server = stage.serve();
    let file = written(&stage, "crane.wasm", crane());
    done(&server, &["load", &file]);
    let garbage = written(&stage, "garbage.wasm", b"garbage");
    let args = ["load", &garbage, "--name", "crane"];
    check(&refused(&server, &args), &["422", "step: validated"]);
    let args = ["load", &file, "--name", "tower"];
    check(
        &refused(&server, &args),
        &["422", "its name is `crane`", "step: tried"],
    );
    let args = ["load", &file, "--digest", &digest(b"other")];
    check(
        &refused(&server, &args),
        &["422", &digest(crane()), "step: received"],
    );
    let unkept = r#"{"name": "crane", "states": ["Ready", "Parked"], "fixtures": [["a lie", "{\"apiVersion\": \"hostile.example.com/v1\", \"kind\": \"Thing\", \"spec\": {}}", "Parked"]]}"#;
    let unkept = written(&stage, "lie.wasm", &kindsight_tests::hostile(unkept));
    let args = ["load", &unkept, "--name", "crane"];
    check(
        &refused(&server, &args),
        &["step: tried", "a lie", "expected state Parked", "got Ready"],
    );
    check(
        &refused(&server, &["inspect", "derrick"]),
        &["404", "crane"],
    );
    check(&refused(&server, &["rollback", "derrick"]), &["404"]);
    assert_eq!(wait_for(&server, crane()).state, "Draining");
    let history = server.get(CRANE).1["history"].clone();
    assert_eq!(history[0]["action"], "refuse", "{history}");
    let nowhere = ["interpreters", "list", "--server", "http://127.0.0.1:1"];
    assert_eq!(run(&nowhere, "").status.code(), Some(1));
    assert_eq!(run(&["interpreters", "promote"], "").status.code(), Some(2));
    assert!(server.stop());
}

#[test]
fn uploads_survive_a_restart_and_a_kill() {
    let stage = Stage::new(2);
    let server = stage.serve();
    let (v1, v2, v3) = (crane(), version(2), version(3));
    for bytes in [v1, &v2] {
        let (status, outcome) = server.put(CRANE, bytes);
        assert_eq!((status, &outcome["status"]), (200, &"live".into()));
    }
    let (status, outcome) = server.put(&format!("{CRANE}?candidate=true"), &v3);
    assert_eq!(
        (status, &outcome["status"]),
        (200, &"candidate".into()),
        "{outcome}"
    );
    let path = format!("{CRANE}?digest={}", digest(v1));
    let (status, problem) = server.put(&path, &v2);
    assert_eq!(
        (status, &problem["step"]),
        (422, &"received".into()),
        "{problem}"
    );
    // An upload overrides the directory.
    stage.put("crane.wasm", &version(9));
    wait_until("the directory", || {
        server.get(CRANE).1["versions"]
            .to_string()
            .contains("9.0.0")
    });
    let tower = named("tower", 1, "Tower");
    assert_eq!(server.put("/v2/interpreters/tower", &tower).0, 200);
    let (status, _) = server.post("/v2/interpreters/tower/disable", "");
    assert_eq!(status, 200);
    let before = kept(&server);
    assert!(server.stop());
    let server = stage.serve();
    assert_eq!(kept(&server), before);
    assert_eq!(judged(&server).digest, digest(&v2));
    server.kill();
    let server = stage.serve();
    assert_eq!(kept(&server), before);
    assert_eq!(judged(&server).digest, digest(&v2));
    let (status, outcome) = server.post(&format!("{CRANE}/promote"), "");
    assert_eq!(
        (status, &outcome["digest"]),
        (200, &digest(&v3).into()),
        "{outcome}"
    );
    wait_for(&server, &v3);
    assert_eq!(server.delete(CRANE).0, 200);
    wait_for(&server, &version(9));
    assert!(server.stop());
}

/// The state that a restart must not change.
fn kept(server: &Server) -> Vec<Value> {
    let list = server.get("/v2/interpreters").1;
    let mut kept: Vec<Value> = list["interpreters"].as_array().unwrap().clone();
    for interpreter in &mut kept {
        let members = interpreter.as_object_mut().unwrap();
        members.retain(|name, _| name != "calls" && name != "faults");
    }
    for name in ["crane", "tower"] {
        let detail = server.get(&format!("/v2/interpreters/{name}")).1;
        kept.push(detail["versions"].clone());
        kept.push(detail["history"].clone());
    }
    kept
}

#[test]
fn kinds_are_taken_over_from_built_in_interpreters_only_as_asked() {
    let stage = Stage::new(1);
    let server = stage.serve();
    let of = |name: &str, kind: &str| {
        let description = serde_json::json!({"name": name, "kinds": [["batch", "*", kind]]});
        kindsight_tests::hostile(&description.to_string())
    };
    let file = written(&stage, "jobs.wasm", &of("my-jobs", "Job"));
    let candidate = done(&server, &["load", &file, "--candidate"]);
    check(
        &candidate,
        &["would take batch/*/Job from batch 0.1.0 built-in\n"],
    );
    let promoted = done(&server, &["promote", "my-jobs"]);
    check(
        &promoted,
        &["\ntakes batch/*/Job from batch 0.1.0 built-in\n"],
    );
    let inspected = done(&server, &["inspect", "my-jobs"]);
    check(
        &inspected,
        &["my-jobs 1.0.0 is live; takes batch/*/Job from batch 0.1.0 built-in"],
    );
    let again = done(&server, &["load", &file]);
    assert!(!again.contains("takes"), "{again}");

    let file = written(&stage, "batch.wasm", &of("batch", "Work"));
    let why = refused(&server, &["load", &file]);
    let kinds = "`batch` is the name of a built-in interpreter, but this component does not judge its batch/*/Job, batch/*/CronJob";
    check(
        &why,
        &[
            "422",
            kinds,
            "`--replace-built-in` (`?replace=true`)",
            "step: published",
        ],
    );
    let replaced = done(&server, &["load", &file, "--replace-built-in"]);
    check(
        &replaced,
        &["batch 1.0.0 is live, replacing 0.1.0 from built-in"],
    );
    done(&server, &["remove", "batch"]);
    assert!(server.stop());
}

#[test]
fn a_component_goes_live_with_settings_of_its_own() {
    let stage = Stage::new(1);
    let server = stage.serve();
    let wasm = written(&stage, "crane.wasm", crane());
    let settings = written(&stage, "settings.json", br#"{"ready": "Draining"}"#);
    let load = ["load", &wasm, "--settings", &settings];
    check(
        &done(&server, &load),
        &["crane 1.0.0 is live; its settings are set"],
    );
    check(&done(&server, &["settings", "crane"]), &["Draining"]);
    check(&done(&server, &load), &["the settings of crane are set"]);
    let next = written(&stage, "crane-2.wasm", &version(2));
    done(&server, &["load", &next, "--candidate"]);
    let wrong = written(&stage, "wrong.json", br#"{"ready": 3}"#);
    check(
        &refused(&server, &["promote", "crane", "--settings", &wrong]),
        &["422", "settings of `crane`"],
    );
    // The next version has no settings.
    done(&server, &["settings", "crane", "--clear"]);
    let detail = server.get(CRANE).1;
    let versions = detail["versions"].as_array().unwrap().iter();
    let digests = versions.map(|version| version["digest"].as_str().unwrap());
    let live = detail["digest"].as_str().unwrap();
    let candidate = digests.clone().find(|digest| *digest != live).unwrap();
    check(
        &done(
            &server,
            &["promote", "crane", "--digest", &candidate[7..19]],
        ),
        &["crane 2.0.0 is live", candidate],
    );
    check(
        &refused(&server, &["rollback", "crane", "--digest", "sha256:000000"]),
        &["no digest begins with it"],
    );
    assert!(server.stop());
}
