//! The same expressions in Flux's own engine.
//!
//! `tests/peers/flux` runs `github.com/fluxcd/pkg/runtime/cel`. Its build needs Go and about a minute
//! of processor time at first.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use kindsight_conversion::declarative;
use kindsight_conversion::flux::FluxChecks;
use kindsight_tests::flux_peer;
use serde_json::{Value, json};

use crate::{component, judged, published};

/// Expressions without an object.
const EXPRESSIONS: &str = include_str!("expressions.txt");

/// The peer, built once for all tests. `None` without Go.
fn peer() -> Option<PathBuf> {
    static PEER: OnceLock<Option<PathBuf>> = OnceLock::new();
    PEER.get_or_init(build).clone()
}

fn build() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("flux-peer");
    let built = flux_peer(&folder);
    if built.is_none() {
        assert!(
            std::env::var("CI").is_err(),
            "CI=true, and Go is not installed"
        );
        println!("NOT RUN: Go is not installed, so there is no engine of Flux to compare with");
    }
    built
}

/// The answers of the peer, one for each case.
fn answers(peer: &Path, cases: &[Value]) -> Vec<Value> {
    let mut child = Command::new(peer)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the peer");
    let lines: Vec<String> = cases.iter().map(Value::to_string).collect();
    let lines = lines.join("\n");
    let mut input = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().expect("an end");
    writer
        .join()
        .expect("no panic")
        .expect("all cases were read");
    let text = String::from_utf8(output.stdout).expect("text");
    let answers: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(answers.len(), cases.len());
    answers
}

/// Objects on which every check is evaluated.
fn statuses() -> Vec<Value> {
    let condition = |kind: &str, status: &str| json!({"type": kind, "status": status});
    vec![
        json!(null),
        json!({}),
        json!({"ready": true, "phase": "Running", "count": 3}),
        json!({"observedGeneration": 1, "conditions": [condition("Ready", "True")]}),
        json!({"observedGeneration": 2, "conditions": [condition("Ready", "True")]}),
        json!({"observedGeneration": "2", "conditions": [condition("Ready", "False")]}),
        json!({"observedGeneration": 3, "conditions": []}),
        json!({"observedGeneration": 2.0, "conditions": [condition("Synced", "False"), condition("Ready", "Unknown")]}),
        json!({"conditions": [condition("Ready", "False"), {"type": "Stalled"}], "phase": "Failed"}),
        json!({"conditions": "none", "ready": "true", "count": 2.5}),
        json!({"map": {"a": 1, "b": [1, 2]}, "phase": ""}),
    ]
}

/// Checks in the forms that users write.
const CHECKS: [[&str; 3]; 9] = [
    ["", "", "status.ready"],
    [
        "status.phase == 'Pending'",
        "status.phase == 'Failed'",
        "status.phase == 'Running'",
    ],
    [
        "",
        "status.conditions.exists(c, c.type == 'Ready' && c.status == 'False')",
        "status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')",
    ],
    [
        "",
        "has(status.conditions) && status.conditions.exists(c, c.type == 'Stalled')",
        "has(status.conditions) && status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')",
    ],
    [
        "!has(status.conditions)",
        "status.conditions.filter(e, e.type == 'Synced').all(e, e.status == 'False')",
        "status.conditions.filter(e, e.type == 'Ready').all(e, e.status == 'True')",
    ],
    [
        "",
        "",
        "status.?conditions.orValue([]).exists(c, c.type == 'Ready' && c.status == 'True')",
    ],
    [
        "",
        "status.?phase.orValue('') in ['Failed', 'Error']",
        "status.?count.orValue(0) >= 3",
    ],
    [
        "status.observedGeneration != metadata.generation",
        "",
        "true",
    ],
    [
        "",
        "",
        "status.map.b.size() == 2 && status.map['a'] == 1 && status[?'map'].hasValue()",
    ],
];

