//! Argo CD's own tree of scripts with its cases, from Go's module cache.

use std::fs;
use std::path::{Path, PathBuf};

use kindsight_conversion::{argo, yaml};
use serde_json::Value;

use crate::{judged, published};

/// The scripts of the Argo CD that the benchmarks compare with. `None` if Go is not installed.
fn tree() -> Option<PathBuf> {
    let scripts = kindsight_tests::argo_scripts();
    if scripts.is_none() {
        assert!(
            std::env::var_os("CI").is_none(),
            "the test needs Go and its module proxy"
        );
        println!("NOT RUN: the cases of Argo CD need Go and its module proxy");
    }
    scripts
}

/// An object with the health that upstream expects.
struct Case {
    path: String,
    object: Value,
    status: String,
    message: String,
}

fn collect(folder: &Path, cases: &mut Vec<Case>) {
    let entries = fs::read_dir(folder).expect("a folder");
    for entry in entries.map(|entry| entry.expect("an entry")) {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, cases);
        } else if entry.file_name() == "health_test.yaml" && folder.join("health.lua").is_file() {
            let text = fs::read_to_string(&path).expect("a list of cases");
            let list = first(&text);
            let tests = list["tests"].as_array().expect("cases");
            cases.extend(tests.iter().map(|case| of(folder, case)));
        }
    }
}

/// The first document, which is the one that Argo CD reads.
fn first(text: &str) -> Value {
    let documents = yaml::documents(text).expect("YAML");
    documents.into_iter().next().expect("a document")
}

fn of(folder: &Path, case: &Value) -> Case {
    let text = |pointer: &str| {
        case.pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    // Go matches names in any case.
    let path = folder.join(format!("{}{}", text("/inputPath"), text("/inputpath")));
    let object = fs::read_to_string(&path).expect("an object");
    Case {
        path: path.display().to_string(),
        object: first(&object),
        status: text("/healthStatus/status").to_owned(),
        message: text("/healthStatus/message").to_owned(),
    }
}

#[test]
fn every_case_of_argo_cd_gets_the_health_that_upstream_expects() {
    let Some(tree) = tree() else {
        return;
    };
    let conversion = argo::from_path(argo::NAME, &tree).expect("an interpreter");
    let mut cases = Vec::new();
    collect(&tree, &mut cases);
    // The list of SQLUser has 5 more cases, without a script: upstream does not run them either.
    assert_eq!(cases.len(), 896, "of the pinned version");
    assert_eq!(conversion.refused.len(), 1, "{:?}", conversion.refused);
    assert_eq!(conversion.fixtures, cases.len());
    let interpreters = published(&conversion.component);
    let objects: Vec<Value> = cases.iter().map(|case| case.object.clone()).collect();
    let verdicts = judged(&interpreters, &objects);
    let mut wrong = Vec::new();
    let mut deleted = 0;
    for (case, verdict) in cases.iter().zip(&verdicts) {
        if case.object.pointer("/metadata/deletionTimestamp").is_some() {
            deleted += 1;
            assert_eq!(&*verdict.state, "Terminating", "{}", case.path);
            continue;
        }
        // The host replaces control characters in messages, such as the ends of lines.
        let message = case
            .message
            .replace(|letter: char| letter.is_control(), " ");
        let is_right = *verdict.reason == *case.status && *verdict.message == *message;
        if !is_right {
            wrong.push(format!(
                "{}: {} `{}` and not {} `{}`",
                case.path, verdict.reason, verdict.message, case.status, case.message
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        deleted < 20,
        "{deleted} cases are decided before their script"
    );
}
