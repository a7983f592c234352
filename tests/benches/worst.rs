//! Cost of the largest objects of the worst shapes, by interpreter.
//!
//! Each value of `kindsight_tests::worst` is put at each field that an interpreter asks for, in an
//! object of the largest size. Guests are compiled alike in every profile, so a debug build shows the
//! same but for trimming, which no deadline counts.
//!
//! `cargo bench -p kindsight-tests --bench worst`; only some: `-- generic gateway`

use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_interpreter::{Interpreter, Interpreters, Limits, Memo, Siblings, Worker};
use kindsight_model::{OBJECT_BYTES_MAX, Object, Source};
use kindsight_tests::worst::{self, SHAPES};

/// One call.
struct Case {
    took: Duration,
    input_bytes: usize,
    name: String,
    reason: String,
}

fn main() {
    // Longer than any rule allows, so that the bench shows what an object needs.
    let limits = Limits {
        workers: 1,
        call_deadline: Duration::from_secs(5),
        ..Limits::default()
    };
    let interpreters = Interpreters::start(limits.clone(), None).expect("an engine");
    let named: Vec<String> = std::env::args().skip(1).collect();
    let is_named = |name: &str| {
        named.iter().all(|argument| argument.starts_with('-'))
            || named.iter().any(|argument| argument == name)
    };
    for built_in in kindsight_plugins::BUILT_IN
        .iter()
        .filter(|plugin| is_named(plugin.name))
    {
        let interpreter = interpreters.load(built_in.wasm).expect("a component");
        let live = vec![(Source::BuiltIn, Arc::clone(&interpreter))];
        interpreters.publish(live).expect("a set");
        let mut cases = cases(&interpreters, &interpreter, &limits);
        cases.sort_by_key(|case| std::cmp::Reverse(case.took));
        println!("{}: {} objects", built_in.name, cases.len());
        let is_fault = |case: &&Case| case.reason.starts_with("Interpreter");
        let faults: Vec<&Case> = cases.iter().filter(is_fault).collect();
        for case in cases.iter().take(5).chain(faults.into_iter().take(40)) {
            let Case {
                took,
                input_bytes,
                name,
                reason,
            } = case;
            println!("  {took:>10.1?} {input_bytes:>8} bytes  {name} {reason}");
        }
    }
}

fn cases(interpreters: &Interpreters, interpreter: &Interpreter, limits: &Limits) -> Vec<Case> {
    let set = interpreters.published();
    let mut worker = Worker::new(limits.clone(), Arc::new(Memo::new(0)));
    let mut cases = Vec::new();
    for handled in &interpreter.description().kinds {
        let pattern = &handled.pattern;
        let named = |part: &str| part.replace('*', "a.example.com");
        for pointer in handled.fields.pointers() {
            if matches!(pointer.as_str(), "/apiVersion" | "/kind") {
                continue;
            }
            for shape in SHAPES {
                let (group, kind) = (named(&pattern.group), named(&pattern.kind));
                // An input can hold fewer small values than fit into the largest object.
                let sizes = [1, 2, 4, 8].map(|part| OBJECT_BYTES_MAX / part);
                let json = |bytes| worst::object(&group, &kind, &pointer, shape, bytes);
                let object = sizes
                    .iter()
                    .find_map(|bytes| Object::from_json(json(*bytes)).ok());
                let object = object.expect("an object");
                // One call before the measurement, so that one-time costs are excluded.
                worker.judge(&set, &object, &Siblings::none(), 0);
                let input_bytes = worker.fill(&set, &object, &Siblings::none()).len();
                let begin = Instant::now();
                let judged = worker.judge_filled(&set, &object.gvk, 0);
                cases.push(Case {
                    took: begin.elapsed(),
                    input_bytes,
                    name: format!("{} {pointer} {}", object.gvk, shape.0),
                    reason: judged.reason.to_string(),
                });
            }
        }
    }
    cases
}
