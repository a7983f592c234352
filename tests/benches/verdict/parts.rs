//! Parts of a warm call: entering a component, copying its input, and taking its answer.
//!
//! The hostile guest answers at once without judging. The call with the smallest input and answer therefore shows the
//! cost of entering a component. Calls with larger inputs and answers show the cost of each byte. The rest of a warm
//! call is the rule itself.

use std::hint::black_box;
use std::sync::Arc;

use kindsight_interpreter::{Interpreters, Isolation, Siblings};
use kindsight_model::{Object, Source};

use super::{limits, seconds, worker};

const TURNS: usize = 201;
const CALLS: u32 = 200;
/// Further bytes of input or answer.
const BYTES: u16 = 4000;

/// Prints the parts.
pub(crate) fn print() {
    let text = |bytes| "x".repeat(bytes);
    let nothing = time_of(&object(r#"{"do": ""}"#));
    let input = time_of(&object(&format!(
        r#"{{"more": "{}"}}"#,
        text(usize::from(BYTES))
    )));
    // The answer repeats a part of the input: a message of two bytes a letter, made by the guest.
    let answer = time_of(&object(&format!(
        r#"{{"do": "long-message", "bytes": {BYTES}}}"#
    )));
    let ns_a_byte = |time: f64| (time - nothing) / f64::from(BYTES) * 1e9;
    println!(
        "parts of a warm call: entry and the smallest answer {:.2} us  input {:.3} ns a byte  message {:.3} ns a byte, with its making",
        nothing * 1e6,
        ns_a_byte(input),
        ns_a_byte(answer),
    );
}

/// Median time of a warm call about an object.
fn time_of(object: &Object) -> f64 {
    let interpreters = Interpreters::start(limits(Isolation::Pooled), None).expect("a machine");
    let guest = interpreters.load(&kindsight_tests::hostile(r#"{"name": "hostile"}"#));
    let member = (Source::Upload, guest.expect("a component"));
    interpreters.publish(vec![member]).expect("a set");
    let set = interpreters.published();
    let mut worker = worker(Isolation::Pooled, 0);
    worker.fill(&set, object, &Siblings::none());
    let mut call = || {
        black_box(worker.judge_filled(&set, black_box(&object.gvk), 0));
    };
    let mut times: Vec<f64> = (0..TURNS).map(|_| seconds(CALLS, &mut call)).collect();
    times.sort_unstable_by(f64::total_cmp);
    times[TURNS / 2]
}

fn object(spec: &str) -> Object {
    let json = format!(
        r#"{{"apiVersion":"hostile.example.com/v1","kind":"Thing","metadata":{{"name":"it"}},"spec":{spec}}}"#
    );
    Object::from_json(Arc::<str>::from(json)).expect("an object")
}
