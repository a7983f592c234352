//! Guests that misbehave: the cost of each, its message for users, and the absence of effects on other interpreters.

mod by_hand;
mod cache;
mod calls;
mod damage;
mod loading;
mod logging;
mod lookup;
mod parts;
mod suite;
mod swap;

use std::sync::Arc;

use kindsight_interpreter::{Interpreter, Interpreters, Limits};
use kindsight_model::{Object, Verdict};

/// One worker, so that a batch is judged in its order on one thread.
fn one_worker() -> Limits {
    Limits {
        workers: 1,
        // Little, so that a guest that allocates all of it is stopped for that long before its deadline.
        memory_bytes_max: 8 * 1024 * 1024,
        ..Limits::default()
    }
}

fn start(limits: Limits) -> Interpreters {
    Interpreters::start(limits, None).expect("an engine")
}

/// Loads the hostile guest with that description.
fn hostile(interpreters: &Interpreters, description: &str) -> Arc<Interpreter> {
    let loaded = interpreters.load(&kindsight_tests::hostile(description));
    loaded.unwrap_or_else(|error| panic!("{description}: {error}"))
}

/// An object of `group` with that `spec`.
fn object(group: &str, spec: &str) -> Object {
    let json = format!(
        r#"{{"apiVersion": "{group}/v1", "kind": "Thing", "metadata": {{"name": "it"}}, "spec": {spec}}}"#
    );
    Object::from_json(json).expect("an object")
}

/// An object of the hostile guest's own Kind.
fn thing(spec: &str) -> Object {
    object("hostile.example.com", spec)
}

/// `state reason: message`, without digests: they change with every build.
fn verdict_text(verdict: &Verdict) -> String {
    let line = format!("{} {}: {}", verdict.state, verdict.reason, verdict.message);
    without_digests(&line)
}

fn without_digests(text: &str) -> String {
    let mut parts = text.split("sha256:");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("sha256:…");
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
    }
    out
}
