//! `kindsight plugin from-yaml`, `from-flux` and `kstatus`: from files of rules to verdicts.

use std::path::Path;

use crate::process::{run, text};

const WIDGETS: &str = "
name: widgets
version: 1.0.0
rules:
- group: example.com
  kind: Widget
  cases:
  - {if: status.?phase.orValue('') == 'Running', state: Ready, reason: Running}
  otherwise: {state: Pending, reason: NotRunning}
fixtures:
- name: a running widget
  object: {apiVersion: example.com/v1, kind: Widget, status: {phase: Running}}
  expect: {state: Ready}
";
const CHECKS: &str = "
- {apiVersion: example.com/v1, kind: Widget, current: status.phase == 'Running'}
";
const WIDGET: &str = "
apiVersion: example.com/v1
kind: Widget
metadata: {name: w}
status: {phase: Running}
";

/// Exit code and standard error of `kindsight plugin`.
fn plugin(args: &[&str]) -> (Option<i32>, String) {
    let output = run(&[&["plugin"], args].concat(), "");
    (output.status.code(), text(&output.stderr))
}

/// State and reason of the verdict on the widget.
fn verdict(component: &Path) -> String {
    let component = component.to_str().unwrap();
    let output = run(
        &["interpret", "-o", "jsonl", "--interpreter", component],
        WIDGET,
    );
    let line: serde_json::Value = serde_json::from_str(text(&output.stdout).trim()).unwrap();
    format!(
        "{} {}",
        line["state"].as_str().unwrap(),
        line["reason"].as_str().unwrap()
    )
}

#[test]
fn files_of_rules_become_interpreters() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let path = |name: &str| at(name).to_str().unwrap().to_owned();
    std::fs::write(at("widgets.yaml"), WIDGETS).unwrap();
    std::fs::write(at("checks.yaml"), CHECKS).unwrap();
    let out = path("out.wasm");
    let made = plugin(&["from-yaml", &path("widgets.yaml"), "-o", &out]);
    assert_eq!(made.0, Some(0), "{}", made.1);
    assert!(
        made.1.contains("interpreter widgets 1.0.0, 1 Kinds"),
        "{}",
        made.1
    );
    assert_eq!(verdict(&at("out.wasm")), "Ready Running");
    let made = plugin(&["from-flux", &path("checks.yaml"), "-o", &out]);
    assert_eq!(made.0, Some(0), "{}", made.1);
    let made = plugin(&["kstatus", "-o", &out]);
    assert_eq!(made.0, Some(0), "{}", made.1);
}

#[test]
fn a_wrong_file_makes_no_component() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let path = |name: &str| at(name).to_str().unwrap().to_owned();
    let out = path("out.wasm");
    let wrong = [
        (
            WIDGETS.replace("==", "="),
            "widgets.yaml: rules[0] (Widget.example.com): cases[0].if: column ",
        ),
        (
            WIDGETS.replace("state: Ready}", "state: Failed}"),
            "a running widget",
        ),
        (WIDGETS.replace("rules:", "rule:"), "rule"),
    ];
    for (file, expected) in wrong {
        std::fs::write(at("widgets.yaml"), file).unwrap();
        let (code, error) = plugin(&["from-yaml", &path("widgets.yaml"), "-o", &out]);
        assert_eq!(code, Some(1), "{error}");
        assert!(error.contains(expected), "{error}");
    }
    let (code, error) = plugin(&["from-yaml", &path(""), "-o", &out]);
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("give it --name and --version"), "{error}");
    let (code, error) = plugin(&["from-flux", &path("widgets.yaml"), "-o", &out]);
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("no `healthCheckExprs`"), "{error}");
    assert!(!at("out.wasm").exists());
}
