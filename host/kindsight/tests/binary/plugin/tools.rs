//! The tools of `kindsight plugin` for one component: cases, lints, records and comparisons.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use super::is_possible;
use crate::process::{kindsight, run, text};

/// A component of Things, and a folder for files.
struct Place(TempDir);

impl Place {
    /// The hostile guest, with this description and these fixtures.
    fn with(description: &str) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::write(place.wasm(), kindsight_tests::hostile(description)).unwrap();
        place
    }

    fn wasm(&self) -> PathBuf {
        self.0.path().join("things.wasm")
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn plugin(&self, command: &str, more: &[&str]) -> Output {
        let wasm = self.wasm();
        let args = [&["plugin", command, str(&wasm)], more].concat();
        run(&args, "")
    }
}

fn str(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn cases_of_argo_cd_are_run_and_reported_as_junit() {
    let place = Place::with(r#"{"name": "things"}"#);
    place.write(
        "cases/thing/health_test.yaml",
        "tests:\n- healthStatus: {status: Healthy}\n  inputPath: testdata/a.yaml\n- healthStatus: {status: Degraded}\n  inputPath: testdata/a.yaml\n- healthStatus: {status: Healthy}\n  inputpath: testdata/go.yaml\n",
    );
    let thing =
        "apiVersion: hostile.example.com/v1\nkind: Thing\nmetadata: {name: t}\nspec: {do: ''}\n";
    place.write("cases/thing/testdata/a.yaml", thing);
    // Argo CD has objects with a repeated key, and with a quoted text whose second line begins where its key begins.
    let read_by_go =
        "status:\n  phase: Up\n  phase: Down\n  message: 'two\n  lines'\n---\nkind: Other\n";
    place.write(
        "cases/thing/testdata/go.yaml",
        &format!("{thing}{read_by_go}"),
    );
    let (cases, junit) = (
        place.0.path().join("cases"),
        place.0.path().join("junit.xml"),
    );
    let output = place.plugin("test", &["--cases", str(&cases), "--junit", str(&junit)]);
    let printed = text(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(1),
        "{printed}{}",
        text(&output.stderr)
    );
    assert!(
        printed.contains("expected Degraded, got Ready"),
        "{printed}"
    );
    let junit = fs::read_to_string(junit).unwrap();
    assert!(junit.contains("tests=\"3\" failures=\"1\""), "{junit}");
    assert!(
        junit.contains("<failure message=\"expected Degraded"),
        "{junit}"
    );

    let wrong = place.write(
        "wrong/health_test.yaml",
        "tests:\n- healthStatus: {status: Fine}\n  inputPath: a.yaml\n",
    );
    place.write("wrong/a.yaml", thing);
    let output = place.plugin("test", &["--cases", str(wrong.parent().unwrap())]);
    let errors = text(&output.stderr);
    assert!(errors.contains("`Fine` is not a health status"), "{errors}");
    let output = place.plugin(
        "test",
        &["--cases", str(place.write("none/x", "").parent().unwrap())],
    );
    assert!(text(&output.stderr).contains("there is no health_test.yaml in it"));
}

#[test]
fn lint_names_missing_fixtures_and_unreached_states() {
    let place = Place::with(r#"{"name": "things", "fields": ["/spec", "/status"]}"#);
    let output = place.plugin("lint", &[]);
    let printed = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains("no-fixtures: "), "{printed}");
    assert!(
        printed.contains("unreached-state: no fixture reaches the state Ready"),
        "{printed}"
    );
    // The SDK adds this state.
    assert!(!printed.contains("the state Failed"), "{printed}");
    assert!(
        printed.contains("no-fixture-without-status: hostile.example.com/* Thing"),
        "{printed}"
    );
}

#[test]
fn a_field_that_changes_only_the_time_of_the_recheck_is_covered() {
    let place = Place::with(
        r#"{"name": "things", "uses-now": true, "fields": ["/spec/do", "/spec/at"], "fixtures": [["a recheck",
            "{\"apiVersion\": \"hostile.example.com/v1\", \"kind\": \"Thing\", \"spec\": {\"do\": \"recheck\", \"at\": 5000}}",
            "Pending"]]}"#,
    );
    let printed = text(&place.plugin("test", &[]).stdout);
    assert!(printed.contains("coverage of fields: 2 of 2"), "{printed}");
}

