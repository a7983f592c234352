//! The largest objects of the worst shapes: each built-in interpreter, and each of the catalogue, judges them within its
//! limits.

#[path = "common/catalogue.rs"]
mod catalogue;

use std::sync::Arc;

use kindsight_interpreter::{Interpreter, Interpreters, Limits, Memo, Siblings, Worker};
use kindsight_model::{OBJECT_BYTES_MAX, Object, Source};
use kindsight_tests::worst::{self, SHAPES};

/// Each Kind of a special interpreter is tried with one of so many shapes, in turns. `benches/worst.rs` tries all
/// shapes.
const SHAPES_PER_TURN: usize = 7;

/// The same number for the Kinds of the catalogue, whose rules run on one evaluator of CEL.
const SHAPES_PER_TURN_OF_CATALOGUE: usize = 97;

#[test]
fn the_largest_objects_are_judged_within_the_limits() {
    let limits = Limits {
        workers: 1,
        ..Limits::default()
    };
    let interpreters = Interpreters::start(limits.clone(), None).expect("an engine");
    let mut faults = Vec::new();
    for built_in in kindsight_plugins::BUILT_IN {
        let interpreter = interpreters.load(built_in.wasm).expect("a component");
        let live = vec![(Source::BuiltIn, Arc::clone(&interpreter))];
        interpreters.publish(live).expect("a set");
        faults.extend(judged(
            &interpreters,
            &interpreter,
            &limits,
            SHAPES_PER_TURN,
        ));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_catalogue_judges_the_largest_objects_within_the_limits() {
    let limits = Limits {
        workers: 1,
        ..Limits::default()
    };
    let interpreters = Interpreters::start(limits.clone(), None).expect("an engine");
    let mut faults = Vec::new();
    for rules in catalogue::joined_rules() {
        let loaded = interpreters.load(&catalogue::component(&rules));
        let interpreter = loaded.unwrap_or_else(|error| panic!("{}", error.with_step()));
        let live = vec![(Source::Catalogue, Arc::clone(&interpreter))];
        interpreters.publish(live).expect("a set");
        let turn = SHAPES_PER_TURN_OF_CATALOGUE;
        faults.extend(judged(&interpreters, &interpreter, &limits, turn));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Judges objects of all Kinds; returns the objects whose verdict is a fault. Each field of a Kind gets one of
/// `shapes_per_turn` shapes, in turns.
fn judged(
    interpreters: &Interpreters,
    interpreter: &Interpreter,
    limits: &Limits,
    shapes_per_turn: usize,
) -> Vec<String> {
    let set = interpreters.published();
    let mut worker = Worker::new(limits.clone(), Arc::new(Memo::new(0)));
    let mut faults = Vec::new();
    for (turn, handled) in interpreter.description().kinds.iter().enumerate() {
        let named = |part: &str| part.replace('*', "a.example.com");
        let (group, kind) = (named(&handled.pattern.group), named(&handled.pattern.kind));
        let is_generic = handled.pattern.group == "*" && handled.pattern.kind == "*";
        let pointers = handled.fields.pointers();
        let pointers = pointers
            .iter()
            .filter(|pointer| pointer.starts_with("/status"));
        for (at, pointer) in pointers.enumerate() {
            let is_tried =
                |number: usize| is_generic || (number + turn + at).is_multiple_of(shapes_per_turn);
            for (_, shape) in SHAPES
                .iter()
                .enumerate()
                .filter(|(number, _)| is_tried(*number))
            {
                // An input can hold fewer small values than fit into the largest object.
                let sizes = [1, 2, 4, 8].map(|part| OBJECT_BYTES_MAX / part);
                let json = |bytes| worst::object(&group, &kind, pointer, shape, bytes);
                let object = sizes
                    .iter()
                    .find_map(|bytes| Object::from_json(json(*bytes)).ok());
                let object = object.expect("an object");
                let judged = worker.judge(&set, &object, &Siblings::none(), 0);
                if judged.reason.starts_with("Interpreter") {
                    faults.push(format!("{kind} {pointer} {}: {}", shape.0, judged.message));
                }
            }
        }
    }
    faults
}
