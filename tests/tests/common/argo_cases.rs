//! The cases of Argo CD's tree of health scripts.

use std::fs;
use std::path::Path;

use kindsight_conversion::yaml;
use serde_json::Value;

/// An object with the health that upstream expects.
pub(crate) struct Case {
    pub(crate) path: String,
    pub(crate) object: Value,
    /// The expected `status` and `message`.
    pub(crate) health: Value,
}

impl Case {
    /// The expected status.
    pub(crate) fn status(&self) -> &str {
        self.health["status"].as_str().unwrap_or_default()
    }
}

/// Adds the cases of a folder `resource_customizations` that have a script.
///
/// # Panics
/// If a file of the tree is missing or no YAML.
pub(crate) fn collect(folder: &Path, cases: &mut Vec<Case>) {
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
        health: case["healthStatus"].clone(),
    }
}