#[test]
fn a_component_is_inspected_by_the_folder_of_its_project() {
    let place = Place::with(r#"{"name": "things"}"#);
    let parent = str(place.0.path());
    run(
        &[
            "plugin",
            "new",
            "widgets",
            "--language",
            "go",
            "--parent",
            parent,
        ],
        "",
    );
    let project = place.0.path().join("widgets");
    let unbuilt = run(&["plugin", "inspect", str(&project)], "");
    assert!(text(&unbuilt.stderr).contains("run `kindsight plugin build` first"));
    fs::copy(place.wasm(), project.join("widgets.wasm")).unwrap();
    let built = run(&["plugin", "inspect", str(&project)], "");
    assert!(built.status.success(), "{}", text(&built.stderr));
    assert!(text(&built.stdout).contains("things"));
}

#[test]
fn lint_names_undeclared_fields_and_wrong_greens() {
    if !is_possible("lints of a rule in C", &["clang", "wasm-ld"]) {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let parent = str(place.path());
    run(
        &[
            "plugin",
            "new",
            "widgets",
            "--language",
            "c",
            "--parent",
            parent,
        ],
        "",
    );
    let project = place.path().join("widgets");
    let edit = |file: &str, from: &str, to: &str| {
        let path = project.join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file}: {text}");
        fs::write(path, text.replace(from, to)).unwrap();
    };
    edit("description.yaml", ", /status/conditions]", "]");
    edit(
        "rule.c",
        "KS_TEXT(\"Pending\"), KS_TEXT(\"NoStatus\")",
        "KS_TEXT(\"Ready\"), KS_TEXT(\"NoStatus\")",
    );
    let built = run(&["plugin", "build", str(&project)], "");
    assert!(built.status.success(), "{}", text(&built.stderr));
    let output = run(&["plugin", "lint", str(&project)], "");
    let printed = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    let undeclared =
        "undeclared-field: fixture `a ready object`: `/status/conditions/*/type` is not requested";
    assert!(printed.contains(undeclared), "{printed}");
    let green = "wrong-green: fixture `a ready object`, without status: it is Ready NoStatus";
    assert!(printed.contains(green), "{printed}");
    assert!(
        printed.contains("unreached-state: no fixture reaches the state Failed"),
        "{printed}"
    );
    let output = run(&["plugin", "test", str(&project)], "");
    let printed = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(
        printed.contains("FAILED  fixtures: an object without a status: expected state Pending"),
        "{printed}"
    );
}

#[test]
fn objects_are_recorded_with_the_requested_fields_alone() {
    let place = Place::with(r#"{"name": "things"}"#);
    let thing = r#"{"apiVersion": "hostile.example.com/v1", "kind": "Thing",
        "metadata": {"name": "t", "annotations": {"secret": "x"}}, "spec": {"do": ""}, "status": {"other": 1}}"#;
    let list = format!(r#"{{"apiVersion": "v1", "kind": "List", "items": [{thing}, {thing}]}}"#);
    let wasm = place.wasm();
    let output = run(&["plugin", "record", "--component", str(&wasm)], &list);
    let yaml = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let fixtures: Value = serde_saphyr::from_str(&yaml).unwrap();
    let names: Vec<&Value> = fixtures
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["Thing t", "Thing t (2)"]);
    assert_eq!(fixtures[0]["object"]["spec"], serde_json::json!({"do": ""}));
    assert!(!yaml.contains("secret"), "{yaml}");

    let files = ["one.json", "two.json"].map(|name| place.write(name, thing));
    let files = files.each_ref().map(|file| str(file));
    let args = [&["plugin", "record", "--component", str(&wasm)], &files[..]].concat();
    let yaml = text(&run(&args, "").stdout);
    let fixtures: Value = serde_saphyr::from_str(&yaml).unwrap();
    assert_eq!(fixtures[0]["name"], "Thing t", "{yaml}");
    assert_eq!(fixtures[1]["name"], "Thing t (2)", "{yaml}");

    let pod = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}"#;
    let output = run(&["plugin", "record", "--component", str(&wasm)], pod);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("skipped Pod p"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_missing_tool_is_named_with_the_command_that_installs_it() {
    let place = tempfile::tempdir().unwrap();
    let parent = str(place.path());
    let new = run(
        &[
            "plugin",
            "new",
            "widgets",
            "--language",
            "go",
            "--parent",
            parent,
        ],
        "",
    );
    assert!(new.status.success(), "{}", text(&new.stderr));
    let project = place.path().join("widgets");
    let output = kindsight(&["plugin", "build", str(&project)])
        .env("PATH", "/nowhere")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let errors = text(&output.stderr);
    assert!(
        errors.contains("go was not found. To install it: Go 1.24 or later"),
        "{errors}"
    );
    let again = run(
        &[
            "plugin",
            "new",
            "widgets",
            "--language",
            "c",
            "--parent",
            parent,
        ],
        "",
    );
    assert!(text(&again.stderr).contains("exists already"));
    let unbuilt = run(&["plugin", "test", str(&project)], "");
    assert!(text(&unbuilt.stderr).contains("run `kindsight plugin build` first"));
    let broken = project.join("description.yaml");
    let description = fs::read_to_string(&broken)
        .unwrap()
        .replace("phase: ready", "phase: redy");
    fs::write(broken, description).unwrap();
    let errors = text(&run(&["plugin", "build", str(&project)], "").stderr);
    assert!(
        errors.contains("redy") && errors.contains("description.yaml"),
        "{errors}"
    );
}

#[test]
fn a_comparison_is_a_table_in_markdown() {
    let place = Place::with(r#"{"name": "things"}"#);
    let objects = place.write(
        "objects.json",
        r#"{"apiVersion": "hostile.example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"do": ""}}"#,
    );
    let wasm = place.wasm();
    let output = run(
        &[
            "plugin",
            "diff",
            "built-in",
            str(&wasm),
            "--against",
            str(&objects),
        ],
        "",
    );
    let printed = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(printed.contains("1 of 1 verdict would change"), "{printed}");
    assert!(
        printed.contains("| Kind | from | to | objects | for example |"),
        "{printed}"
    );
    let failing = [
        "plugin",
        "diff",
        "built-in",
        str(&wasm),
        "--against",
        str(&objects),
        "--fail-on",
        "changes",
    ];
    assert_eq!(run(&failing, "").status.code(), Some(3));
}