#[test]
fn checks_have_the_status_that_flux_gives() {
    let Some(peer) = peer() else {
        return;
    };
    let (mut list, mut objects, mut cases) = (Vec::new(), Vec::new(), Vec::new());
    for (index, [in_progress, failed, current]) in CHECKS.iter().enumerate() {
        let kind = format!("Check{index}");
        let checks = json!({"inProgress": in_progress, "failed": failed, "current": current});
        let mut check = checks.clone();
        check["apiVersion"] = json!("example.com/v1");
        check["kind"] = json!(kind);
        list.push(check);
        for status in statuses() {
            let mut object = json!({
                "apiVersion": "example.com/v1", "kind": kind,
                "metadata": {"name": "x", "generation": 2},
            });
            if !status.is_null() {
                object["status"] = status;
            }
            cases.push(json!({"checks": checks, "object": object}));
            objects.push(object);
        }
    }
    let mut checks = FluxChecks::default();
    checks
        .add("checks.yaml", &Value::from(list).to_string())
        .expect("checks");
    let interpreters = published(&component(&checks.rules("flux", "1.0.0").expect("rules")));
    let mut differences = Vec::new();
    let verdicts = judged(&interpreters, &objects);
    for ((case, answer), verdict) in cases.iter().zip(answers(&peer, &cases)).zip(verdicts) {
        let expected = match answer["status"].as_str() {
            Some("Current") => "Ready",
            Some("InProgress") => "Pending",
            Some(other) => other,
            None => "Unknown",
        };
        if &*verdict.state != expected {
            differences.push(format!(
                "{case}: {answer}, here {}: {}",
                verdict.state, verdict.message
            ));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn expressions_have_the_value_that_flux_gives() {
    let Some(peer) = peer() else {
        return;
    };
    let object = json!({
        "apiVersion": "example.com/v1",
        "status": {
            "text": "Größe 🙂 a-b-a", "int": 7, "negative": -3, "float": 2.5, "whole": 2.0, "big": 1e19,
            "yes": true, "nil": null, "list": [3, 1, 2], "mixed": [1, "a", null, {"k": "v"}],
            "map": {"a": 1, "b": {"c": "d"}}, "time": "2026-02-28T23:59:59.5Z", "empty": {},
        },
    });
    let expressions = EXPRESSIONS.lines().map(str::trim);
    let expressions: Vec<&str> = expressions
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let (mut rules, mut objects, mut cases) = (Vec::new(), Vec::new(), Vec::new());
    for (index, expression) in expressions.iter().enumerate() {
        // One format, whose result is a string for every value.
        let shown = format!("'%s'.format([{expression}])");
        let kind = format!("Case{index}");
        rules.push(json!({
            "group": "example.com", "kind": kind, "cases": [],
            "otherwise": {"state": "Present", "message": format!("${{{shown}}}")},
        }));
        let mut object = object.clone();
        object["kind"] = json!(kind);
        cases.push(json!({"expression": shown, "object": object}));
        objects.push(object);
    }
    let mut differences = Vec::new();
    let answers = answers(&peer, &cases);
    // A component has at most 256 Kinds.
    for (part, slice) in rules.chunks(200).enumerate() {
        let file = json!({"name": "values", "version": "1.0.0", "rules": slice}).to_string();
        let rules = declarative::read("values.yaml", &file).expect("a file");
        let interpreters = published(&component(&rules));
        let range = part * 200..part * 200 + slice.len();
        let verdicts = judged(&interpreters, &objects[range.clone()]);
        for (index, verdict) in range.zip(verdicts) {
            let message = verdict.message.to_string();
            let is_error = message.starts_with("its message has no value");
            let is_same = match answers[index]["value"].as_str() {
                Some(value) => message == value,
                None if answers[index]["error"].is_string() => is_error,
                None => message.is_empty(),
            };
            if !is_same {
                let (expression, answer) = (expressions[index], &answers[index]);
                differences.push(format!("{expression}: Flux {answer}, here {message:?}"));
            }
        }
    }
    assert!(
        differences.is_empty(),
        "{} differences:\n{}",
        differences.len(),
        differences.join("\n")
    );
}
