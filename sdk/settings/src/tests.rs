use expect_test::expect;
use serde_json::json;

use super::*;

fn parsed(schema: &Value) -> Result<SettingsSchema, String> {
    SettingsSchema::parse(&schema.to_string())
}

#[test]
fn a_broken_schema_is_refused_with_the_place() {
    let mut refusals = String::new();
    for schema in [
        json!({"type": "strng"}),
        json!({"properties": {"level": {"type": "strng"}}}),
        json!({"properties": {"name": {"pattern": "("}}}),
        json!({"properties": {"level": {"minimum": "one"}}}),
        json!({"properties": {"level": {"type": "integer", "minimum": 5, "default": 3}}}),
        json!({"properties": {"deep": {"required": ["name"], "properties": {
            "name": {}, "size": {"type": "integer", "default": "large"}}}}}),
        json!({"properties": {"list": {"items": {"type": "string"}, "default": ["a", 1]}}}),
    ] {
        refusals.push_str(&parsed(&schema).expect_err("it is broken"));
        refusals.push('\n');
    }
    expect![[r#"
        its settings-schema: "strng" is not valid under any of the schemas listed in the 'anyOf' keyword at `/type`
        its settings-schema: "strng" is not valid under any of the schemas listed in the 'anyOf' keyword at `/properties/level/type`
        its settings-schema: "(" is not a "regex" at `/properties/name/pattern`
        its settings-schema: "one" is not of type "number" at `/properties/level/minimum`
        its settings-schema: a default does not fit: 3 is less than the minimum of 5 at `/level`
        its settings-schema: a default does not fit: "large" is not of type "integer" at `/deep/size`
        its settings-schema: a default does not fit: 1 is not of type "string" at `/list/1`
    "#]].assert_eq(&refusals);
}

#[test]
fn a_usual_schema_with_defaults_is_accepted() {
    for schema in [
        json!({}),
        json!({"required": ["name"], "properties": {"name": {"type": "string"}, "level": {"type": "integer", "minimum": 1, "default": 3}}}),
        json!({"properties": {"deep": {"required": ["name"], "additionalProperties": false,
            "properties": {"name": {"type": "string"}, "size": {"type": "integer", "default": 5}}}}}),
        json!({"properties": {"whole": {"type": "object", "default": {}, "properties": {"a": {"default": 7}}}}}),
    ] {
        let parsed = parsed(&schema);
        assert!(parsed.is_ok(), "{parsed:?}");
    }
}

#[test]
fn a_problem_names_its_place_and_at_the_root_the_settings() {
    let schema = json!({
        "required": ["name"], "additionalProperties": false,
        "properties": {"name": {}, "level": {"type": "integer", "maximum": 9}},
    });
    let schema = parsed(&schema).expect("a schema");
    let check = schema.checking().expect("a check");
    let settings = json!({"level": 10, "lever": 1});
    let why = check.check(settings.as_object().expect("an object"));
    expect![[r#"10 is greater than the maximum of 9 at `/level`; Additional properties are not allowed ('lever' was unexpected) in the settings; "name" is a required property in the settings"#]].assert_eq(&why.expect_err("refused"));
}

#[test]
fn a_fixture_gets_the_settings_of_a_real_call() {
    let schema = json!({"properties": {
        "level": {"type": "integer", "maximum": 9, "default": 5}, "name": {"type": "string"},
    }});
    let schema = parsed(&schema).expect("a schema");
    let check = schema.checking().expect("a check");
    let passed = |settings: Option<&str>| fixture_settings(Some(&check), settings);
    let given = |text: &str| FixtureSettings::Passed(Some(text.to_owned()));
    assert_eq!(passed(None), given(r#"{"level":5}"#));
    assert_eq!(
        passed(Some(r#"{"name": "a"}"#)),
        given(r#"{"level":5,"name":"a"}"#)
    );
    let refused = |settings| match passed(Some(settings)) {
        FixtureSettings::Refused(why) => why,
        FixtureSettings::Passed(passed) => panic!("{passed:?}"),
    };
    expect!["its settings do not fit the settings-schema: 10 is greater than the maximum of 9 at `/level`"].assert_eq(&refused(r#"{"level": 10}"#));
    assert_eq!(fixture_settings(None, None), FixtureSettings::Passed(None));
    let without = fixture_settings(None, Some("{}"));
    assert!(
        matches!(without, FixtureSettings::Refused(_)),
        "{without:?}"
    );
}
