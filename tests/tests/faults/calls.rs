//! One bad call: its verdict for users, and the calls after it.

use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::{Expect, expect};
use kindsight_interpreter::{Interpreters, Isolation, Limits};
use kindsight_model::{Object, Phase, Source};

use crate::{by_hand, hostile, object, one_worker, start, thing, verdict_text};

const NEIGHBOUR: &str =
    r#"{"name": "neighbour", "kinds": [["neighbour.example.com", "*", "Thing"]]}"#;

/// Two live interpreters: the guest that misbehaves, and a healthy neighbour.
fn with_neighbour(limits: Limits) -> Interpreters {
    let interpreters = start(limits);
    let set = [r#"{"name": "hostile"}"#, NEIGHBOUR]
        .map(|description| (Source::Upload, hostile(&interpreters, description)));
    interpreters.publish(set.into()).expect("a set");
    interpreters
}

/// Judges each spec between healthy objects; every answer but the middle one must be ready.
fn check(specs: &[&str], expected: &Expect) {
    let interpreters = with_neighbour(one_worker());
    let mut lines = String::new();
    for (number, spec) in specs.iter().enumerate() {
        let healthy = format!(r#"{{"number": {number}}}"#);
        let neighbour = || object("neighbour.example.com", &healthy);
        let batch: Arc<[Object]> = [neighbour(), thing(spec), thing(&healthy), neighbour()].into();
        let judged = interpreters.judge_each(&batch, 0);
        for healthy in [0, 2, 3] {
            assert_eq!(judged[healthy].phase, Phase::Ready, "beside {spec}");
        }
        assert_eq!(
            judged[1].by.as_ref().expect("an interpreter").name.as_str(),
            "hostile"
        );
        writeln!(lines, "{spec}\n  {}", verdict_text(&judged[1])).expect("text");
    }
    expected.assert_eq(&lines);
}

#[test]
fn a_call_that_ends_badly_costs_exactly_its_verdict() {
    check(
        &[
            r#"{"do": "loop"}"#,
            r#"{"do": "allocate"}"#,
            r#"{"do": "recurse"}"#,
            r#"{"do": "panic"}"#,
            r#"{"do": "trap"}"#,
        ],
        &expect![[r#"
            {"do": "loop"}
              Unknown InterpreterTimedOut: interpreter hostile 1.0.0 (sha256:…) ran past its deadline of 50 ms of processor time
            {"do": "allocate"}
              Unknown InterpreterOutOfMemory: interpreter hostile 1.0.0 (sha256:…) asked for more than its limits of 8388608 bytes of memory and 20000 table elements
            {"do": "recurse"}
              Unknown InterpreterStackOverflow: interpreter hostile 1.0.0 (sha256:…) used up its stack
            {"do": "panic"}
              Unknown InterpreterTrapped: interpreter hostile 1.0.0 (sha256:…) trapped: panicked at tests/guests/hostile/src/misdeeds.rs:56:20: the hostile guest panics as asked
            {"do": "trap"}
              Unknown InterpreterTrapped: interpreter hostile 1.0.0 (sha256:…) trapped: wasm trap: wasm `unreachable` instruction executed
        "#]],
    );
}

#[test]
fn an_answer_outside_the_contract_costs_exactly_its_verdict() {
    check(
        &[
            r#"{"do": "undeclared-state", "text": "Splendid"}"#,
            r#"{"do": "undeclared-state", "text": ""}"#,
            r#"{"do": "undeclared-state", "text": "a\u001b[31m very long name, longer than any state may be, and longer than is of use to anybody"}"#,
            r#"{"do": "long-message", "bytes": 1048576}"#,
            r#"{"do": "internal", "text": "lost my \u001b[31mway\nhome"}"#,
            r#"{"do": "invalid-object", "text": "spec.do makes no sense"}"#,
        ],
        &expect![[r#"
            {"do": "undeclared-state", "text": "Splendid"}
              Unknown InterpreterUndeclaredState: interpreter hostile 1.0.0 (sha256:…) answered with state `Splendid`, which it does not declare
            {"do": "undeclared-state", "text": ""}
              Unknown InterpreterUndeclaredState: interpreter hostile 1.0.0 (sha256:…) answered with state ``, which it does not declare
            {"do": "undeclared-state", "text": "a\u001b[31m very long name, longer than any state may be, and longer than is of use to anybody"}
              Unknown InterpreterUndeclaredState: interpreter hostile 1.0.0 (sha256:…) answered with state `a [31m very long name, longer than any state may be, and longer than is of use t`, which it does not declare
            {"do": "long-message", "bytes": 1048576}
              Unknown InterpreterAnswerTooLarge: interpreter hostile 1.0.0 (sha256:…) answered with too much: more text than the host accepts
            {"do": "internal", "text": "lost my \u001b[31mway\nhome"}
              Unknown InterpreterFailed: interpreter hostile 1.0.0 (sha256:…) reported an internal fault: lost my  [31mway home
            {"do": "invalid-object", "text": "spec.do makes no sense"}
              Unknown InvalidObject: interpreter hostile 1.0.0 (sha256:…) cannot judge this object: spec.do makes no sense
        "#]],
    );
}

#[test]
fn control_characters_do_not_reach_the_user() {
    check(
        &[r#"{"do": "say", "text": "\u001b[2J\u0007bell\r\nline\u0000\u009b1m"}"#],
        &expect![[r#"
            {"do": "say", "text": "\u001b[2J\u0007bell\r\nline\u0000\u009b1m"}
              Ready  [2J bell  line  1m:  [2J bell  line  1m
        "#]],
    );
}

#[test]
fn a_long_message_is_cut_between_characters() {
    let interpreters = with_neighbour(one_worker());
    let batch: Arc<[Object]> = [thing(r#"{"do": "long-message", "bytes": 100000}"#)].into();
    let judged = interpreters.judge_each(&batch, 0);
    assert_eq!(&*judged[0].reason, "LongMessage");
    assert_eq!(*judged[0].message, "é".repeat(2048));
}

#[test]
fn garbage_in_an_answer_costs_exactly_its_verdict() {
    let mut lines = String::new();
    for (what, module) in by_hand::garbage() {
        let interpreters = start(one_worker());
        let loaded = interpreters.load(&module);
        let garbage = loaded.unwrap_or_else(|error| panic!("{what}: {error}"));
        let neighbour = hostile(&interpreters, NEIGHBOUR);
        let set = [garbage, neighbour].map(|interpreter| (Source::Upload, interpreter));
        interpreters.publish(set.into()).expect("a set");
        let batch: Arc<[Object]> = [
            object("hand.example.com", "{}"),
            object("neighbour.example.com", "{}"),
        ]
        .into();
        for _ in 0..2 {
            let judged = interpreters.judge_each(&batch, 0);
            assert_eq!(judged[1].phase, Phase::Ready, "beside {what}");
            let line = format!("{what}\n  {}\n", verdict_text(&judged[0]));
            if !lines.ends_with(&line) {
                lines.push_str(&line);
            }
        }
    }
    expect![[r#"
        a right answer
          Ready : x
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
        realloc beyond its memory
          Unknown InterpreterInvalidAnswer: interpreter by-hand 1.0.0 (sha256:…) answered with something the contract does not allow: realloc return: beyond end of memory
        realloc that loops
          Unknown InterpreterTimedOut: interpreter by-hand 1.0.0 (sha256:…) ran past its deadline of 50 ms of processor time
        post-return that loops
          Unknown InterpreterTimedOut: interpreter by-hand 1.0.0 (sha256:…) ran past its deadline of 50 ms of processor time
    "#]].assert_eq(&lines);
}

/// Answers of `count` to several objects, one after another.
fn counts(limits: Limits, between: &str) -> Vec<String> {
    let interpreters = with_neighbour(limits);
    let count = |number| thing(&format!(r#"{{"do": "count", "number": {number}}}"#));
    let batch: Arc<[Object]> = [
        count(0),
        count(1),
        count(2),
        thing(between),
        count(3),
        count(4),
    ]
    .into();
    let judged = interpreters.judge_each(&batch, 0);
    let counted = judged.iter().filter(|judged| &*judged.reason == "Counted");
    counted.map(|judged| judged.message.to_string()).collect()
}

#[test]
fn an_instance_that_did_anything_wrong_is_not_used_again() {
    for misdeed in [
        "panic",
        "loop",
        "undeclared-state",
        "internal",
        "use-32-mib",
    ] {
        let between = format!(r#"{{"do": "{misdeed}"}}"#);
        let expected = ["call 1", "call 2", "call 3", "call 1", "call 2"];
        assert_eq!(counts(one_worker(), &between), expected, "{misdeed}");
    }
}

#[test]
fn an_instance_is_retired_after_its_calls() {
    let limits = Limits {
        calls_max: 2,
        ..one_worker()
    };
    let expected = ["call 1", "call 2", "call 1", "call 1", "call 2"];
    assert_eq!(counts(limits, "{}"), expected);
}

#[test]
fn isolated_calls_share_no_state() {
    let limits = Limits {
        isolation: Isolation::PerCall,
        ..one_worker()
    };
    assert_eq!(counts(limits, "{}"), ["call 1"; 5]);
}

#[test]
fn a_wrong_answer_is_not_remembered() {
    let interpreters = with_neighbour(one_worker());
    let batch: Arc<[Object]> = [thing(r#"{"do": "panic"}"#)].into();
    for _ in 0..3 {
        let judged = interpreters.judge_each(&batch, 0);
        assert_eq!(&*judged[0].reason, "InterpreterTrapped");
    }
    assert_eq!(interpreters.memo().entries, 0);
}
