//! Interpreters that are made of scripts in Lua: Argo CD's tree, Karmada's objects, hostile scripts.
//!
//! Every test loads the component in the engine of the host.

#[path = "../common/argo_cases.rs"]
mod argo_cases;
mod hostile;
mod meaning;
mod upstream;

use std::collections::BTreeMap;
use std::sync::Arc;

use kindsight_conversion::argo;
use kindsight_interpreter::{Interpreters, Limits, Memo, Siblings, Worker};
use kindsight_model::{Object, Source, Verdict};
use serde_json::Value;

/// The time of every call: 2026-12-31T00:00:00Z.
const NOW_MS: i64 = 1_798_675_200_000;

/// Loads a component, which runs its fixtures, and publishes it alone.
fn published(wasm: &[u8]) -> Interpreters {
    let interpreters = Interpreters::start(Limits::default(), None).expect("an engine");
    let loaded = interpreters.load(wasm);
    let loaded = loaded.unwrap_or_else(|error| panic!("{}", error.with_step()));
    assert_eq!(loaded.description().warnings, [""; 0]);
    let set = vec![(Source::Upload, loaded)];
    interpreters.publish(set).expect("a set");
    interpreters
}

/// An interpreter with a script for each Kind of `example.com`, as in a `ConfigMap`.
fn of_scripts(scripts: &[(&str, &str)]) -> Interpreters {
    let mut data = BTreeMap::new();
    for (kind, script) in scripts {
        let key = |of: &str| format!("resource.customizations.{of}.example.com_{kind}");
        data.insert(key("health"), (*script).to_owned());
        data.insert(key("useOpenLibs"), "true".to_owned());
    }
    let conversion = argo::from_config_map(argo::NAME, &data).expect("an interpreter");
    assert_eq!(conversion.refused, []);
    published(&conversion.component)
}

/// Judges objects, each alone.
fn judged(interpreters: &Interpreters, objects: &[Value]) -> Vec<Verdict> {
    let set = interpreters.published();
    let mut worker = Worker::new(Limits::default(), Arc::new(Memo::new(1024 * 1024)));
    let verdicts = objects.iter().map(|object| {
        let object = Object::from_json(object.to_string()).expect("an object");
        worker.judge(&set, &object, &Siblings::none(), NOW_MS)
    });
    verdicts.collect()
}
