//! Interpreter: widgets of example.com, written only from `wit/interpreter.wit` and the schemas
//! beside it.
//!
//! It does not use the SDK: `wit-bindgen` generates the types and exports of the world
//! `interpreter`, and objects are passed as JSON text. Build it for `wasm32-unknown-unknown`. The
//! host converts the module to a component.

mod bindings {
    wit_bindgen::generate!({ path: "../../../wit", world: "interpreter" });
}

use bindings::exports::kindsight::interpreter::description::Guest as Described;
use bindings::exports::kindsight::interpreter::text::{Coverage, Guest as Judging, Input};
use bindings::kindsight::interpreter::types::{Failure, Verdict};
use serde_json::{Value, json};

struct Widgets;

bindings::export!(Widgets with_types_in bindings);

impl Described for Widgets {
    fn describe() -> String {
        json!({
            "name": "widgets",
            "version": "1.0.0",
            "summary": "Widgets of example.com",
            "kinds": [{
                "group": "example.com",
                "kind": "Widget",
                "fields": ["/status/phase"],
                "related": [{"group": "", "kind": "Pod", "relation": "owned", "limit": 1}],
            }],
            "states": [
                {"name": "Ready", "phase": "ready", "summary": "Works as requested"},
                {"name": "Pending", "phase": "pending", "summary": "Not ready yet"},
                {"name": "Draining", "phase": "pending", "summary": "Finishing its work before it stops"},
            ],
        })
        .to_string()
    }

    fn fixtures() -> String {
        include_str!("../fixtures/widgets.json").to_owned()
    }
}

impl Judging for Widgets {
    fn judge(input: Input) -> Result<Verdict, Failure> {
        let object: Value = serde_json::from_str(&input.object)
            .map_err(|error| Failure::InvalidObject(error.to_string()))?;
        let phase = match object.pointer("/status/phase") {
            None | Some(Value::Null) => "",
            Some(Value::String(phase)) => phase,
            Some(_) => {
                let why = "status.phase is not a string".to_owned();
                return Err(Failure::InvalidObject(why));
            }
        };
        Ok(match phase {
            "Running" if owns_no_pod(&input) => {
                verdict("Pending", "NoPods", "says that it runs, and owns no Pod")
            }
            "Running" => verdict("Ready", "Running", ""),
            "Draining" => verdict("Draining", "Draining", "it finishes its work"),
            "" => verdict("Pending", "NotRunning", "no phase yet"),
            other => verdict("Pending", "NotRunning", &format!("its phase is {other}")),
        })
    }
}

/// Returns whether the Kind's first rule found no objects and the coverage is complete. An empty
/// set alone does not prove that there are no Pods.
fn owns_no_pod(input: &Input) -> bool {
    let pods = input.related.first();
    pods.is_some_and(|pods| pods.coverage == Coverage::Complete && pods.total == 0)
}

fn verdict(state: &str, reason: &str, message: &str) -> Verdict {
    Verdict {
        state: state.to_owned(),
        reason: reason.to_owned(),
        message: message.to_owned(),
        since_ms: None,
        recheck_at_ms: None,
    }
}
