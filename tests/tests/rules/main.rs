//! Interpreters that are made of rules: the declarative examples, Flux's checks, and kstatus.
//!
//! Every test loads the component in the engine of the host.

#[path = "../common/argo_cases.rs"]
mod argo_cases;
mod catalogue;
mod examples;
mod flux;
mod hostile;
mod kstatus;
mod lints;
mod related;
mod suites;

use std::path::PathBuf;
use std::sync::Arc;

use kindsight_conversion::cel::RuleSet;
use kindsight_interpreter::{Interpreters, Limits, Memo, Siblings, Worker};
use kindsight_model::{Object, Source, Verdict};
use serde_json::Value;

/// The time of every call.
const NOW_MS: i64 = 1_798_761_600_000;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn engine() -> Interpreters {
    Interpreters::start(Limits::default(), None).expect("an engine")
}

/// Loads a component, which runs its fixtures, and publishes it alone.
fn published(wasm: &[u8]) -> Interpreters {
    let interpreters = engine();
    let loaded = interpreters.load(wasm);
    let loaded = loaded.unwrap_or_else(|error| panic!("{}", error.with_step()));
    assert_eq!(loaded.description().warnings, [""; 0]);
    let set = vec![(Source::Upload, loaded)];
    interpreters.publish(set).expect("a set");
    interpreters
}

fn component(rules: &RuleSet) -> Vec<u8> {
    rules.component().unwrap_or_else(|error| panic!("{error}"))
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
