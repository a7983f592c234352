//! Answers that no compiler would make.

use expect_test::expect;

use super::{Case, Expected, called_bytes, check};
use crate::by_hand::{self, Answer, Module, Ways};
use crate::object;

/// All handwritten guests with garbage, except guests that fail in the functions around a call.
pub(super) fn cases() -> Vec<Case> {
    let garbage = by_hand::garbage().into_iter();
    let garbage = garbage.filter(|(what, _)| {
        *what != "a right answer"
            && !what.starts_with("realloc")
            && !what.starts_with("post-return")
    });
    let garbage = garbage.map(|(what, bytes)| called_bytes(what, bytes));
    garbage.chain(odd_times()).chain(ways()).collect()
}

/// Verdicts with impossible times. The host limits such times before it shows or schedules them.
fn odd_times() -> Vec<Case> {
    let says = |name, since_ms, recheck_ms| {
        let module = Module {
            answer: Answer {
                since_tag: 1,
                since_ms,
                recheck_ms: Some(recheck_ms),
                ..Answer::default()
            },
            ..Module::default()
        };
        harmless(name, &module)
    };
    vec![
        says("since the end of time", i64::MAX, i64::MAX),
        says("since before all time", i64::MIN, i64::MIN),
        says(
            "since tomorrow, to check yesterday",
            86_400_000,
            -86_400_000,
        ),
    ]
}

/// Components that judge by text, and by both.
fn ways() -> Vec<Case> {
    let judges = |name, ways| {
        let module = Module {
            ways,
            ..Module::default()
        };
        harmless(name, &module)
    };
    let traps = Module {
        ways: Ways::Text,
        judge: Some("unreachable".to_owned()),
        ..Module::default()
    };
    let beyond = Module {
        ways: Ways::Text,
        judge: Some("i32.const -64".to_owned()),
        ..Module::default()
    };
    vec![
        judges("judge alone", Ways::Text),
        judges("judge that traps beside judge-view", Ways::Both),
        called_bytes("judge alone that traps", traps.build()),
        called_bytes(
            "judge alone with an answer beyond its memory",
            beyond.build(),
        ),
    ]
}

fn harmless(name: &'static str, module: &Module) -> Case {
    Case {
        name,
        bytes: module.build(),
        expected: Expected::Harmless(object("hand.example.com", "{}")),
    }
}

#[test]
fn guests_that_answer_garbage() {
    check(
        &cases(),
        &expect![[r#"
            an answer beyond its memory
              Unknown InterpreterInvalidAnswer: interpreter by-hand 1.0.0 (sha256:…) answered with something the contract does not allow: pointer out of bounds of memory
            an answer that is not aligned
              Unknown InterpreterInvalidAnswer: interpreter by-hand 1.0.0 (sha256:…) answered with something the contract does not allow: return pointer not aligned
            neither verdict nor failure
              Unknown InterpreterInvalidAnswer: interpreter by-hand 1.0.0 (sha256:…) answered with something the contract does not allow: invalid expected discriminant
            a failure that is none of the four
              Unknown InterpreterInvalidAnswer: interpreter by-hand 1.0.0 (sha256:…) answered with something the contract does not allow: unexpected discriminant: 9
            a state beyond its memory
              Unknown InterpreterInvalidAnswer: interpreter by-hand 1.0.0 (sha256:…) answered with something the contract does not allow: string pointer/length out of bounds of memory
            a state of 4 GiB
              Unknown InterpreterInvalidAnswer: interpreter by-hand 1.0.0 (sha256:…) answered with something the contract does not allow: string pointer/length out of bounds of memory
            a state that is not UTF-8
              Unknown InterpreterInvalidAnswer: interpreter by-hand 1.0.0 (sha256:…) answered with something the contract does not allow: invalid utf-8 sequence of 1 bytes from index 0
            a reason of 129 bytes
              Ready xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx: x
            a time that neither is nor is not
              Unknown InterpreterInvalidAnswer: interpreter by-hand 1.0.0 (sha256:…) answered with something the contract does not allow: invalid option discriminant
            since the end of time
              Ready : x
            since before all time
              Ready : x
            since tomorrow, to check yesterday
              Ready : x
            judge alone
              Ready : x
            judge that traps beside judge-view
              Ready : x
            judge alone that traps
              Unknown InterpreterTrapped: interpreter by-hand 1.0.0 (sha256:…) trapped: wasm trap: wasm `unreachable` instruction executed
            judge alone with an answer beyond its memory
              Unknown InterpreterInvalidAnswer: interpreter by-hand 1.0.0 (sha256:…) answered with something the contract does not allow: pointer out of bounds of memory
        "#]],
    );
}
