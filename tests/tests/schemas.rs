//! The schemas of descriptions and fixtures in `wit/` accept the same documents as the host.

#[path = "common/plugins.rs"]
mod plugins;

use std::path::Path;

use jsonschema::Validator;
use kindsight_contract::{Description, Fixture};
use plugins::PLUGINS;
use serde_json::{Value, json};

fn schema(name: &str) -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../wit")
        .join(name);
    let text = std::fs::read_to_string(file).expect("a schema");
    serde_json::from_str(&text).expect("JSON")
}

fn validator(name: &str) -> Validator {
    let schema = schema(name);
    jsonschema::meta::validate(&schema).expect("a JSON Schema");
    jsonschema::validator_for(&schema).expect("a JSON Schema")
}

/// Every member that a schema defines has a description.
fn check_documented(schema: &Value, place: &str, undocumented: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            for (name, part) in members {
                let place = format!("{place}/{name}");
                let defined = part.as_object().filter(|_| name == "properties");
                // The parts of conditions repeat members to restrict their combinations.
                let is_condition = ["/then/", "/if/", "/allOf/"]
                    .iter()
                    .any(|condition| place.contains(condition));
                for (member, of) in defined.into_iter().flatten().filter(|_| !is_condition) {
                    if of["description"].as_str().is_none_or(str::is_empty) {
                        undocumented.push(format!("{place}/{member}"));
                    }
                }
                check_documented(part, &place, undocumented);
            }
        }
        Value::Array(items) => {
            for item in items {
                check_documented(item, place, undocumented);
            }
        }
        _ => {}
    }
}

#[test]
fn every_member_is_documented() {
    for name in [
        "description.schema.json",
        "fixtures.schema.json",
        "rules.schema.json",
    ] {
        let mut undocumented = Vec::new();
        check_documented(&schema(name), name, &mut undocumented);
        assert_eq!(undocumented, [""; 0]);
    }
}

#[test]
fn built_in_interpreters_are_valid() {
    let (description, fixtures) = (
        validator("description.schema.json"),
        validator("fixtures.schema.json"),
    );
    for plugin in PLUGINS {
        for (validator, json) in [
            (&description, (plugin.describe)()),
            (&fixtures, (plugin.fixtures)()),
        ] {
            let value: Value = serde_json::from_str(&json).expect("JSON");
            let problems = validator.iter_errors(&value);
            let problems: Vec<String> = problems.map(|error| error.to_string()).collect();
            assert_eq!(problems, [""; 0], "{}", plugin.folder);
        }
    }
}

