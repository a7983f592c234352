//! `kindsight interpret` with the user's own interpreters: settings, exit codes, log lines, hints.

use std::path::{Path, PathBuf};

use expect_test::expect;
use serde_json::Value;
use tempfile::TempDir;

use crate::process::{run, text};

const SCHEMA: &str = r#", "settings-schema": "{\"properties\": {\"level\": {\"type\": \"integer\", \"default\": 5}}, \"additionalProperties\": false}""#;

/// A folder with files of one test.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// An interpreter `things` of Things, in a file with another name.
    fn things(&self, more: &str) -> PathBuf {
        let description = format!(r#"{{"name": "things"{more}}}"#);
        self.write(
            "other-name-1.2.wasm",
            kindsight_tests::hostile(&description),
        )
    }
}

fn thing(what: &str) -> String {
    format!(
        r#"{{"apiVersion": "hostile.example.com/v1", "kind": "Thing", "metadata": {{"name": "t"}}, "spec": {{"do": "{what}"}}}}"#
    )
}

fn str(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Exit code, messages and standard error of a run.
fn interpret(args: &[&str], input: &str) -> (Option<i32>, Vec<String>, String) {
    let args = [&["interpret", "-o", "jsonl"], args].concat();
    let output = run(&args, input);
    let messages = text(&output.stdout);
    let messages = messages.lines().map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["message"].as_str().unwrap().to_owned()
    });
    let messages = messages.collect();
    (output.status.code(), messages, text(&output.stderr))
}

#[test]
fn a_verdict_of_a_named_phase_sets_the_exit_code() {
    let place = Place::new();
    let things = place.things("");
    let pending = r#"{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}}"#;
    for (on, input, expected) in [
        ("failed,fault", pending, 0),
        ("failed,pending", pending, 3),
        ("pending", pending, 3),
        ("fault", &thing("panic"), 3),
        ("unknown", &thing("panic"), 3),
        ("fault", &thing("invalid-input"), 0),
        ("fault", "no object", 0),
        ("unknown", "no object", 3),
        ("fault", &thing(""), 0),
    ] {
        let args = ["--interpreter", str(&things), "--fail-on", on];
        let (code, _, errors) = interpret(&args, input);
        assert_eq!(code, Some(expected), "{on}: {errors}");
        let told = errors.contains("1 of 1 verdict matched --fail-on");
        assert_eq!(told, expected == 3, "{errors}");
    }
}

#[test]
fn an_unknown_word_to_fail_on_is_refused_with_the_right_ones() {
    let (code, _, errors) = interpret(&["--fail-on", "failed,broken"], "");
    assert_eq!(code, Some(2));
    for word in ["broken", "ready", "degraded", "failed", "unknown", "fault"] {
        assert!(errors.contains(word), "{errors}");
    }
}

