use serde_json::{Value, json};

use super::*;
use crate::Relation;

/// A description with every member of the contract.
fn full() -> Value {
    json!({
        "name": "widgets.example.com",
        "version": "1.0.0-rc.1",
        "summary": "Widgets \"of\" example.com",
        "requires": [],
        "kinds": [{
            "group": "*.example.com", "version": "v1", "kind": "Widget", "when": "/status",
            "fields": ["/status/conditions/*/status", ""], "uses-now": true,
            "related": [
                {"group": "", "kind": "Pod", "relation": "owned", "limit": 256},
                {"group": "", "kind": "Pod", "relation": "descendant", "fields": ["/status"], "limit": 1},
                {"group": "apps", "kind": "*", "relation": "owner", "limit": 1},
                {"group": "", "kind": "Pod", "relation": "selected-by", "at": "/spec/selector", "limit": 9},
                {"group": "", "kind": "Pod", "relation": "labelled", "label": "a.b/c", "limit": 9},
                {"group": "", "kind": "Secret", "relation": "named", "at": "/spec/*/name", "limit": 9},
            ],
        }, {"group": "*.example.com", "version": "v1", "kind": "Widget"}],
        "states": [
            {"name": "Ready", "phase": "ready", "summary": "Works"},
            {"name": "Gone", "phase": "not-present", "summary": "", "final": true},
        ],
        "reasons": [{"name": "NoPorts", "summary": "None", "help-url": "https://example.com/a?b"}],
        "settings-schema": {"type": "object"},
    })
}

/// The problems or warnings of the full description with replaced members at some pointers.
fn changed(changes: &[(&str, Value)]) -> Result<Vec<String>, Vec<String>> {
    let mut value = full();
    for (pointer, new) in changes {
        let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
        match value.pointer_mut(parent).expect("a parent") {
            Value::Object(members) if new.is_null() => drop(members.remove(name)),
            parent @ Value::Object(_) => parent[name] = new.clone(),
            parent => parent[name.parse::<usize>().expect("an index")] = new.clone(),
        }
    }
    Description::parse(&value.to_string()).map(|(_, warnings)| warnings)
}

