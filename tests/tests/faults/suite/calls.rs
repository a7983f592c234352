//! Components that go live, and misbehave when they are called.

use expect_test::expect;

use super::{Case, called, called_module, check};
use crate::by_hand::Module;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = interpreting();
    cases.extend(growing());
    cases.extend(around());
    cases
}

fn interpreting() -> Vec<Case> {
    vec![
        called("judge: loops", r#"{"do": "loop"}"#),
        called("judge: allocates", r#"{"do": "allocate"}"#),
        called("judge: recurses", r#"{"do": "recurse"}"#),
        called("judge: traps", r#"{"do": "trap"}"#),
        called("judge: panics", r#"{"do": "panic"}"#),
        called("judge: floods the log", r#"{"do": "flood-log"}"#),
        called("judge: logs escapes", r#"{"do": "log-escapes"}"#),
        called("judge: logs a MiB", r#"{"do": "log-1-mib"}"#),
        called(
            "judge: says it is broken",
            r#"{"do": "internal", "text": "\u001b[31mno"}"#,
        ),
        called(
            "judge: blames the object",
            r#"{"do": "invalid-object", "text": "no\nway"}"#,
        ),
        called(
            "judge: a state it never declared",
            r#"{"do": "undeclared-state", "text": "Green"}"#,
        ),
        called(
            "judge: a message of a MiB",
            r#"{"do": "long-message", "bytes": 1048576}"#,
        ),
        called(
            "judge: a message that turns around",
            r#"{"do": "say", "text": "\u202eydaeR"}"#,
        ),
    ]
}

fn growing() -> Vec<Case> {
    let does = |name, body: &str, fields: &str| {
        let module = Module {
            judge: Some(body.to_owned()),
            fields: fields.to_owned(),
            ..Module::default()
        };
        called_module(name, &module)
    };
    vec![
        does(
            "judge: memory without end",
            "(loop (drop (memory.grow (i32.const 16))) (br 0)) unreachable",
            "",
        ),
        does(
            "judge: all memory at once",
            "(drop (memory.grow (i32.const 65535))) unreachable",
            "",
        ),
        does(
            "judge: a table without end",
            "(loop (drop (table.grow $t (ref.null func) (i32.const 1000))) (br 0)) unreachable",
            "(table $t 1 funcref)",
        ),
        does(
            "judge: fills memory again and again",
            "(loop (memory.fill (i32.const 0) (i32.const 1) (i32.const 131072)) (br 0)) unreachable",
            "",
        ),
        does(
            "judge: reads beyond its memory",
            "(i32.load (i32.const -4))",
            "",
        ),
        does(
            "judge: divides by zero",
            "(i32.div_u (i32.const 1) (i32.const 0))",
            "",
        ),
        does(
            "judge: calls through an empty table",
            "(call_indirect $t (result i32) (i32.const 0))",
            "(table $t 1 funcref)",
        ),
    ]
}

/// Functions that the host calls around a call.
fn around() -> Vec<Case> {
    let realloc = |name, body: &str, fields: &str| {
        let module = Module {
            realloc: body.to_owned(),
            fields: fields.to_owned(),
            ..Module::default()
        };
        called_module(name, &module)
    };
    let after = |name, body: &str| {
        let module = Module {
            fields: format!(
                "(export \"cabi_post_kindsight:interpreter/view@1.0.0#judge-view\" (func $after))
                (func $after (param i32) {body})"
            ),
            ..Module::default()
        };
        called_module(name, &module)
    };
    vec![
        realloc("realloc: loops", "(loop (br 0)) unreachable", ""),
        realloc("realloc: traps", "unreachable", ""),
        realloc(
            "realloc: recurses",
            "(call $deep)",
            "(func $deep (result i32) (i32.add (call $deep) (call $deep)))",
        ),
        realloc("realloc: beyond its memory", "i32.const -65536", ""),
        realloc(
            "realloc: takes memory without end",
            "(loop (drop (memory.grow (i32.const 16))) (br 0)) unreachable",
            "",
        ),
        after("post-return: loops", "(loop (br 0))"),
        after("post-return: traps", "unreachable"),
        after(
            "post-return: recurses",
            "(call $after (local.get 0)) (call $after (local.get 0))",
        ),
    ]
}

#[test]
fn guests_that_misbehave_in_calls() {
    check(
        &cases(),
        &expect![[r#"
            judge: loops
              Unknown InterpreterTimedOut: interpreter hostile 1.0.0 (sha256:…) ran past its deadline of 50 ms of processor time
            judge: allocates
              Unknown InterpreterOutOfMemory: interpreter hostile 1.0.0 (sha256:…) asked for more than its limits of 8388608 bytes of memory and 20000 table elements
            judge: recurses
              Unknown InterpreterStackOverflow: interpreter hostile 1.0.0 (sha256:…) used up its stack
            judge: traps
              Unknown InterpreterTrapped: interpreter hostile 1.0.0 (sha256:…) trapped: wasm trap: wasm `unreachable` instruction executed
            judge: panics
              Unknown InterpreterTrapped: interpreter hostile 1.0.0 (sha256:…) trapped: panicked at tests/guests/hostile/src/misdeeds.rs:56:20: the hostile guest panics as asked
            judge: floods the log
              Ready AsAsked: 
            judge: logs escapes
              Ready AsAsked: 
            judge: logs a MiB
              Unknown InterpreterAnswerTooLarge: interpreter hostile 1.0.0 (sha256:…) answered with too much: more text than the host accepts
            judge: says it is broken
              Unknown InterpreterFailed: interpreter hostile 1.0.0 (sha256:…) reported an internal fault:  [31mno
            judge: blames the object
              Unknown InvalidObject: interpreter hostile 1.0.0 (sha256:…) cannot judge this object: no way
            judge: a state it never declared
              Unknown InterpreterUndeclaredState: interpreter hostile 1.0.0 (sha256:…) answered with state `Green`, which it does not declare
            judge: a message of a MiB
              Unknown InterpreterAnswerTooLarge: interpreter hostile 1.0.0 (sha256:…) answered with too much: more text than the host accepts
            judge: a message that turns around
              Ready �ydaeR: �ydaeR
            judge: memory without end
              Unknown InterpreterOutOfMemory: interpreter by-hand 1.0.0 (sha256:…) asked for more than its limits of 8388608 bytes of memory and 20000 table elements
            judge: all memory at once
              Unknown InterpreterOutOfMemory: interpreter by-hand 1.0.0 (sha256:…) asked for more than its limits of 8388608 bytes of memory and 20000 table elements
            judge: a table without end
              Unknown InterpreterOutOfMemory: interpreter by-hand 1.0.0 (sha256:…) asked for more than its limits of 8388608 bytes of memory and 20000 table elements
            judge: fills memory again and again
              Unknown InterpreterTimedOut: interpreter by-hand 1.0.0 (sha256:…) ran past its deadline of 50 ms of processor time
            judge: reads beyond its memory
              Unknown InterpreterTrapped: interpreter by-hand 1.0.0 (sha256:…) trapped: wasm trap: out of bounds memory access
            judge: divides by zero
              Unknown InterpreterTrapped: interpreter by-hand 1.0.0 (sha256:…) trapped: wasm trap: integer divide by zero
            judge: calls through an empty table
              Unknown InterpreterTrapped: interpreter by-hand 1.0.0 (sha256:…) trapped: wasm trap: uninitialized element
            realloc: loops
              Unknown InterpreterTimedOut: interpreter by-hand 1.0.0 (sha256:…) ran past its deadline of 50 ms of processor time
            realloc: traps
              Unknown InterpreterTrapped: interpreter by-hand 1.0.0 (sha256:…) trapped: wasm trap: wasm `unreachable` instruction executed
            realloc: recurses
              Unknown InterpreterStackOverflow: interpreter by-hand 1.0.0 (sha256:…) used up its stack
            realloc: beyond its memory
              Unknown InterpreterInvalidAnswer: interpreter by-hand 1.0.0 (sha256:…) answered with something the contract does not allow: realloc return: beyond end of memory
            realloc: takes memory without end
              Unknown InterpreterOutOfMemory: interpreter by-hand 1.0.0 (sha256:…) asked for more than its limits of 8388608 bytes of memory and 20000 table elements
            post-return: loops
              Unknown InterpreterTimedOut: interpreter by-hand 1.0.0 (sha256:…) ran past its deadline of 50 ms of processor time
            post-return: traps
              Unknown InterpreterTrapped: interpreter by-hand 1.0.0 (sha256:…) trapped: wasm trap: wasm `unreachable` instruction executed
            post-return: recurses
              Unknown InterpreterStackOverflow: interpreter by-hand 1.0.0 (sha256:…) used up its stack
        "#]],
    );
}
