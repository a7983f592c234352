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
        says("no states", r#"{"name": "a", "states": []}"#),
        says(
            "the same state twice",
            r#"{"name": "a", "states": ["Ready", "Ready"]}"#,
        ),
        says(
            "a state that is two words",
            r#"{"name": "a", "states": ["Not Ready"]}"#,
        ),
        says("60,000 states", r#"{"name": "a", "more-states": 60000}"#),
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
        refused_module("257 Kinds", LoadStep::Tried, &many_kinds(257)),
        refused_module("a schema of 65 KiB", LoadStep::Tried, &large_schema()),
    ];
    cases.extend(fixtures());
    cases
}

/// A description with so many Kinds, all of them the empty pattern.
fn many_kinds(count: u32) -> Module {
    let body = format!(
        "(i32.store offset=24 (i32.const 0x20000) (i32.const 0x30000))
        (i32.store offset=28 (i32.const 0x20000) (i32.const {count}))
        i32.const 0x20000"
    );
    described(&body)
}

/// A description with a schema of nothing but zeros.
fn large_schema() -> Module {
    described(
        "(i32.store8 offset=40 (i32.const 0x20000) (i32.const 1))
        (i32.store offset=44 (i32.const 0x20000) (i32.const 0x30000))
        (i32.store offset=48 (i32.const 0x20000) (i32.const 66560))
        i32.const 0x20000",
    )
}

fn described(body: &str) -> Module {
    Module {
        pages: 8,
        describe: Some(body.to_owned()),
        ..Module::default()
    }
}

/// The description of a guest with one fixture, as often as `times` says.
fn promising(spec: &str, state: &str, times: usize) -> String {
    let object =
        format!(r#"{{"apiVersion": "hostile.example.com/v1", "kind": "Thing", "spec": {spec}}}"#);
    let object = object.replace('"', "\\\"");
    let fixture = format!(r#"["it", "{object}", "{state}"]"#);
    let fixtures = vec![fixture; times].join(", ");
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
fn what_cannot_be_or_does_not_hold() {
    check(
        &cases(),
        &expect![[r#"
            no name
              tried: its description is wrong: name ``: 1 to 63 lower-case letters, digits, `-` or `.`
            a name that is a path
              tried: its description is wrong: name `../../etc/passwd`: 1 to 63 lower-case letters, digits, `-` or `.`
            a name that writes into terminals
              tried: its description is wrong: name `\u{1b}[2Jno`: 1 to 63 lower-case letters, digits, `-` or `.`
            a version that is prose
              tried: its description is wrong: version `one and a half`: 1 to 64 printable ASCII characters
            a summary of two lines
              tried: its description is wrong: summary: one line of at most 256 bytes
            no Kinds
              tried: its description is wrong: 0 Kinds: 1 to 256 are right
            the same Kind twice
              tried: its description is wrong: pattern `a.b/* A` is there twice
            a pattern that is none
              tried: its description is wrong: pattern `*x.example.com/* A`: the group is exact, `*.suffix` or `*`; version and Kind are exact or `*`
            no states
              tried: its description is wrong: 0 states: 1 to 64 are right
            the same state twice
              tried: its description is wrong: state `Ready` is declared twice
            a state that is two words
              tried: its description is wrong: state `Not Ready`: 1 to 64 letters and digits
            60,000 states
              tried: its description is wrong: 60003 states: 1 to 64 are right
            fields that are no pointers
              tried: its description is wrong: `hostile.example.com/* Thing`: field `status.conditions` is not a JSON pointer of at most 256 bytes; it starts with `/`
            65,000 related objects
              tried: its description is wrong: `hostile.example.com/* Thing`: a limit of 65000 related objects; 1 to 256 are right
            a schema that is no JSON
              tried: its description is wrong: settings-schema: a JSON object of at most 65536 bytes
            a schema that is a list
              tried: its description is wrong: settings-schema: a JSON object of at most 65536 bytes
            257 Kinds
              tried: its description is wrong: name ``: 1 to 63 lower-case letters, digits, `-` or `.`; version ``: 1 to 64 printable ASCII characters; 0 states: 1 to 64 are right; 257 Kinds: 1 to 256 are right; pattern `/ `: the group is exact, `*.suffix` or `*`; version and Kind are exact or `*`; pattern `/ `: the group is exact, `*.suffix` or `*`; version and Kind are exact or `*`; pattern `/ ` is there twice; pattern `/ `: the group is exact, `*.suffix` or `*`; version and Kind are exact or `*`; pattern `/ ` is there twice; pattern `/ `: the group is exact, `*.suffix` or `*`; version and Kind are exact or `*`; pattern `/ ` is there twice; pattern `/ `: the group is exact, `*.suffix` or `*`; version and Kind are exact or `*`; pattern `/ ` is there twice; pattern `/ `: the group is exact, `*.suffix` or `*`; version and Kind are exact or `*`; pattern `/ ` is there twice; pattern `/ `: the group is exact, `*.suffix` or `*`; version and Kind are exact or `*`
            a schema of 65 KiB
              tried: its description is wrong: name ``: 1 to 63 lower-case letters, digits, `-` or `.`; version ``: 1 to 64 printable ASCII characters; settings-schema: a JSON object of at most 65536 bytes; 0 states: 1 to 64 are right; 0 Kinds: 1 to 256 are right
            a fixture that does not hold
              tried: 1 of its fixtures do not hold: fixture `it`: expected state Pending, got Ready AsAsked ()
            a fixture that panics
              tried: 1 of its fixtures do not hold: fixture `it`: trapped: panicked at tests/guests/hostile/src/misdeeds.rs:56:20: the hostile guest panics as asked
            a fixture that loops
              tried: 1 of its fixtures do not hold: fixture `it`: ran past its deadline of 50 ms of processor time
            a fixture it declines
              tried: 1 of its fixtures do not hold: fixture `it`: it says it does not judge such an object: 
            a fixture of a state it never declared
              tried: 1 of its fixtures do not hold: fixture `it`: expected state Splendid, got Ready AsAsked ()
            answers that differ between calls
              tried: 1 of its fixtures do not hold: fixture `it`: expected state Ready, got Pending Wavers ()
            a fixture that is no object
              tried: 1 of its fixtures do not hold: fixture `it`: not a Kubernetes object: it does not start with `{`
        "#]],
    );
}

/// One whose fixtures hold, and that then fails, with no other version: it stays live, and is shown.
#[test]
fn what_passes_its_fixtures_and_then_fails_is_shown() {
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

/// Two components, each valid by itself.
#[test]
fn what_claims_anothers_kinds_is_refused() {
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
    expect!["published: `first.wasm` has the same name `first`: leave one of them out"]
        .assert_eq(&host.load(&twin));
    assert!(host.is_healthy());
    let by = host.judge(thing("{}")).by.expect("an interpreter");
    assert_eq!((&*by.name, &*by.version), ("first", "1.0.0"));
}
