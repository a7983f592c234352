//! `kindsight interpret`.

use std::io::Write as _;
use std::process::Stdio;

use expect_test::{Expect, expect};
use serde_json::Value;

use crate::process::{kindsight, run, text};

const MIXED: &str = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "x"}, "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
{"broken
not an object
{"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "f"}, "status": {"conditions": [{"type": "Ready", "status": "False", "reason": "ImageError", "message": "no image"}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: cm}
"#;

fn check(args: &[&str], input: &str, expected: &Expect) {
    let args: Vec<&str> = ["interpret"].iter().chain(args).copied().collect();
    let output = run(&args, input);
    assert!(output.status.success(), "{}", text(&output.stderr));
    expected.assert_eq(&text(&output.stdout));
}

#[test]
fn every_input_has_a_row_in_its_order() {
    check(
        &[],
        MIXED,
        &expect![[r#"
            KIND        NAMESPACE  NAME  STATE    REASON       MESSAGE
            Pod         x          a     Ready    Running      -
            -           -          -     Unknown  NotAnObject  not a Kubernetes object: the JSON ends before it is complete
            -           -          -     Unknown  NotAnObject  not a Kubernetes object: it does not start with `{`
            Foo         -          f     Failed   ImageError   no image
            Deployment  -          d     Pending  NoStatusYet  the controller has not looked at it yet
            ConfigMap   -          cm    Present  Exists       exists; this Kind reports no status
        "#]],
    );
}

#[test]
fn a_line_of_jsonl_has_every_member() {
    let output = run(&["interpret", "-o", "jsonl"], MIXED);
    let lines: Vec<Value> = text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 6);
    let always = [
        "apiVersion",
        "kind",
        "message",
        "name",
        "phase",
        "reason",
        "state",
    ];
    for line in &lines {
        let mut names: Vec<&str> = line
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        names.retain(|name| !["interpreter", "namespace", "since"].contains(name));
        assert_eq!(names, always);
        assert_ne!(line["namespace"], "");
    }
    assert_eq!(lines[0]["namespace"], "x");
    assert_eq!(lines[0]["interpreter"]["name"], "core");
    assert_eq!(
        lines[0]["interpreter"]["digest"].as_str().unwrap().len(),
        7 + 64
    );
    assert_eq!(lines[1].get("interpreter"), None);
    assert_eq!(
        (&lines[3]["phase"], &lines[3]["interpreter"]["name"]),
        (&"failed".into(), &"generic".into())
    );
}

#[test]
fn json_and_yaml_say_the_same_as_jsonl() {
    let lines = text(&run(&["interpret", "-o", "jsonl"], MIXED).stdout);
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let json: Value =
        serde_json::from_slice(&run(&["interpret", "-o", "json"], MIXED).stdout).unwrap();
    assert_eq!(json["verdicts"], Value::Array(lines.clone()));
    let yaml = text(&run(&["interpret", "-o", "yaml"], MIXED).stdout);
    let documents: Vec<Value> = yaml
        .split("---\n")
        .skip(1)
        .map(|document| serde_saphyr::from_str(document).unwrap())
        .collect();
    assert_eq!(documents, lines);
}

#[test]
fn the_time_can_be_given() {
    let pod = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"creationTimestamp": "2024-01-01T00:00:00Z"},
        "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
        "reason": "Unschedulable", "lastTransitionTime": "2024-01-01T00:00:00Z"}]}}"#;
    for (now, expected) in [
        ("2024-01-01T00:00:05Z", "Pending"),
        ("2024-01-01T01:00:00Z", "Failed"),
    ] {
        let output = run(&["interpret", "-o", "jsonl", "--now", now], pod);
        let line: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(line["state"], expected, "{now}");
    }
}