/// A replacement for the value at a JSON pointer; null removes the member.
type Change = (&'static str, Value);

/// The value with one change.
fn changed(value: &Value, (pointer, new): &Change) -> Value {
    let mut value = value.clone();
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    match value.pointer_mut(parent).expect("a parent") {
        Value::Object(members) if new.is_null() => drop(members.remove(name)),
        parent @ Value::Object(_) => parent[name] = new.clone(),
        parent => parent[name.parse::<usize>().expect("an index")] = new.clone(),
    }
    value
}

/// Checks that schema and parser agree on each change of a value that both accept.
fn check(
    validator: &Validator,
    reads: impl Fn(&str) -> bool,
    value: &Value,
    right: &[Change],
    wrong: &[Change],
) {
    assert!(validator.is_valid(value) && reads(&value.to_string()));
    let right = right.iter().map(|change| (true, change));
    for (expected, change) in right.chain(wrong.iter().map(|change| (false, change))) {
        let value = changed(value, change);
        assert_eq!(
            reads(&value.to_string()),
            expected,
            "the reader: {change:?}"
        );
        assert_eq!(
            validator.is_valid(&value),
            expected,
            "the schema: {change:?}"
        );
    }
}

fn description() -> Value {
    json!({
        "name": "a", "version": "1.0.0", "summary": "A",
        "kinds": [{
            "group": "a.b", "kind": "A", "when": "/status", "fields": ["/status"], "uses-now": true,
            "related": [
                {"group": "", "kind": "Pod", "relation": "owned", "limit": 1},
                {"group": "", "kind": "Pod", "relation": "selected-by", "at": "/spec/selector", "limit": 1},
                {"group": "", "kind": "Pod", "relation": "labelled", "label": "a.b/c", "limit": 1},
            ],
        }],
        "states": [
            {"name": "Ready", "phase": "ready", "summary": "A"},
            {"name": "Own", "phase": "degraded", "summary": "A", "final": true},
        ],
        "reasons": [{"name": "R", "summary": "A", "help-url": "https://example.com"}],
        "settings-schema": {},
    })
}

#[test]
fn schema_and_parser_accept_the_same_descriptions() {
    let right = [
        ("/unknown", json!(1)),
        ("/requires", json!([])),
        ("/version", json!("1.0.0-rc.1+5")),
        ("/summary", json!("")),
        ("/kinds/0/group", json!("")),
        ("/kinds/0/group", json!("*")),
        ("/kinds/0/group", json!("*.example.com")),
        ("/kinds/0/version", json!("v1")),
        ("/kinds/0/kind", json!("*")),
        ("/kinds/0/when", Value::Null),
        ("/kinds/0/fields", json!(["", "/a~1b/*/~0"])),
        ("/kinds/0/related/0/limit", json!(256)),
        ("/kinds/0/related/0/limit", json!(3.0)),
        ("/kinds/0/related/0/relation", json!("descendant")),
        ("/kinds/0/related/0/relation", json!("owner")),
        ("/kinds/0/related/1/relation", json!("named")),
        ("/kinds/0/related/2/label", json!("app")),
        ("/states/1/phase", json!("not-present")),
        ("/reasons", Value::Null),
        ("/reasons/0/help-url", Value::Null),
        ("/settings-schema", Value::Null),
    ];
    let wrong = [
        ("/name", Value::Null),
        ("/name", json!("A")),
        ("/name", json!("")),
        ("/name", json!("x".repeat(64))),
        ("/version", json!("1.0")),
        ("/version", json!("01.0.0")),
        ("/version", json!(1)),
        ("/summary", json!("a\nb")),
        ("/summary", json!("x".repeat(257))),
        ("/requires", json!(["clock"])),
        ("/requires", json!("clock")),
        ("/kinds", json!([])),
        ("/kinds", json!({})),
        ("/kinds/0", json!("a.b/A")),
        ("/kinds/0/group", Value::Null),
        ("/kinds/0/group", json!("core")),
        ("/kinds/0/group", json!("*a")),
        ("/kinds/0/group", json!("a/b")),
        ("/kinds/0/version", json!("")),
        ("/kinds/0/kind", json!("")),
        ("/kinds/0/when", json!("")),
        ("/kinds/0/when", json!(".status")),
        ("/kinds/0/fields", json!("/status")),
        ("/kinds/0/fields", json!([".status"])),
        ("/kinds/0/fields", json!(["/a~2"])),
        ("/kinds/0/fields", json!(vec!["/a"; 65])),
        ("/kinds/0/fields", json!(["/x".repeat(129)])),
        ("/kinds/0/uses-now", json!(1)),
        ("/kinds/0/related/0/relation", json!("cousin")),
        ("/kinds/0/related/0/relation", Value::Null),
        ("/kinds/0/related/0/limit", Value::Null),
        ("/kinds/0/related/0/limit", json!(0)),
        ("/kinds/0/related/0/limit", json!(257)),
        ("/kinds/0/related/0/limit", json!(1.5)),
        ("/kinds/0/related/0/at", json!("/a")),
        ("/kinds/0/related/0/label", json!("a")),
        ("/kinds/0/related/1/at", Value::Null),
        ("/kinds/0/related/1/at", json!("")),
        ("/kinds/0/related/1/label", json!("a")),
        ("/kinds/0/related/2/label", Value::Null),
        ("/kinds/0/related/2/label", json!("-a")),
        ("/kinds/0/related/2/at", json!("/a")),
        ("/states", json!([])),
        ("/states/0/name", json!("ready")),
        ("/states/0/name", json!("Not Ready")),
        ("/states/0/phase", json!("failed")),
        ("/states/0/phase", json!("Ready")),
        ("/states/0/phase", Value::Null),
        ("/states/0/summary", Value::Null),
        ("/states/1/final", json!("yes")),
        ("/reasons/0/name", json!("no ports")),
        ("/reasons/0/help-url", json!("example.com")),
        ("/settings-schema", json!("{}")),
    ];
    let reads = |json: &str| Description::parse(json).is_ok();
    let validator = validator("description.schema.json");
    check(&validator, reads, &description(), &right, &wrong);
}

#[test]
fn schema_and_parser_accept_the_same_fixtures() {
    let value = json!([{"name": "a", "object": {}, "expect": {"state": "Ready"}}]);
    let right = [
        ("/0/unknown", json!(1)),
        ("/0/related", json!([{}])),
        ("/0/coverage", json!("partial")),
        ("/0/now", json!("2026-01-31T12:00:00.5+02:00")),
        ("/0/settings", json!({"a": 1})),
        ("/0/expect/reason", json!("R")),
        ("/0/expect/phase", json!("not-present")),
        ("/0/expect/since", json!("2026-01-31T12:00:00Z")),
        ("/0/expect/recheck", json!("2026-01-31T12:00:00Z")),
        ("/0/expect", json!({"failure": "unsupported"})),
        ("/0/expect", json!({"failure": "invalid-object"})),
        ("/0/expect", json!({"failure": "invalid-settings"})),
    ];
    let wrong = [
        ("/0", json!("a")),
        ("/0/name", Value::Null),
        ("/0/name", json!("")),
        ("/0/name", json!("x".repeat(129))),
        ("/0/object", json!("{}")),
        ("/0/object", Value::Null),
        ("/0/related", json!({})),
        ("/0/related", json!([1])),
        ("/0/coverage", json!("all")),
        ("/0/now", json!("12:00")),
        ("/0/now", json!(0)),
        ("/0/settings", json!([])),
        ("/0/expect", Value::Null),
        ("/0/expect", json!({})),
        ("/0/expect", json!("Ready")),
        ("/0/expect/phase", json!("Ready")),
        ("/0/expect/state", json!(1)),
        ("/0/expect/since", json!("yesterday")),
        ("/0/expect/failure", json!("unsupported")),
        ("/0/expect", json!({"failure": "internal"})),
    ];
    let reads = |json: &str| Fixture::parse_all(json).is_ok();
    let validator = validator("fixtures.schema.json");
    check(&validator, reads, &value, &right, &wrong);
}

#[test]
fn the_schema_of_rules_accepts_every_example() {
    let schema = validator("rules.schema.json");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sdk/examples/declarative");
    let entries = std::fs::read_dir(folder).expect("the examples");
    let mut examples = 0;
    for entry in entries {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("text");
        let mut rules: Value = serde_saphyr::from_str(&text).expect("YAML");
        assert!(schema.is_valid(&rules), "{}", path.display());
        rules["rules"][0]["cases"][0]["unless"] = json!("true");
        assert!(
            !schema.is_valid(&rules),
            "an unknown member: {}",
            path.display()
        );
        examples += 1;
    }
    assert!(examples >= 20, "{examples} examples");
}

#[test]
fn the_schema_of_rules_accepts_the_catalogue() {
    let schema = validator("rules.schema.json");
    let catalogue = Path::new(env!("CARGO_MANIFEST_DIR")).join("../catalogue");
    let projects = std::fs::read_dir(catalogue).expect("the catalogue");
    let projects = projects.map(|entry| entry.expect("an entry").path());
    let files = projects
        .filter(|path| path.is_dir())
        .flat_map(|project| std::fs::read_dir(project).expect("a project"));
    let mut with_related = 0;
    for file in files {
        let path = file.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("text");
        let mut rules: Value = serde_saphyr::from_str(&text).expect("YAML");
        let errors = schema.iter_errors(&rules).map(|error| error.to_string());
        assert_eq!(errors.collect::<Vec<_>>(), [""; 0], "{}", path.display());
        if let Some(list) = rules.pointer_mut("/rules/0/related/0") {
            list["fields"] = json!(["/status"]);
            assert!(
                !schema.is_valid(&rules),
                "an unknown member: {}",
                path.display()
            );
            with_related += 1;
        }
    }
    assert!(
        with_related >= 10,
        "{with_related} rules with related objects"
    );
}
