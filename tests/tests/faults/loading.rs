//! Components that are refused before they go live, with a message their author can act on.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use crate::by_hand::Module;
use crate::{one_worker, start, without_digests};

/// Checks that each is refused with exactly these words; afterwards a good component still loads.
fn check(components: impl IntoIterator<Item = (&'static str, Vec<u8>)>, expected: &Expect) {
    let interpreters = start(one_worker());
    let mut lines = String::new();
    for (what, bytes) in components {
        let refused = match interpreters.load(&bytes) {
            Ok(loaded) => format!("loaded as {}", loaded.by().name),
            Err(error) => without_digests(&error.with_step()),
        };
        writeln!(lines, "{what}\n  {refused}").expect("text");
    }
    expected.assert_eq(&lines);
    crate::hostile(&interpreters, r#"{"name": "good"}"#);
}

fn described<'a>(descriptions: &[&'a str]) -> Vec<(&'a str, Vec<u8>)> {
    let components = descriptions
        .iter()
        .map(|description| (*description, kindsight_tests::hostile(description)));
    components.collect()
}

fn written<'a>(components: &[(&'a str, &str)]) -> Vec<(&'a str, Vec<u8>)> {
    let components = components.iter().map(|(what, text)| {
        let bytes = wat::parse_str(text).unwrap_or_else(|error| panic!("{what}: {error}"));
        (*what, bytes)
    });
    components.collect()
}

