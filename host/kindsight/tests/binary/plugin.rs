//! `kindsight plugin`: from an empty folder to a live rule, as the documentation has it.

mod dev;
mod tools;

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::process::{Server, kindsight, text};

/// The page with the commands of each language.
const PAGE: &str = include_str!("../../../../docs/languages.md");

/// A Widget that the rule of each new project judges.
const WIDGET: &str = r#"{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "generation": 2},
    "status": {"observedGeneration": 2, "conditions": [{"type": "Ready", "status": "True", "reason": "Done"}]}}"#;

/// The commands in the first block of a section of the page.
fn commands(section: &str) -> &'static str {
    let (_, from) = PAGE.split_once(&format!("\n## {section}\n")).unwrap();
    let (_, from) = from.split_once("```sh\n").unwrap();
    from.split_once("```").unwrap().0
}

/// Returns whether the tools are there. If not, a line says so, or the test fails with `CI=true`.
fn is_possible(language: &str, tools: &[&str]) -> bool {
    let missing = tools.iter().find(|tool| {
        let found = Command::new("sh")
            .args(["-c", &format!("command -v {tool}")])
            .output();
        !found.is_ok_and(|output| output.status.success())
    });
    let Some(missing) = missing else { return true };
    let line = format!("\nplugin: {language} NOT RUN, needs {missing}\n");
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{line}");
    // Bypasses the harness, which hides the output of passing tests.
    let _ = std::io::stderr().write_all(line.as_bytes());
    false
}

/// Runs the commands of a section in an empty folder beside a running server, and lets the server judge a Widget.
fn follow(section: &str) {
    let place = tempfile::tempdir().unwrap();
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path(), &[]);
    let binary = place.path().join("bin");
    fs::create_dir(&binary).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_kindsight"), binary.join("kindsight")).unwrap();
    let work = place.path().join("work");
    fs::create_dir(&work).unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    // The environment of `kindsight`, for a shell that runs it.
    let mut shell = Command::new("bash");
    for (name, value) in kindsight(&[]).get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    // Compilers keep their downloads between runs.
    match std::env::var_os("XDG_CACHE_HOME") {
        Some(cache) => shell.env("PIP_CACHE_DIR", PathBuf::from(cache).join("pip")),
        None => shell.env_remove("PIP_CACHE_DIR"),
    };
    let target = concat!(env!("CARGO_TARGET_TMPDIR"), "/plugin-target");
    let go = concat!(env!("CARGO_TARGET_TMPDIR"), "/go-cache");
    let output = shell
        .args(["-euo", "pipefail", "-c", commands(section)])
        .current_dir(&work)
        .env("PATH", path)
        .env("KINDSIGHT_SERVER", &server.url)
        .env("CARGO_TARGET_DIR", target)
        .env("GOCACHE", go)
        .output()
        .unwrap();
    let printed = [output.stdout, output.stderr].concat();
    let printed = text(&printed);
    assert!(output.status.success(), "{section}: {printed}");
    assert!(
        printed.contains("5 examples, 0 failed"),
        "{section}: {printed}"
    );
    assert!(printed.contains("0 findings"), "{section}: {printed}");
    let (status, answer) = server.post("/v2/interpret", WIDGET);
    assert_eq!(status, 200, "{answer}");
    let verdict = &answer["verdicts"][0];
    assert_eq!(
        verdict["interpreter"]["name"], "widgets",
        "{section}: {answer}"
    );
    assert_eq!(
        (&verdict["state"], &verdict["reason"]),
        (&Value::from("Ready"), &Value::from("Done"))
    );
}

#[test]
fn a_rule_in_c_goes_live_by_the_documentation() {
    if is_possible("C", &["clang", "wasm-ld"]) {
        follow("C");
    }
}

#[test]
fn a_rule_in_go_goes_live_by_the_documentation() {
    if is_possible("Go", &["go"]) {
        follow("Go");
    }
}

#[test]
fn a_rule_in_javascript_goes_live_by_the_documentation() {
    if is_possible("JavaScript", &["node", "npm"]) {
        follow("JavaScript");
    }
}

#[test]
fn a_rule_in_python_goes_live_by_the_documentation() {
    if is_possible("Python", &["python3"]) {
        follow("Python");
    }
}

#[test]
fn a_rule_in_rust_goes_live_by_the_documentation() {
    if is_possible("Rust", &["cargo", "rustup"]) {
        follow("Rust");
    }
}

#[test]
fn a_rule_in_typescript_goes_live_by_the_documentation() {
    if is_possible("TypeScript", &["node", "npm"]) {
        follow("TypeScript");
    }
}
