//! Components with an invalid description, or fixtures that do not hold.

use expect_test::expect;
use kindsight_model::LoadStep;

use super::{Case, Host, check, refused, refused_module};
use crate::by_hand::Module;
use crate::{thing, verdict_text};

pub(super) fn cases() -> Vec<Case> {
    let says = |name, description: &str| refused(name, LoadStep::Tried, description);
    let mut cases = vec![
        says("no name", r#"{"name": ""}"#),
        says("a name that is a path", r#"{"name": "../../etc/passwd"}"#),
        says(
            "a name that writes into terminals",
            r#"{"name": "\u001b[2Jno"}"#,
        ),
        says(
            "a version that is prose",
            r#"{"name": "a", "version": "one and a half"}"#,
        ),
        says(
            "a summary of two lines",
            r#"{"name": "a", "summary": "two\nlines"}"#,
        ),
        says("no Kinds", r#"{"name": "a", "kinds": []}"#),
        says(
            "the same Kind twice",
            r#"{"name": "a", "kinds": [["a.b", "*", "A"], ["a.b", "*", "A"]]}"#,
        ),
        says(
            "a pattern that is none",
            r#"{"name": "a", "kinds": [["*x.example.com", "*", "A"]]}"#,
        ),
        says(
            "the same state twice",
            r#"{"name": "a", "states": ["Ready", "Ready"]}"#,
        ),
        says(
            "a state that is two words",
            r#"{"name": "a", "states": ["Not Ready"]}"#,
        ),
        says("600 states", r#"{"name": "a", "more-states": 600}"#),
        says(
            "fields that are no pointers",
            r#"{"name": "a", "fields": ["status.conditions"]}"#,
        ),
        says(
            "65,000 related objects",
            r#"{"name": "a", "related-limit": 65000}"#,
        ),
        says(
            "a schema that is no JSON",
            r#"{"name": "a", "settings-schema": "level: integer"}"#,
        ),
        says(
            "a schema that is a list",
            r#"{"name": "a", "settings-schema": "[]"}"#,
        ),
    ];
    cases.extend(bombs());
    cases.extend(fixtures());
    cases
}

/// Documents that no SDK would write.
fn bombs() -> Vec<Case> {
    let says = |name, description: String| {
        let module = Module {
            description: Some(description),
            ..Module::default()
        };
        refused_module(name, LoadStep::Tried, &module)
    };
    let promises = |name, fixtures: String| {
        let module = Module {
            fixtures: Some(fixtures),
            ..Module::default()
        };
        refused_module(name, LoadStep::Tried, &module)
    };
    let kinds = r#"{"group": "a.b", "kind": "A"},"#.repeat(256);
    let schema = "x".repeat(65 * 1024);
    vec![
        says("a description that is no JSON", "name: by-hand".to_owned()),
        says("a description that is a list", "[]".to_owned()),
        says("a description without anything", "{}".to_owned()),
        says("no states", r#"{"states": []}"#.to_owned()),
        says("257 Kinds", format!(r#"{{"kinds": [{kinds}{{}}]}}"#)),
        says(
            "a schema of 65 KiB",
            format!(r#"{{"settings-schema": {{"title": "{schema}"}}}}"#),
        ),
        says("100,000 lists in each other", "[".repeat(100_000)),
        says(
            "60,000 Kinds that are no objects",
            format!(r#"{{"kinds": [{}0]}}"#, "0,".repeat(60_000)),
        ),
        says(
            "the same member 10,000 times",
            format!("{{{}\"name\": 1}}", r#""name": "a","#.repeat(10_000)),
        ),
        says("a description of 257 KiB", " ".repeat(257 * 1024)),
        says(
            "a description that asks for a newer host",
            r#"{"name": "a", "requires": ["history"]}"#.to_owned(),
        ),
        promises("fixtures that are no list", "{}".to_owned()),
        promises("100,000 fixtures", format!("[{}0]", "0,".repeat(99_999))),
        promises("fixtures of 5 MiB", " ".repeat(5 << 20)),
        promises("fixtures in each other", "[".repeat(100_000)),
    ]
}

/// The description of a guest with one fixture, as often as `times` says.
fn promising(spec: &str, state: &str, times: usize) -> String {
    let object =
        format!(r#"{{"apiVersion": "hostile.example.com/v1", "kind": "Thing", "spec": {spec}}}"#);
    let object = object.replace('"', "\\\"");
    let fixtures = (0..times).map(|number| {
        let name = ["it", "again"][number];
        format!(r#"["{name}", "{object}", "{state}"]"#)
    });
    let fixtures = fixtures.collect::<Vec<_>>().join(", ");
    format!(r#"{{"name": "a", "fixtures": [{fixtures}]}}"#)
}

fn fixtures() -> Vec<Case> {
    let promises = |name, spec: &str, state: &str, times| {
        refused(name, LoadStep::Tried, &promising(spec, state, times))
    };
    vec![
        promises("a fixture that does not hold", "{}", "Pending", 1),
        promises("a fixture that panics", r#"{"do": "panic"}"#, "Ready", 1),
        promises("a fixture that loops", r#"{"do": "loop"}"#, "Ready", 1),
        promises(
            "a fixture it declines",
            r#"{"do": "unsupported"}"#,
            "Ready",
            1,
        ),
        promises(
            "a fixture of a state it never declared",
            "{}",
            "Splendid",
            1,
        ),
        promises(
            "answers that differ between calls",
            r#"{"do": "waver"}"#,
            "Ready",
            2,
        ),
        refused(
            "a fixture that is no object",
            LoadStep::Tried,
            r#"{"name": "a", "fixtures": [["it", "[]", "Ready"]]}"#,
        ),
    ]
}

#[test]
fn descriptions_that_are_invalid_or_false() {
    check(
        &cases(),
        &expect![[r#"
            no name
              tried: its description is wrong: name: `` is not 1 to 63 lower-case letters, digits, `-` or `.`
            a name that is a path
              tried: its description is wrong: name: `../../etc/passwd` is not 1 to 63 lower-case letters, digits, `-` or `.`
            a name that writes into terminals
              tried: its description is wrong: name: `\u{1b}[2Jno` is not 1 to 63 lower-case letters, digits, `-` or `.`
            a version that is prose
              tried: its description is wrong: version: `one and a half` is not a semantic version of at most 64 bytes, such as 1.0.0
            a summary of two lines
              tried: its description is wrong: summary: not one line of at most 256 bytes
            no Kinds
              tried: its description is wrong: kinds: is empty, at least one is needed
            the same Kind twice
              tried: its description is wrong: kinds[1]: `a.b/* A` is declared twice
            a pattern that is none
              tried: its description is wrong: kinds[0].group: a group is exact, `*.suffix` or `*`
            the same state twice
              tried: its description is wrong: states[1]: the state `Ready` is declared twice
            a state that is two words
              tried: its description is wrong: states[0].name: `Not Ready` is not one CamelCase word of at most 64 letters and digits
            600 states
              tried: its description is wrong: states: 606 items are over the limit of 64
            fields that are no pointers
              tried: its description is wrong: kinds[0].fields[0]: `status.conditions` is not a JSON pointer: write /status/conditions
            65,000 related objects
              tried: its description is wrong: kinds[0].related[0].limit: 65000 is not a number from 1 to 256
            a schema that is no JSON
              tried: its description is wrong: not JSON: expected value at line 1 column 726
            a schema that is a list
              tried: its description is wrong: settings-schema: a JSON Schema is an object of at most 65536 bytes
            a description that is no JSON
              tried: its description is wrong: not JSON: expected ident at line 1 column 2
            a description that is a list
              tried: its description is wrong: expected an object, this is a list
            a description without anything
              tried: its description is wrong: name: is missing; version: is missing; summary: is missing; kinds: is empty, at least one is needed; states: is empty, at least one is needed
            no states
              tried: its description is wrong: name: is missing; version: is missing; summary: is missing; kinds: is empty, at least one is needed; states: is empty, at least one is needed
            257 Kinds
              tried: its description is wrong: name: is missing; version: is missing; summary: is missing; kinds: 257 items are over the limit of 256; kinds[1]: `a.b/* A` is declared twice; kinds[2]: `a.b/* A` is declared twice; kinds[3]: `a.b/* A` is declared twice; kinds[4]: `a.b/* A` is declared twice; kinds[5]: `a.b/* A` is declared twice; kinds[6]: `a.b/* A` is declared twice; kinds[7]: `a.b/* A` is declared twice; kinds[8]: `a.b/* A` is declared twice; kinds[9]: `a.b/* A` is declared twice; kinds[10]: `a.b/* A` is declared twice; kinds[11]: `a.b/* A` is declared twice; kinds[12]: `a.b/* A` is declared twice
            a schema of 65 KiB
              tried: its description is wrong: name: is missing; version: is missing; summary: is missing; kinds: is empty, at least one is needed; states: is empty, at least one is needed; settings-schema: a JSON Schema is an object of at most 65536 bytes
            100,000 lists in each other
              tried: its description is wrong: not JSON: recursion limit exceeded at line 1 column 128
            60,000 Kinds that are no objects
              tried: its description is wrong: name: is missing; version: is missing; summary: is missing; kinds: 60001 items are over the limit of 256; kinds[0]: expected an object, this is a number; kinds[1]: expected an object, this is a number; kinds[2]: expected an object, this is a number; kinds[3]: expected an object, this is a number; kinds[4]: expected an object, this is a number; kinds[5]: expected an object, this is a number; kinds[6]: expected an object, this is a number; kinds[7]: expected an object, this is a number; kinds[8]: expected an object, this is a number; kinds[9]: expected an object, this is a number; kinds[10]: expected an object, this is a number; kinds[11]: expected an object, this is a number
            the same member 10,000 times
              tried: its description is wrong: name: expected a text, this is a number; version: is missing; summary: is missing; kinds: is empty, at least one is needed; states: is empty, at least one is needed
            a description of 257 KiB
              tried: its description is wrong: 263168 bytes are over the limit of 262144
            a description that asks for a newer host
              tried: its description is wrong: requires[0]: `history` is not a feature of this host; version: is missing; summary: is missing; kinds: is empty, at least one is needed; states: is empty, at least one is needed
            fixtures that are no list
              tried: its fixtures cannot be read: expected a list, this is an object
            100,000 fixtures
              tried: its fixtures cannot be read: 100000 items are over the limit of 1024; [0]: expected an object, this is a number; [1]: expected an object, this is a number; [2]: expected an object, this is a number; [3]: expected an object, this is a number; [4]: expected an object, this is a number; [5]: expected an object, this is a number; [6]: expected an object, this is a number; [7]: expected an object, this is a number; [8]: expected an object, this is a number; [9]: expected an object, this is a number; [10]: expected an object, this is a number; [11]: expected an object, this is a number; [12]: expected an object, this is a number; [13]: expected an object, this is a number; [14]: expected an object, this is a number
            fixtures of 5 MiB
              tried: its fixtures cannot be read: 5242880 bytes are over the limit of 4194304
            fixtures in each other
              tried: its fixtures cannot be read: not JSON: EOF while parsing a list at line 1 column 100000
            a fixture that does not hold
              tried: 1 of its fixtures failed: fixture `it`: expected state Pending, got Ready AsAsked ()
            a fixture that panics
              tried: 1 of its fixtures failed: fixture `it`: trapped: panicked at tests/guests/hostile/src/misdeeds.rs:56:20: the hostile guest panics as asked
            a fixture that loops
              tried: 1 of its fixtures failed: fixture `it`: ran past its deadline of 50 ms of processor time
            a fixture it declines
              tried: 1 of its fixtures failed: fixture `it`: it says it does not judge such an object: 
            a fixture of a state it never declared
              tried: 1 of its fixtures failed: fixture `it`: expected state Splendid, got Ready AsAsked ()
            answers that differ between calls
              tried: 1 of its fixtures failed: fixture `again`: expected state Ready, got Pending Wavers ()
            a fixture that is no object
              tried: its fixtures cannot be read: [0].object: expected an object, this is a list
        "#]],
    );
}

/// The fixtures of the component hold, but later calls fail. There is no other version, so the component remains live and
/// is shown as faulting.
#[test]
fn a_component_that_fails_after_its_fixtures_is_shown_as_faulting() {
    let mut host = Host::new();
    let bytes = kindsight_tests::hostile(&promising("{}", "Ready", 1));
    host.catalog
        .admit(&Host::file("a", bytes))
        .expect("its fixtures hold");
    for number in 0..10 {
        let judged = host.judge(thing(&format!(r#"{{"do": "trap", "number": {number}}}"#)));
        assert_eq!(&*judged.reason, "InterpreterTrapped");
    }
    host.catalog.check_breaker(std::time::Instant::now());
    assert!(host.is_healthy());
    let judged = host.judge(thing("{}"));
    expect!["Ready AsAsked: "].assert_eq(&verdict_text(&judged));
    let state = host.catalog.breaker(&crate::suite::name("a"));
    let faulting = state.faulting.expect("it fails");
    assert_eq!((faulting.calls, faulting.faults), (10, 10));
}

/// Two components that are valid, but conflict with each other.
#[test]
fn a_component_that_claims_kinds_of_another_is_refused() {
    let mut host = Host::new();
    let first = kindsight_tests::hostile(r#"{"name": "first"}"#);
    host.catalog
        .admit(&Host::file("first", first))
        .expect("it is good");
    let second = refused("second", LoadStep::Published, r#"{"name": "second"}"#);
    let seen = host.load(&second);
    assert!(
        seen.contains("both claim `hostile.example.com/* Thing`"),
        "{seen}"
    );
    let twin = refused(
        "twin",
        LoadStep::Published,
        r#"{"name": "first", "version": "2.0.0"}"#,
    );
    expect!["published: `first.wasm` has the same name `first`: remove one of them"]
        .assert_eq(&host.load(&twin));
    assert!(host.is_healthy());
    let by = host.judge(thing("{}")).by.expect("an interpreter");
    assert_eq!((&*by.name, &*by.version), ("first", "1.0.0"));
}
