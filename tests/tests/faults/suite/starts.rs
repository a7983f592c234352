//! Components that misbehave before they are called about an object.

use expect_test::expect;
use kindsight_model::LoadStep;

use super::{Case, check, refused, refused_module};
use crate::by_hand::Module;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = starting();
    cases.extend(describing());
    cases.extend(listing());
    cases
}

fn starting() -> Vec<Case> {
    let with = |name, fields: &str| {
        let module = Module {
            fields: fields.to_owned(),
            ..Module::default()
        };
        refused_module(name, LoadStep::Tried, &module)
    };
    vec![
        with("start: loops", "(start $s) (func $s (loop (br 0)))"),
        with("start: traps", "(start $s) (func $s unreachable)"),
        with(
            "start: recurses",
            "(start $s) (func $s (call $s) (call $s))",
        ),
        with(
            "start: takes memory without end",
            "(start $s) (func $s (loop (drop (memory.grow (i32.const 1))) (br 0)))",
        ),
        refused_module(
            "start: 1 GiB of memory",
            LoadStep::Tried,
            &Module {
                pages: 16 * 1024,
                ..Module::default()
            },
        ),
        with("start: three memories of 25 MiB", &"(memory 400)".repeat(3)),
        with("start: seventy memories", &"(memory 1)".repeat(70)),
        with("start: a table of a million", "(table 1000000 funcref)"),
        with("start: seventy tables", &"(table 1 funcref)".repeat(70)),
        with(
            "start: data beyond its memory",
            r#"(data (i32.const 196607) "two")"#,
        ),
    ]
}

fn describing() -> Vec<Case> {
    let does = |name, what: &str| {
        refused(
            name,
            LoadStep::Tried,
            &format!(r#"{{"name": "a", "describe": "{what}"}}"#),
        )
    };
    let answers = |name, body: &str| {
        let module = Module {
            pages: 40,
            describe: Some(body.to_owned()),
            fields: r#"(data (i32.const 512) "\ff\fe\c0")"#.to_owned(),
            ..Module::default()
        };
        refused_module(name, LoadStep::Tried, &module)
    };
    vec![
        does("describe: loops", "loop"),
        does("describe: allocates", "allocate"),
        does("describe: recurses", "recurse"),
        does("describe: traps", "trap"),
        does("describe: panics", "panic"),
        answers("describe: beyond its memory", "i32.const -64"),
        answers("describe: not aligned", "i32.const 1025"),
        answers("describe: nothing but zeros", "i32.const 65536"),
        answers("describe: a text that is not UTF-8", NOT_UTF8),
        answers("describe: a text of 4 GiB", FOUR_GIB),
        answers("describe: 2 MiB of zeros", ZEROS),
    ]
}

/// A text of three bytes at 512.
const NOT_UTF8: &str = "
    (i32.store (i32.const 0x20000) (i32.const 512))
    (i32.store offset=4 (i32.const 0x20000) (i32.const 3))
    i32.const 0x20000";

/// A text of all the addresses there are.
const FOUR_GIB: &str = "
    (i32.store (i32.const 0x20000) (i32.const 0))
    (i32.store offset=4 (i32.const 0x20000) (i32.const -1))
    i32.const 0x20000";

const ZEROS: &str = "
    (i32.store (i32.const 0x20000) (i32.const 0x40000))
    (i32.store offset=4 (i32.const 0x20000) (i32.const 0x200000))
    i32.const 0x20000";

fn listing() -> Vec<Case> {
    let does = |name, what: &str| {
        refused(
            name,
            LoadStep::Tried,
            &format!(r#"{{"name": "a", "list-fixtures": "{what}"}}"#),
        )
    };
    vec![
        does("fixtures: loops", "loop"),
        does("fixtures: allocates", "allocate"),
        does("fixtures: recurses", "recurse"),
        does("fixtures: traps", "trap"),
        does("fixtures: panics", "panic"),
    ]
}

#[test]
fn components_that_fail_to_start() {
    check(
        &cases(),
        &expect![[r#"
            start: loops
              tried: `start` ran past its deadline of 25 ms of processor time
            start: traps
              tried: `start` trapped: wasm trap: wasm `unreachable` instruction executed
            start: recurses
              tried: `start` used up its stack
            start: takes memory without end
              tried: `start` asked for more than its limits of 8388608 bytes of memory and 20000 table elements
            start: 1 GiB of memory
              tried: `start` asked for more than its limits of 8388608 bytes of memory and 20000 table elements
            start: three memories of 25 MiB
              tried: `start` asked for more than its limits of 8388608 bytes of memory and 20000 table elements
            start: seventy memories
              tried: has more than 64 core instances, memories or tables, which is the limit: `kindsight serve --parts-max` raises it, up to 256
            start: a table of a million
              tried: `start` asked for more than its limits of 8388608 bytes of memory and 20000 table elements
            start: seventy tables
              tried: has more than 64 core instances, memories or tables, which is the limit: `kindsight serve --parts-max` raises it, up to 256
            start: data beyond its memory
              tried: `start` trapped: wasm trap: out of bounds memory access
            describe: loops
              tried: `describe` ran past its deadline of 1000 ms of processor time
            describe: allocates
              tried: `describe` asked for more than its limits of 8388608 bytes of memory and 20000 table elements
            describe: recurses
              tried: `describe` used up its stack
            describe: traps
              tried: `describe` trapped: wasm trap: wasm `unreachable` instruction executed
            describe: panics
              tried: `describe` trapped: panicked at tests/guests/hostile/src/misdeeds.rs:56:20: the hostile guest panics as asked
            describe: beyond its memory
              tried: `describe` answered with something the contract does not allow: pointer out of bounds of memory
            describe: not aligned
              tried: `describe` answered with something the contract does not allow: return pointer not aligned
            describe: nothing but zeros
              tried: its description is wrong: not JSON: EOF while parsing a value at line 1 column 0
            describe: a text that is not UTF-8
              tried: `describe` answered with something the contract does not allow: invalid utf-8 sequence of 1 bytes from index 0
            describe: a text of 4 GiB
              tried: `describe` answered with something the contract does not allow: string pointer/length out of bounds of memory
            describe: 2 MiB of zeros
              tried: its description is wrong: 2097152 bytes are over the limit of 262144
            fixtures: loops
              tried: `fixtures` ran past its deadline of 1000 ms of processor time
            fixtures: allocates
              tried: `fixtures` asked for more than its limits of 8388608 bytes of memory and 20000 table elements
            fixtures: recurses
              tried: `fixtures` used up its stack
            fixtures: traps
              tried: `fixtures` trapped: wasm trap: wasm `unreachable` instruction executed
            fixtures: panics
              tried: `fixtures` trapped: panicked at tests/guests/hostile/src/misdeeds.rs:56:20: the hostile guest panics as asked
        "#]],
    );
}
