//! `kindsight plugin diff … --against SERVER`: a component that the server does not store is compared with a version that
//! it has.

use std::fs;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::stage::{CRANE, Stage, crane, digest, judged, version, wait_for, wait_for_generic};
use crate::process::{Server, kindsight, run, text};

/// Writes a component; returns its path.
fn written(stage: &Stage, name: &str, bytes: &[u8]) -> String {
    let path = stage.elsewhere(name);
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

fn diff(old: &str, new: &str, more: &[&str]) -> Output {
    let mut all = vec!["plugin", "diff", old, new, "--against"];
    all.extend(more);
    run(&all, "")
}

/// Everything about the interpreters that a command can change.
fn stored(server: &Server) -> [Value; 2] {
    let (_, list) = server.get("/v2/interpreters");
    let (_, detail) = server.get(CRANE);
    let members = ["digest", "settings", "versions", "history"];
    let detail = members.map(|member| detail[member].clone());
    [list["refused"].clone(), Value::from(detail.to_vec())]
}

#[test]
fn the_changes_on_a_server_are_a_table_and_nothing_is_stored() {
    let stage = Stage::new(2);
    let server = stage.serve();
    let next = written(&stage, "next.wasm", &version(2));
    wait_for_generic(&server);
    let new = diff("live", &next, &[&server.url]);
    assert!(new.status.success(), "{}", text(&new.stderr));
    let printed = text(&new.stdout);
    let head = "### `crane`: 2.0.0 (no version of it is live)\n";
    assert!(printed.starts_with(head), "{printed}");
    assert!(printed.contains("| Pending | Parked | 2 |"), "{printed}");
    assert_eq!(
        server.get(CRANE).0,
        404,
        "the server does not know the name"
    );

    assert_eq!(server.put(CRANE, crane()).0, 200);
    wait_for(&server, crane());
    let before = stored(&server);
    let compared = diff("live", &next, &[&server.url]);
    assert!(compared.status.success(), "{}", text(&compared.stderr));
    let printed = text(&compared.stdout);
    for expected in [
        "### `crane`: 1.0.0 to 2.0.0\n",
        "2 of 2 verdicts would change",
        "| Kind | from | to | objects | for example |",
        "| example.com/v1/Crane | Draining | Parked | 2 | `quay/crane-0`: ",
        "| application | verdicts that would change | phases that would change |",
        "| port/quay/v1/cranes | 2 | ",
    ] {
        assert!(printed.contains(expected), "{expected} is not in {printed}");
    }
    let built_in = text(&diff("built-in", &next, &[&server.url]).stdout);
    let head = "### `crane`: the built-in rules to 2.0.0\n";
    assert!(built_in.starts_with(head), "{built_in}");
    assert!(built_in.contains("| Pending | Parked | 2 |"), "{built_in}");

    let failing = diff("live", &next, &[&server.url, "--fail-on", "changes"]);
    assert_eq!(failing.status.code(), Some(3));
    let same = written(&stage, "same.wasm", crane());
    let same = diff("live", &same, &[&server.url, "--fail-on", "changes"]);
    assert_eq!(same.status.code(), Some(0));
    assert!(text(&same.stdout).contains("0 of 0 verdicts would change"));
    assert!(text(&same.stderr).contains("the server compared no object"));
    let junk = written(&stage, "junk.wasm", b"junk");
    let junk = diff("live", &junk, &[&server.url]);
    assert_eq!(junk.status.code(), Some(1));
    assert!(text(&junk.stderr).contains("the server answers 422"));
    assert_eq!(stored(&server), before);
    assert_eq!(judged(&server).digest, digest(crane()));
    assert!(server.stop());
}

#[test]
fn a_server_is_named_by_its_url_or_its_name_in_the_client_configuration() {
    let stage = Stage::new(1);
    let server = stage.serve();
    assert_eq!(server.put(CRANE, crane()).0, 200);
    wait_for(&server, crane());
    let next = written(&stage, "next.wasm", &version(2));
    let config = stage.elsewhere("config.toml");
    fs::write(&config, format!("[servers.port]\nurl = {:?}\n", server.url)).unwrap();
    let named = |against: &str| {
        let mut command: Command =
            kindsight(&["plugin", "diff", "live", &next, "--against", against]);
        command.env("KINDSIGHT_CLIENT_CONFIG", &config);
        command.stdin(Stdio::null()).output().unwrap()
    };
    let output = named("port");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("1 of 1 verdict would change"));
    let file = written(&stage, "dump.json", b"[]");
    for (old, against, expected) in [
        (
            "live",
            &[&*file][..],
            "`live` is the live version of a server, so --against has to name the server",
        ),
        (
            &*next,
            &[&*server.url],
            "the old component has to be `live` or `built-in`",
        ),
        (
            "live",
            &[&*server.url, "--against", &file],
            "--against takes one server, or files without a server",
        ),
        (
            "live",
            &[&*server.url, "--now", "2026-01-31T12:00:00Z"],
            "--now is for files: a server judges at the present time",
        ),
        ("live", &["http://127.0.0.1:1"], "127.0.0.1:1"),
    ] {
        let output = diff(old, &next, against);
        assert_eq!(output.status.code(), Some(1), "{against:?}");
        assert_eq!(text(&output.stdout), "", "{against:?}");
        let error = text(&output.stderr);
        assert!(error.contains(expected), "{against:?}: {error}");
    }
    let output = named("prot");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("--against has to name the server"));
    assert!(server.stop());
}