#[test]
fn settings_are_checked_and_passed_with_the_defaults_of_the_schema() {
    let place = Place::new();
    let things = place.things(SCHEMA);
    let given = place.write("given.json", r#"{"level": 7}"#);
    let wrong = place.write("wrong.json", r#"{"level": "high"}"#);
    let list = place.write("list.json", "[]");
    let says = thing("say-settings");
    let with = |settings: &[&str]| {
        interpret(
            &[&["--interpreter", str(&things)], settings].concat(),
            &says,
        )
    };
    assert_eq!(with(&[]).1, ["level 5"]);
    let of = |name: &str, file: &Path| format!("{name}={}", str(file));
    assert_eq!(with(&["--settings", &of("things", &given)]).1, ["level 7"]);
    for (settings, expected) in [
        (
            of("things", &wrong),
            "settings of `things`: \"high\" is not of type \"integer\"",
        ),
        (of("things", &list), "settings must be one JSON object"),
        (
            of("other-name-1.2", &given),
            "no interpreter has that name; there are apiextensions",
        ),
        (of("rbac.authorization.k8s.io", &given), "has no settings"),
        (of("things", Path::new("/nowhere")), "read /nowhere"),
    ] {
        let (code, _, errors) = with(&["--settings", &settings]);
        assert_eq!(code, Some(1), "{settings}");
        assert!(errors.contains(expected), "{errors}");
    }
    let twice = of("things", &given);
    let (_, _, errors) = with(&["--settings", &twice, "--settings", &twice]);
    assert!(
        errors.contains("has the settings of `things` twice"),
        "{errors}"
    );
    for bad in ["things", "things=", "Things=x"] {
        assert_eq!(with(&["--settings", bad]).0, Some(2), "{bad}");
    }
}

#[test]
fn a_hint_names_an_interpreter_that_judged_no_object() {
    let place = Place::new();
    let things = place.things("");
    let args = ["--interpreter", str(&things)];
    let pod = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}"#;
    let (code, _, errors) = interpret(&args, pod);
    assert_eq!(code, Some(0));
    assert!(errors.starts_with("kindsight: things 1.0.0 ("), "{errors}");
    let idle = "judged nothing of 1 document: it judges hostile.example.com/*/Thing\n";
    assert!(errors.ends_with(idle), "{errors}");
    assert_eq!(interpret(&args, &format!("{pod}\n{}", thing(""))).2, "");
}

#[test]
fn log_lines_and_panics_are_shown_with_the_name() {
    let place = Place::new();
    let things = place.things("");
    let args = ["--interpreter", str(&things)];
    let (_, _, errors) = interpret(&args, &thing("log-escapes"));
    assert!(
        errors.starts_with("things: warn:  [31mred red "),
        "{errors}"
    );
    assert_eq!(errors.lines().count(), 1);
    let (_, messages, errors) = interpret(&args, &thing("panic"));
    let panic = "the hostile guest panics as asked";
    assert!(
        errors.starts_with("things: error: panicked at "),
        "{errors}"
    );
    assert!(errors.contains(panic), "{errors}");
    assert!(messages[0].contains(panic), "{messages:?}");
}

#[test]
fn dropped_log_lines_are_counted() {
    let place = Place::new();
    let things = place.things("");
    let args = ["--interpreter", str(&things)];
    let (_, _, errors) = interpret(&args, &thing("flood-log"));
    let lines: Vec<&str> = errors.lines().collect();
    assert_eq!(lines.len(), 33);
    assert_eq!(
        (lines[0], lines[31]),
        ("things: info: line 0", "things: info: line 31")
    );
    let dropped =
        "kindsight: 968 log lines of things were dropped: it may log 32 in a call, 100 in 10 s";
    assert_eq!(lines[32], dropped);
}

#[test]
fn declarations_of_a_reason_and_a_state_are_explained() {
    let place = Place::new();
    let things = place.things(
        r#", "final": "Gone", "reasons": [["AsAsked", "It did so", "https://example.com/asked"], ["Told", "It told", null]]"#,
    );
    let args = ["interpret", "--interpreter", str(&things), "--explain"];
    let job = r#"{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {},
        "status": {"conditions": [{"type": "Complete", "status": "True"}]}}"#;
    let input = format!("{}\n{job}", thing(""));
    let table = text(&run(&args, &input).stdout);
    let notes: Vec<&str> = table
        .lines()
        .filter(|line| line.starts_with("  "))
        .collect();
    let asked = "  AsAsked: It did so (https://example.com/asked)";
    assert_eq!(notes, [asked, "  Succeeded is final"], "{table}");

    let json = run(&[&args[..], &["-o", "json"]].concat(), &input).stdout;
    let json: Value = serde_json::from_slice(&json).unwrap();
    let asked =
        serde_json::json!({"summary": "It did so", "help-url": "https://example.com/asked"});
    assert_eq!(json["verdicts"][0]["explanation"], asked);
    assert_eq!(
        json["verdicts"][1]["explanation"],
        serde_json::json!({"final": true})
    );
    let silent = run(&args[..3], &thing("")).stdout;
    assert!(!text(&silent).contains("did so"));
}

const SERVICE: &str = r#"{"apiVersion": "v1", "kind": "List", "items": [
    {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "x", "annotations": {"note": "long"}}, "spec": {"selector": {"app": "s"}}},
    {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
     "metadata": {"name": "s-1", "namespace": "x", "labels": {"kubernetes.io/service-name": "s"}},
     "endpoints": [{"addresses": ["10.0.0.1"], "conditions": {"ready": true}}]}]}"#;