#[test]
fn verdicts_come_out_as_lines_go_in() {
    use std::io::{BufRead as _, BufReader};
    let mut child = kindsight(&["interpret", "-o", "jsonl"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for name in ["a", "b"] {
        writeln!(
            stdin,
            r#"{{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {{"name": "{name}"}}}}"#
        )
        .unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert!(line.contains(&format!(r#""name":"{name}""#)), "{line}");
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

/// Exit code and standard error of a command whose reader closed the pipe before the first output.
fn without_reader(args: &[&str], input: &str) -> (Option<i32>, String) {
    let (reader, output) = std::io::pipe().unwrap();
    drop(reader);
    let mut child = kindsight(args)
        .stdin(Stdio::piped())
        .stdout(output)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // The command may end before it has read everything.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    (output.status.code(), text(&output.stderr))
}

#[test]
fn a_closed_pipe_is_no_success() {
    for output in ["table", "json", "jsonl", "yaml"] {
        let ended = without_reader(&["interpret", "-o", output], MIXED);
        assert_eq!(ended, (Some(141), String::new()), "{output}");
    }
    let ended = without_reader(&["completion", "bash"], "");
    assert_eq!(ended, (Some(141), String::new()));
}

#[test]
fn every_verdict_counts_for_fail_on_although_the_pipe_is_closed() {
    for output in ["table", "json", "jsonl", "yaml"] {
        for (on, code, told) in [
            ("degraded", 0, ""),
            // The fifth of six documents.
            (
                "pending",
                3,
                "kindsight: 1 of 6 verdicts matched --fail-on\n",
            ),
        ] {
            let args = ["interpret", "-o", output, "--fail-on", on];
            let ended = without_reader(&args, MIXED);
            assert_eq!(ended, (Some(code), told.to_owned()), "{output} {on}");
        }
    }
}

#[test]
fn files_and_folders_are_read_in_order() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("deep")).unwrap();
    let config_map =
        |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n");
    std::fs::write(folder.path().join("b.yaml"), config_map("b")).unwrap();
    std::fs::write(folder.path().join("a.yml"), config_map("a")).unwrap();
    std::fs::write(folder.path().join("deep/c.yaml"), config_map("c")).unwrap();
    std::fs::write(folder.path().join("notes.txt"), "no object").unwrap();
    let output = run(
        &["interpret", "-o", "jsonl", folder.path().to_str().unwrap()],
        "",
    );
    let names: Vec<String> = text(&output.stdout)
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["name"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(names, ["a", "b", "c"]);
}

#[test]
fn an_input_that_cannot_be_read_is_reported_and_the_rest_is_judged() {
    let output = run(&["interpret", "-o", "jsonl", "/nowhere", "-"], MIXED);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout).lines().count(), 6);
    assert!(text(&output.stderr).contains("open /nowhere: No such file"));
}

#[test]
fn a_file_that_is_no_interpreter_is_refused_by_name() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let output = run(&["interpret", "--interpreter", path], MIXED);
    assert_eq!(output.status.code(), Some(1));
    let errors = text(&output.stderr);
    assert!(
        errors.contains(path) && errors.contains("not a WebAssembly component"),
        "{errors}"
    );
}

#[test]
fn a_wrong_command_line_has_its_own_exit_code() {
    for args in [
        &["interpret", "-o", "xml"][..],
        &["interpret", "--now", "soon"],
        &["nothing"],
        &[],
    ] {
        let output = run(args, "");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(!output.stderr.is_empty());
    }
}

/// A Service without Pods is ready unless it is known that it has none.
#[test]
fn a_complete_input_proves_that_an_object_does_not_exist() {
    let service = r#"{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"type": "ClusterIP", "clusterIP": "10.0.0.1", "selector": {"app": "web"}},
        "status": {"loadBalancer": {}}}]}"#;
    let head = "KIND     NAMESPACE  NAME  STATE";
    let state = |args: &[&str]| {
        let args = [&["interpret"], args].concat();
        let output = text(&run(&args, service).stdout);
        assert!(output.starts_with(head), "{output}");
        let row = output.lines().nth(1).unwrap();
        row.split_whitespace().nth(3).unwrap().to_owned()
    };
    assert_eq!(state(&[]), "Ready");
    assert_eq!(state(&["--coverage", "partial"]), "Ready");
    assert_eq!(state(&["--coverage", "complete"]), "Present");
}
