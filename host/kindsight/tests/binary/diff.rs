//! `kindsight interpreters diff`.

use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::process::{run, text};

/// The message of the rule for Deployments about one without a status.
const OLD_MESSAGE: &str = "the controller has not looked at it yet";
/// A message of the same length, so that it can replace the other in the component.
const NEW_MESSAGE: &str = "no controller has looked at it till now";

const DEPLOYMENTS: &str = r#"{"apiVersion": "v1", "kind": "List", "items": [
    {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "x"}},
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "x"}}]}
"#;

/// The component that judges Deployments, with another digest.
fn with_another_digest() -> Vec<u8> {
    let mut wasm = kindsight_plugins::built_in("apps").unwrap().wasm.to_vec();
    // An empty custom section.
    wasm.extend_from_slice(b"\0\x05\x04note");
    wasm
}

/// The component that judges Deployments, with another message.
fn with_another_message() -> Vec<u8> {
    let mut wasm = with_another_digest();
    let mut places = 0;
    for start in 0..wasm.len() - OLD_MESSAGE.len() {
        if wasm[start..].starts_with(OLD_MESSAGE.as_bytes()) {
            wasm[start..start + OLD_MESSAGE.len()].copy_from_slice(NEW_MESSAGE.as_bytes());
            places += 1;
        }
    }
    assert!(places > 0);
    wasm
}

fn written(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

fn diff(old: &[u8], new: &[u8], arguments: &[&str], input: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let old = written(folder.path(), "old.wasm", old);
    let new = written(folder.path(), "new.wasm", new);
    let command = ["interpreters", "diff", &old, &new];
    let all: Vec<&str> = command.iter().chain(arguments).copied().collect();
    run(&all, input)
}

#[test]
fn a_component_that_differs_only_in_its_digest_changes_nothing() {
    let apps = kindsight_plugins::built_in("apps").unwrap().wasm;
    let output = diff(apps, &with_another_digest(), &["-"], DEPLOYMENTS);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    let total = "0 of 1 verdicts would change, 0 of them the phase, 0 faults (old 0)\n";
    assert!(table.starts_with(total), "{table}");
    assert!(text(&output.stderr).is_empty(), "{}", text(&output.stderr));
}

#[test]
fn changes_are_shown_with_the_objects_they_concern() {
    let apps = kindsight_plugins::built_in("apps").unwrap().wasm;
    let output = diff(apps, &with_another_message(), &["-o", "json"], DEPLOYMENTS);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["name"], &report["changed"]),
        (&"apps".into(), &1.into())
    );
    assert_ne!(report["live"]["digest"], report["candidate"]["digest"]);
    let change = &report["changes"][0];
    assert_eq!(change["kind"], "apps/v1/Deployment");
    assert_eq!(
        (&change["from"], &change["to"]),
        (&"Pending".into(), &"Pending".into())
    );
    let sample = &change["samples"][0];
    assert_eq!(
        (&sample["place"], &sample["namespace"], &sample["name"]),
        (&"standard input".into(), &"x".into(), &"web".into())
    );
    let messages = (&sample["from"]["message"], &sample["to"]["message"]);
    assert_eq!(messages, (&OLD_MESSAGE.into(), &NEW_MESSAGE.into()));
}

#[test]
fn input_that_is_no_object_exits_with_1_after_the_report() {
    let apps = kindsight_plugins::built_in("apps").unwrap().wasm;
    let second_item = DEPLOYMENTS.find(r#"{"apiVersion": "v1", "kind": "ConfigMap""#);
    let (between_items, _) = DEPLOYMENTS.split_at(second_item.unwrap());
    let (in_an_item, _) = DEPLOYMENTS.split_at(DEPLOYMENTS.find("ConfigMap").unwrap());
    let with_text = format!("{DEPLOYMENTS}nonsense\n");
    let cut_off = "the JSON ends before it is complete";
    for (input, why) in [
        (between_items, cut_off),
        (in_an_item, cut_off),
        (&*with_text, "it does not start with `{`"),
    ] {
        let output = diff(apps, &with_another_digest(), &["-"], input);
        assert_eq!(output.status.code(), Some(1), "{input}");
        let table = text(&output.stdout);
        assert!(table.starts_with("0 of 1 verdicts would change"), "{table}");
        let told = text(&output.stderr);
        let skipped = "standard input: skipped 1 document: not a Kubernetes object";
        assert!(told.contains(skipped) && told.contains(why), "{told}");
    }
}

#[test]
fn an_empty_comparison_is_reported() {
    let plugins = ["generic", "apps"].map(|name| kindsight_plugins::built_in(name).unwrap());
    let output = diff(plugins[0].wasm, plugins[1].wasm, &[], DEPLOYMENTS);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let hint = "2 objects read; the same interpreters judge them with either component";
    assert!(
        text(&output.stderr).contains(hint),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_refused_component_or_unreadable_input_exits_with_1() {
    let apps = kindsight_plugins::built_in("apps").unwrap().wasm;
    let output = diff(apps, b"not Wasm", &[], DEPLOYMENTS);
    assert_eq!(output.status.code(), Some(1));
    let why = text(&output.stderr);
    assert!(why.contains("new.wasm is refused: validated: "), "{why}");
    let output = diff(
        apps,
        &with_another_message(),
        &["-", "/not/there.json"],
        DEPLOYMENTS,
    );
    assert_eq!(output.status.code(), Some(1));
    let table = text(&output.stdout);
    assert!(table.starts_with("1 of 1 verdicts would change"), "{table}");
    let why = text(&output.stderr);
    assert!(why.contains("open /not/there.json"), "{why}");
}

/// A change of a message concerns an application, and no phase.
#[test]
fn a_component_is_compared_with_the_built_in_interpreters() {
    let input = r#"{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "x",
        "labels": {"app.kubernetes.io/instance": "shop"}}}"#;
    let folder = tempfile::tempdir().unwrap();
    let new = written(folder.path(), "new.wasm", &with_another_message());
    let compare = |arguments: &[&str]| {
        let command = ["interpreters", "diff", "built-in", &new, "-o", "json"];
        let all: Vec<&str> = command.iter().chain(arguments).copied().collect();
        let output = run(&all, input);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), report)
    };
    let (code, report) = compare(&[]);
    assert_eq!(code, Some(3));
    assert_eq!(
        (&report["changed"], &report["phases-changed"]),
        (&1.into(), &0.into())
    );
    assert_eq!(
        report["applications"],
        serde_json::json!([{"name": "shop", "changed": 1, "phases-changed": 0}])
    );
    let apps = kindsight_plugins::built_in("apps").unwrap().wasm;
    let digest = kindsight_model::Digest::of(apps).to_string();
    assert_eq!(report["live"]["digest"], digest);
    let (code, _) = compare(&["--fail-on", "phase"]);
    assert_eq!(code, Some(0));
}