#[test]
fn the_input_of_a_built_in_interpreter_is_shown() {
    let args = ["interpret", "--show-input", "--now", "2026-01-01T00:00:00Z"];
    let table = text(&run(&args, SERVICE).stdout);
    expect![[r#"
        KIND           NAMESPACE  NAME  STATE    REASON    MESSAGE
        Service        x          s     Present  NoStatus  its status is not reported
          input of core 0.1.0: {"object":{"apiVersion":"v1","kind":"Service","metadata":{"annotations":{}},"spec":{"selector":{"app":"s"}}},"related":[{"coverage":"partial","total":1,"objects":[{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":"s-1","namespace":"x"},"endpoints":[{"conditions":{"ready":true}}]}]},{"coverage":"partial","total":0,"objects":[]}],"settings":{"imagePullGraceSeconds":60,"requirePods":false,"restartWindowSeconds":600,"restartedPodsPercent":10,"unschedulableGraceSeconds":15},"now-ms":1767225600000}
        EndpointSlice  x          s-1   Present  Exists    exists; this Kind reports no status
          input of networking.k8s.io 0.1.0: {"object":{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{}},"related":[],"settings":{"classesWithoutAddress":[],"requireAddress":true},"now-ms":1767225600000}
    "#]].assert_eq(&table);

    let json = run(&[&args[..], &["-o", "json"]].concat(), SERVICE).stdout;
    let json: Value = serde_json::from_slice(&json).unwrap();
    let input = &json["verdicts"][0]["inputs"][0];
    assert_eq!(input["interpreter"], "core 0.1.0");
    let yaml = text(&run(&[&args[..], &["-o", "yaml"]].concat(), SERVICE).stdout);
    let first = yaml.split("---\n").nth(1).unwrap();
    let first: Value = serde_saphyr::from_str(first).unwrap();
    assert_eq!(first, json["verdicts"][0]);
}

#[test]
fn inputs_of_declining_interpreters_are_shown_in_order() {
    let place = Place::new();
    let things = place.things("");
    let args = ["interpret", "--interpreter", str(&things)];
    let args = [&args[..], &["--show-input", "-o", "jsonl"]].concat();
    let line = run(&args, &thing("unsupported")).stdout;
    let line: Value = serde_json::from_slice(&line).unwrap();
    let inputs = line["inputs"].as_array().unwrap();
    let names: Vec<&Value> = inputs.iter().map(|input| &input["interpreter"]).collect();
    assert_eq!(names, ["things 1.0.0", "generic 0.1.0"]);
    let cut = serde_json::json!({
        "object": {"apiVersion": "hostile.example.com/v1", "kind": "Thing", "metadata": {},
            "spec": {"do": "unsupported"}},
        "related": [],
        "settings": {},
    });
    assert_eq!(inputs[0]["input"], cut);
}

#[test]
fn mistakes_are_reported_on_standard_error() {
    let place = Place::new();
    let batch = r#"{"name": "batch", "kinds": [["batch", "*", "Job"]]}"#;
    let batch = place.write("x.wasm", kindsight_tests::hostile(batch));
    let job = r#"{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}}"#;
    let (code, _, errors) = interpret(&["--interpreter", str(&batch)], job);
    assert_eq!(code, Some(0));
    let hides = "kindsight: `batch` hides the built-in interpreter of that name, and does not judge its batch/*/CronJob: ";
    assert!(errors.starts_with(hides), "{errors}");
    let (code, _, errors) = interpret(&[], "\n");
    assert_eq!(code, Some(0));
    assert_eq!(
        errors,
        "kindsight: the input holds no document: there is nothing to judge\n"
    );
    let (code, _, errors) = interpret(&["--interpreter", "/dev/zero"], job);
    assert_eq!(code, Some(1));
    assert!(
        errors.contains("are over the limit of 33554432 bytes"),
        "{errors}"
    );
}

#[test]
fn a_component_is_checked_and_inspected_without_a_server() {
    let place = Place::new();
    let things = place.things(SCHEMA);
    let ran = |args: &[&str]| {
        let output = run(&[&["interpreters"], args].concat(), "");
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let (code, out, _) = ran(&["check", str(&things)]);
    assert_eq!(code, Some(0));
    let accepted = format!(
        "{}: things 1.0.0 is accepted\ndigest sha256:",
        things.display()
    );
    assert!(out.starts_with(&accepted), "{out}");
    let (code, out, _) = ran(&["inspect", str(&things)]);
    assert_eq!(code, Some(0));
    assert!(out.contains("hostile.example.com/*/Thing"), "{out}");
    assert!(!out.contains("STATISTIC"), "{out}");
    let (_, out, _) = ran(&["inspect", str(&things), "-o", "json"]);
    let detail: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        detail["settings-schema"]["properties"]["level"]["default"],
        5
    );
    let settings = place.write("settings.json", r#"{"level": "high"}"#);
    let (code, _, errors) = ran(&["check", str(&things), "--settings", str(&settings)]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("at `/level`"), "{errors}");
    let broken = place.things(r#", "settings-schema": "{\"type\": \"strng\"}""#);
    let (code, _, errors) = ran(&["check", str(&broken)]);
    assert_eq!(code, Some(1));
    assert!(
        errors.contains("validated: its settings-schema: "),
        "{errors}"
    );
}