#[test]
fn a_description_that_cannot_be_is_refused() {
    check(
        described(&[
            r#"{"name": ""}"#,
            r#"{"name": "No \u001b[31mRed Names"}"#,
            r#"{"name": "a", "version": "one and a half"}"#,
            r#"{"name": "a", "summary": "two\nlines"}"#,
            r#"{"name": "a", "kinds": []}"#,
            r#"{"name": "a", "kinds": [["*x.example.com", "*", "A"], ["a.b", "", "A"]]}"#,
            r#"{"name": "a", "kinds": [["a.b", "*", "A"], ["a.b", "*", "A"]]}"#,
            r#"{"name": "a", "states": []}"#,
            r#"{"name": "a", "states": ["Ready", "Not Ready", "Ready", ""]}"#,
            r#"{"name": "a", "more-states": 1000}"#,
            r#"{"name": "a", "fields": ["status.conditions"]}"#,
            r#"{"name": "a", "related-limit": 0}"#,
            r#"{"name": "a", "related-limit": 257}"#,
            r#"{"name": "a", "settings-schema": "[]"}"#,
        ]),
        &expect![[r#"
            {"name": ""}
              tried: its description is wrong: name: `` is not 1 to 63 lower-case letters, digits, `-` or `.`
            {"name": "No \u001b[31mRed Names"}
              tried: its description is wrong: name: `No \u{1b}[31mRed Names` is not 1 to 63 lower-case letters, digits, `-` or `.`
            {"name": "a", "version": "one and a half"}
              tried: its description is wrong: version: `one and a half` is not a semantic version of at most 64 bytes, such as 1.0.0
            {"name": "a", "summary": "two\nlines"}
              tried: its description is wrong: summary: not one line of at most 256 bytes
            {"name": "a", "kinds": []}
              tried: its description is wrong: kinds: is empty, at least one is needed
            {"name": "a", "kinds": [["*x.example.com", "*", "A"], ["a.b", "", "A"]]}
              tried: its description is wrong: kinds[0].group: a group is exact, `*.suffix` or `*`; kinds[1].version: a version is exact or `*`
            {"name": "a", "kinds": [["a.b", "*", "A"], ["a.b", "*", "A"]]}
              tried: its description is wrong: kinds[1]: `a.b/* A` is declared twice
            {"name": "a", "states": []}
              loaded as a
            {"name": "a", "states": ["Ready", "Not Ready", "Ready", ""]}
              tried: its description is wrong: states[1].name: `Not Ready` is not one CamelCase word of at most 64 letters and digits; states[2]: the state `Ready` is declared twice; states[3].name: `` is not one CamelCase word of at most 64 letters and digits
            {"name": "a", "more-states": 1000}
              tried: its description is wrong: states: 1006 items are over the limit of 64
            {"name": "a", "fields": ["status.conditions"]}
              tried: its description is wrong: kinds[0].fields[0]: `status.conditions` is not a JSON pointer: write /status/conditions
            {"name": "a", "related-limit": 0}
              tried: its description is wrong: kinds[0].related[0].limit: 0 is not a number from 1 to 256
            {"name": "a", "related-limit": 257}
              tried: its description is wrong: kinds[0].related[0].limit: 257 is not a number from 1 to 256
            {"name": "a", "settings-schema": "[]"}
              tried: its description is wrong: settings-schema: a JSON Schema is an object of at most 65536 bytes
        "#]],
    );
}

#[test]
fn very_many_states_are_refused_soon() {
    check(
        described(&[r#"{"name": "a", "more-states": 60000}"#]),
        &expect![[r#"
            {"name": "a", "more-states": 60000}
              tried: `describe` asked for more than its limits of 8388608 bytes of memory and 20000 table elements
        "#]],
    );
}

#[test]
fn a_description_that_does_not_come_is_refused() {
    check(
        described(&[
            r#"{"name": "a", "describe": "loop"}"#,
            r#"{"name": "a", "describe": "panic"}"#,
            r#"{"name": "a", "describe": "allocate"}"#,
            r#"{"name": "a", "list-fixtures": "loop"}"#,
            r#"{"name": "a", "list-fixtures": "panic"}"#,
        ]),
        &expect![[r#"
            {"name": "a", "describe": "loop"}
              tried: `describe` ran past its deadline of 1000 ms of processor time
            {"name": "a", "describe": "panic"}
              tried: `describe` trapped: panicked at tests/guests/hostile/src/misdeeds.rs:56:20: the hostile guest panics as asked
            {"name": "a", "describe": "allocate"}
              tried: `describe` asked for more than its limits of 8388608 bytes of memory and 20000 table elements
            {"name": "a", "list-fixtures": "loop"}
              tried: `fixtures` ran past its deadline of 1000 ms of processor time
            {"name": "a", "list-fixtures": "panic"}
              tried: `fixtures` trapped: panicked at tests/guests/hostile/src/misdeeds.rs:56:20: the hostile guest panics as asked
        "#]],
    );
}

#[test]
fn broken_promises_are_refused() {
    let thing = |spec: &str| {
        let object = format!(
            r#"{{"apiVersion": "hostile.example.com/v1", "kind": "Thing", "spec": {spec}}}"#
        );
        object.replace('"', "\\\"")
    };
    let fixtures = [
        ("works", thing("{}"), "Ready"),
        ("waits", thing("{}"), "Pending"),
        ("panics", thing(r#"{"do": "panic"}"#), "Ready"),
        ("loops", thing(r#"{"do": "loop"}"#), "Ready"),
        ("declines", thing(r#"{"do": "unsupported"}"#), "Ready"),
        ("is none", "{}".to_owned(), "Ready"),
        (
            "is another's",
            r#"{\"kind\": \"Other\"}"#.to_owned(),
            "Ready",
        ),
        ("a \\u001b[31mred name", "{}".to_owned(), "Ready"),
    ];
    let fixtures =
        fixtures.map(|(name, object, state)| format!(r#"["{name}", "{object}", "{state}"]"#));
    let description = format!(r#"{{"name": "a", "fixtures": [{}]}}"#, fixtures.join(", "));
    check(
        [("fixtures", kindsight_tests::hostile(&description))],
        &expect![[r#"
            fixtures
              tried: 7 of its fixtures failed: fixture `waits`: expected state Pending, got Ready AsAsked (); fixture `panics`: trapped: panicked at tests/guests/hostile/src/misdeeds.rs:56:20: the hostile guest panics as asked; fixture `loops`: ran past its deadline of 50 ms of processor time; fixture `declines`: it says it does not judge such an object: ; fixture `is none`: not a Kubernetes object: it has no `kind`; fixture `is another\'s`: no Kind of its description matches  Other; fixture `a \u{1b}[31mred name`: not a Kubernetes object: it has no `kind`
        "#]],
    );
}

#[test]
fn foreign_imports_are_refused_by_name() {
    check(
        written(&[
            (
                "a function of WASI",
                r#"(component (import "wasi:filesystem/types@0.2.0"
                    (instance (export "filesystem-error-code" (func)))))"#,
            ),
            (
                "a resource of WASI",
                r#"(component (import "wasi:io/streams@0.2.0"
                    (instance (export "input-stream" (type (sub resource))))))"#,
            ),
            (
                "a function",
                r#"(component (import "read-clock" (func (result u64))))"#,
            ),
            (
                "a resource",
                r#"(component (import "handle" (type (sub resource))))"#,
            ),
            (
                "a core module",
                r#"(component (import "code" (core module)))"#,
            ),
            ("a component", r#"(component (import "more" (component)))"#),
            (
                "another function of the log",
                r#"(component
                    (import "kindsight:interpreter/log@1.0.0" (instance (export "read" (func))))
                    (instance $i)
                    (export "kindsight:interpreter/description@1.0.0" (instance $i)))"#,
            ),
        ]),
        &expect![[r#"
            a function of WASI
              validated: imports `wasi:filesystem/types`: it is built for WASI (`wasm32-wasip2`, where Rust's std imports these by itself), and the host offers no WASI. In Rust: `cargo build --release --target wasm32-unknown-unknown`; in Python: `componentize-py componentize --stub-wasi`; in JavaScript: `jco componentize --disable all`
            a resource of WASI
              validated: imports `wasi:io/streams`: it is built for WASI (`wasm32-wasip2`, where Rust's std imports these by itself), and the host offers no WASI. In Rust: `cargo build --release --target wasm32-unknown-unknown`; in Python: `componentize-py componentize --stub-wasi`; in JavaScript: `jco componentize --disable all`
            a function
              validated: imports `read-clock`, which the host does not offer: an interpreter may import nothing but `kindsight:interpreter/log`
            a resource
              validated: imports `handle`, which the host does not offer: an interpreter may import nothing but `kindsight:interpreter/log`
            a core module
              validated: imports `code`, which the host does not offer: an interpreter may import nothing but `kindsight:interpreter/log`
            a component
              validated: imports `more`, which the host does not offer: an interpreter may import nothing but `kindsight:interpreter/log`
            another function of the log
              validated: imports `kindsight:interpreter/log@1.0.0#read`, which the host does not offer: an interpreter may import nothing but `kindsight:interpreter/log`
        "#]],
    );
}

#[test]
fn another_contract_is_refused() {
    check(
        written(&[
            ("nothing", "(component)"),
            (
                "the next major version",
                r#"(component (instance $i)
                    (export "kindsight:interpreter/description@2.0.0" (instance $i)))"#,
            ),
            (
                "both, of the wrong shape",
                r#"(component (instance $i)
                    (export "kindsight:interpreter/description@2.0.0" (instance $i))
                    (export "kindsight:interpreter/description@1.0.0" (instance $i)))"#,
            ),
            (
                "functions of other shapes",
                r#"(component
                    (core module $m (func (export "f")))
                    (core instance $i (instantiate $m))
                    (func $f (canon lift (core func $i "f")))
                    (instance $e (export "describe" (func $f)) (export "interpret" (func $f)))
                    (export "kindsight:interpreter/description@1.0.0" (instance $e)))"#,
            ),
            ("a core module without the contract", "(module)"),
            (
                "a core module for WASI",
                r#"(module (import "wasi_snapshot_preview1" "proc_exit" (func (param i32))))"#,
            ),
        ]),
        &expect![[r#"
            nothing
              validated: does not export `kindsight:interpreter/description`
            the next major version
              validated: is built for contract 2.0.0; this host speaks 1.x
            both, of the wrong shape
              tried: the types of its exports differ from the contract: `kindsight:interpreter/description@1.0.0` has no function `describe`
            functions of other shapes
              tried: the types of its exports differ from the contract: `kindsight:interpreter/description@1.0.0` has no function `fixtures`
            a core module without the contract
              validated: a core module without the contract's types (it has no `component-type` section): `kindsight_sdk::export!(YourInterpreter);` is missing in its src/lib.rs, or this is the .wasm of a program and not of a library (`crate-type = ["cdylib"]`)
            a core module for WASI
              validated: imports `wasi_snapshot_preview1::proc_exit`: it is built for WASI (`wasm32-wasip1`), and the host offers no WASI. In Rust: `cargo build --release --target wasm32-unknown-unknown`; in Python: `componentize-py componentize --stub-wasi`; in JavaScript: `jco componentize --disable all`
        "#]],
    );
}

#[test]
fn a_component_that_cannot_be_instantiated_is_refused() {
    let with = |fields: &str| Module {
        fields: fields.to_owned(),
        ..Module::default()
    };
    check(
        [
            (
                "a start that loops",
                with("(start $s) (func $s (loop (br 0)))").build(),
            ),
            (
                "a trap at the start",
                with("(start $s) (func $s unreachable)").build(),
            ),
            (
                "1 GiB of memory",
                Module {
                    pages: 16 * 1024,
                    ..Module::default()
                }
                .build(),
            ),
            (
                "three memories, each below the limit",
                with("(memory 400) (memory 400) (memory 400)").build(),
            ),
            (
                "a table of a million",
                with("(table 1000000 funcref)").build(),
            ),
            (
                "seventy tables",
                with(&"(table 1 funcref)".repeat(70)).build(),
            ),
        ],
        &expect![[r#"
            a start that loops
              tried: `start` ran past its deadline of 25 ms of processor time
            a trap at the start
              tried: `start` trapped: wasm trap: wasm `unreachable` instruction executed
            1 GiB of memory
              tried: `start` asked for more than its limits of 8388608 bytes of memory and 20000 table elements
            three memories, each below the limit
              tried: `start` asked for more than its limits of 8388608 bytes of memory and 20000 table elements
            a table of a million
              tried: `start` asked for more than its limits of 8388608 bytes of memory and 20000 table elements
            seventy tables
              tried: has more than 64 core instances, memories or tables, which is the limit: `kindsight serve --parts-max` raises it, up to 256
        "#]],
    );
}

#[test]
fn a_description_that_is_garbage_is_refused() {
    let describes = |body: &str| {
        let module = Module {
            describe: Some(body.to_owned()),
            ..Module::default()
        };
        module.build()
    };
    check(
        [
            ("beyond its memory", describes("i32.const -64")),
            ("not aligned", describes("i32.const 1025")),
            ("nothing but zeros", describes("i32.const 65536")),
        ],
        &expect![[r#"
            beyond its memory
              tried: `describe` answered with something the contract does not allow: pointer out of bounds of memory
            not aligned
              tried: `describe` answered with something the contract does not allow: return pointer not aligned
            nothing but zeros
              tried: its description is wrong: not JSON: EOF while parsing a value at line 1 column 0
        "#]],
    );
}

#[test]
fn a_refusal_repeats_only_the_beginning_of_a_name() {
    let long = "a".repeat(90_000);
    for text in [
        format!(r#"(component (import "{long}" (func)))"#),
        format!(
            r#"(component (instance $i) (export "kindsight:interpreter/description@2.0.0-{long}" (instance $i)))"#
        ),
    ] {
        let bytes = wat::parse_str(&text).expect("a component");
        let error = start(one_worker()).load(&bytes).expect_err("it is refused");
        let error = error.with_step();
        assert!(error.contains(&"a".repeat(4000)), "{error}");
        assert!(error.len() < 4400, "{}", error.len());
    }
}

/// Names of functions are what backtraces would show.
#[test]
fn a_fault_names_no_function_of_the_component() {
    let evil = "evil\\1b[31m\\0aname";
    for realloc in ["unreachable", "(i32.const -8)"] {
        let module = Module {
            fields: format!(r#"(func $"{evil}" (export "{evil}") (result i32) {realloc})"#),
            realloc: format!(r#"(call $"{evil}")"#),
            ..Module::default()
        };
        let interpreters = start(one_worker());
        let loaded = interpreters.load(&module.build()).expect("a component");
        let loaded = vec![(kindsight_model::Source::Upload, loaded)];
        interpreters.publish(loaded).expect("a set");
        let judged = interpreters.judge_each(&[crate::object("hand.example.com", "{}")].into(), 0);
        let message = &judged[0].message;
        assert!(judged[0].reason.starts_with("Interpreter"), "{message}");
        assert!(!message.contains("evil"), "{message}");
        assert!(!message.contains(char::is_control), "{message:?}");
    }
}

#[test]
fn a_component_that_is_too_large_is_refused_unread() {
    let interpreters = start(kindsight_interpreter::Limits {
        component_bytes_max: 1000,
        ..one_worker()
    });
    let error = interpreters
        .load(&[0; 1001])
        .expect_err("too large")
        .with_step();
    assert_eq!(
        error,
        "received: 1001 bytes are over the limit of 1000 bytes: `kindsight serve --component-bytes-max` raises it"
    );
}