#[test]
fn a_written_value_is_read_again() {
    let (description, warnings) = Description::parse(&full().to_string()).expect("it is right");
    assert_eq!(warnings, [""; 0]);
    assert_eq!(
        description.kinds[0].related[5].relation,
        Relation::Named("/spec/*/name".to_owned())
    );
    assert_eq!(description.kinds[1].pattern.version, "v1");
    assert!(description.kinds[0].specificity() > description.kinds[1].specificity());
    let again = Description::parse(&description.to_json());
    assert_eq!(again, Ok((description, Vec::new())));
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table of all problems")]
fn a_problem_names_its_member_and_the_valid_values() {
    let table = [
        (
            "/name",
            json!("../etc"),
            "name: `../etc` is not 1 to 63 lower-case letters, digits, `-` or `.`",
        ),
        ("/name", Value::Null, "name: is missing"),
        ("/name", json!(3), "name: expected a text, this is a number"),
        (
            "/version",
            json!("1.0"),
            "version: `1.0` is not a semantic version of at most 64 bytes, such as 1.0.0",
        ),
        (
            "/summary",
            json!("a\nb"),
            "summary: not one line of at most 256 bytes",
        ),
        (
            "/requires",
            json!(["clock"]),
            "requires[0]: `clock` is not a feature of this host",
        ),
        (
            "/kinds",
            json!({}),
            "kinds: expected a list, this is an object",
        ),
        (
            "/kinds",
            json!([]),
            "kinds: is empty, at least one is needed",
        ),
        (
            "/kinds/0/group",
            json!("core"),
            "kinds[0].group: the core group is the empty string",
        ),
        (
            "/kinds/0/group",
            json!("*x"),
            "kinds[0].group: a group is exact, `*.suffix` or `*`",
        ),
        (
            "/kinds/0/kind",
            json!("a b"),
            "kinds[0].kind: a Kind is exact or `*`",
        ),
        (
            "/kinds/0/when",
            json!(".status"),
            "kinds[0].when: `.status` is not a JSON pointer: write /status",
        ),
        (
            "/kinds/0/when",
            Value::Null,
            "kinds[1]: `*.example.com/v1 Widget` is declared twice",
        ),
        (
            "/kinds/1/when",
            json!("/status"),
            "kinds[1]: `*.example.com/v1 Widget` when /status is declared twice",
        ),
        (
            "/kinds/0/fields/1",
            json!(".status.phase"),
            "kinds[0].fields[1]: `.status.phase` is not a JSON pointer: write /status/phase",
        ),
        (
            "/kinds/0/fields",
            json!(vec!["/a"; 65]),
            "kinds[0].fields: 65 items are over the limit of 64",
        ),
        (
            "/kinds/0/uses-now",
            json!("yes"),
            "kinds[0].uses-now: expected true or false, this is a text",
        ),
        (
            "/kinds/0/related/0/relation",
            json!("cousin"),
            "kinds[0].related[0].relation: the relation `cousin` is not known to this host, which knows owned, descendant, owner, selected-by, labelled, named",
        ),
        (
            "/kinds/0/related/0/at",
            json!("/a"),
            "kinds[0].related[0].at: belongs to the relation selected-by and named, not to owned",
        ),
        (
            "/kinds/0/related/3/at",
            Value::Null,
            "kinds[0].related[3].at: is missing",
        ),
        (
            "/kinds/0/related/3/at",
            json!("spec"),
            "kinds[0].related[3].at: `spec` is not a JSON pointer: write /spec",
        ),
        (
            "/kinds/0/related/4/label",
            json!("a/b/c"),
            "kinds[0].related[4].label: `a/b/c` is not the key of a label: `name` or `prefix.example.com/name`",
        ),
        (
            "/kinds/0/related/5/label",
            json!("a"),
            "kinds[0].related[5].label: belongs to the relation labelled, not to named",
        ),
        (
            "/kinds/0/related/0/limit",
            json!(0),
            "kinds[0].related[0].limit: 0 is not a number from 1 to 256",
        ),
        (
            "/kinds/0/related/0/limit",
            json!(257),
            "kinds[0].related[0].limit: 257 is not a number from 1 to 256",
        ),
        (
            "/states/0/name",
            json!("notReady"),
            "states[0].name: `notReady` is not one CamelCase word of at most 64 letters and digits",
        ),
        (
            "/states/1/name",
            json!("Ready"),
            "states[1].phase: the state Ready means ready everywhere, not not-present",
        ),
        (
            "/states/0/phase",
            json!("great"),
            "states[0].phase: the phase `great` is not known to this host, which knows ready, present, suspended, degraded, pending, terminating, not-present, failed, unknown",
        ),
        (
            "/states/0/phase",
            json!("failed"),
            "states[0].phase: the state Ready means ready everywhere, not failed",
        ),
        (
            "/reasons/0/help-url",
            json!("javascript:x"),
            "reasons[0].help-url: `javascript:x` is not a URL of at most 512 bytes that begins with https://",
        ),
        (
            "/settings-schema",
            json!([]),
            "settings-schema: a JSON Schema is an object of at most 65536 bytes",
        ),
    ];
    for (pointer, new, expected) in table {
        let problems = changed(&[(pointer, new)]).expect_err(expected);
        assert_eq!(problems[0], expected);
    }
}

#[test]
fn an_unknown_member_is_a_warning() {
    let warnings = changed(&[("/licence", json!("MIT")), ("/states/0/colour", json!(3))]);
    assert_eq!(
        warnings.expect("it is accepted"),
        [
            "licence: not a member of the contract, ignored; the known members are name, version, summary, requires, kinds, states, reasons, settings-schema",
            "states[0].colour: not a member of the contract, ignored; the known members are name, phase, summary, final",
        ]
    );
}

#[test]
fn the_last_of_members_with_one_name_counts() {
    let twice = full()
        .to_string()
        .replacen('{', r#"{"name": "Wrong Name","#, 1);
    // serde_json sorts members, so the second `name` is the last one.
    let (description, _) = Description::parse(&twice).expect("the last is right");
    assert_eq!(description.name, "widgets.example.com");
}

#[test]
fn a_bomb_is_refused_in_few_words() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let wide = format!(r#"{{"kinds": [{}{{}}]}}"#, "{},".repeat(60_000));
    let long = " ".repeat(DESCRIPTION_BYTES_MAX + 1);
    let unknown: Vec<String> = (0..9000)
        .map(|index| format!(r#""m{index}": 0,"#))
        .collect();
    let unknown = unknown.concat();
    let unknown = full().to_string().replacen('{', &format!("{{{unknown}"), 1);
    for json in [&deep, &wide, &long, "", "[]", "null"] {
        let problems = Description::parse(json).expect_err("a bomb");
        assert!((1..=16).contains(&problems.len()), "{problems:?}");
        assert!(problems.iter().all(|problem| problem.len() < 300));
    }
    let (_, warnings) = Description::parse(&unknown).expect("warnings");
    assert_eq!(warnings.len(), 16);
}
