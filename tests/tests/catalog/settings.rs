//! Settings: checked against the schema, passed to the component, kept over a swap.

use expect_test::expect;
use kindsight_api::interpreters::{LiveCondition, ShadowRun};
use kindsight_catalog::Promote;
use serde_json::{Map, Value, json};

use crate::{Host, candidate, component, component_with, name, outcome_text, upload};

pub(crate) const SCHEMA: &str = r#", "settings-schema": "{\"type\": \"object\", \"properties\": {\"level\": {\"type\": \"integer\", \"maximum\": 9}}, \"additionalProperties\": false}""#;
const STRICTER: &str = r#", "settings-schema": "{\"type\": \"object\", \"required\": [\"name\"]}""#;

pub(crate) fn object(value: &Value) -> Option<Map<String, Value>> {
    value.as_object().cloned()
}

impl Host {
    fn set(&self, settings: &Value) -> String {
        outcome_text(&self.catalog.set_settings(&name("a"), object(settings)))
    }

    pub(crate) fn says(&self) -> String {
        let judged = self.judge("a", r#"{"do": "say-settings"}"#);
        judged.message.to_string()
    }
}

#[test]
fn settings_reach_the_component() {
    let host = Host::new();
    host.load(&upload("a", component_with("a", "1.0.0", SCHEMA)));
    assert_eq!(host.says(), "no settings");
    expect!["Live: the settings of a are set"].assert_eq(&host.set(&json!({"level": 3})));
    assert_eq!(host.says(), "level 3");
    expect!["Unchanged: the settings of a are set"].assert_eq(&host.set(&json!({"level": 3})));
    expect!["Live: the settings of a are set"].assert_eq(&host.set(&json!({"level": 4})));
    assert_eq!(
        host.says(),
        "level 4",
        "a remembered answer is of other settings"
    );
    expect!["Live: the settings of a are set"].assert_eq(&host.set(&json!({})));
    assert_eq!(host.says(), "no settings", "none is the same as none set");
    expect!["Live: the settings of a are removed"].assert_eq(&host.set(&Value::Null));
    assert_eq!(host.says(), "no settings");
}

#[test]
fn settings_that_the_schema_refuses_are_reported_with_their_path() {
    let host = Host::new();
    host.load(&upload("a", component_with("a", "1.0.0", SCHEMA)));
    host.set(&json!({"level": 3}));
    let mut outcomes = String::new();
    for settings in [
        json!({"level": "high"}),
        json!({"level": 10}),
        json!({"level": 11, "lever": 1}),
        json!({"level": 1, "more": "x".repeat(70_000)}),
    ] {
        outcomes.push_str(&host.set(&settings));
        outcomes.push('\n');
        assert_eq!(host.says(), "level 3");
    }
    expect![[r#"
        refused: published: settings of `a`: "high" is not of type "integer" at `/level`
        refused: published: settings of `a`: 10 is greater than the maximum of 9 at `/level`
        refused: published: settings of `a`: 11 is greater than the maximum of 9 at `/level`; Additional properties are not allowed ('lever' was unexpected) in the settings
        refused: published: settings of `a`: settings of 70021 bytes are over the limit of 65536 bytes
    "#]].assert_eq(&outcomes);
}

#[test]
fn a_component_without_a_schema_takes_none() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    expect!["refused: published: settings of `a`: a 1.0.0 (sha256:…) has no settings"]
        .assert_eq(&host.set(&json!({"level": 3})));
    assert_eq!(
        host.catalog.entry(&name("a")).expect("an entry").settings,
        None
    );
}

#[test]
fn a_version_whose_schema_refuses_the_settings_does_not_go_live() {
    let host = Host::new();
    host.load(&upload("a", component_with("a", "1.0.0", SCHEMA)));
    host.set(&json!({"level": 3}));
    let stricter = component_with("a", "2.0.0", STRICTER);
    expect![[
        r#"refused: published: settings of `a`: "name" is a required property in the settings"#
    ]]
    .assert_eq(&host.load(&upload("a", stricter.clone())));
    assert_eq!(
        (host.judges("a").as_str(), host.says().as_str()),
        ("a 1.0.0", "level 3")
    );
    expect!["Candidate: a 2.0.0 is accepted and can be promoted"]
        .assert_eq(&host.load(&candidate("a", stricter)));
    expect![[
        r#"refused: published: settings of `a`: "name" is a required property in the settings"#
    ]]
    .assert_eq(&outcome_text(&host.catalog.promote(&name("a"), None)));
    assert_eq!(
        (host.judges("a").as_str(), host.says().as_str()),
        ("a 1.0.0", "level 3")
    );
    host.set(&Value::Null);
    expect!["Live: a 2.0.0 is live, replacing 1.0.0 from upload"]
        .assert_eq(&outcome_text(&host.catalog.promote(&name("a"), None)));
}

/// A schema with references to other documents affects only its own interpreter.
#[test]
fn a_schema_cannot_reach_out() {
    let host = Host::new();
    host.load(&upload("a", component("a", "0.1.0")));
    for (version, schema) in [
        ("1.0.0", r#"{\"$ref\": \"http://127.0.0.1:1/schema\"}"#),
        ("2.0.0", r#"{\"$ref\": \"file:///etc/passwd\"}"#),
    ] {
        let more = format!(r#", "settings-schema": "{schema}""#);
        let outcome = host.load(&upload("a", component_with("a", version, &more)));
        assert!(
            outcome.contains("validated: its settings-schema"),
            "{outcome}"
        );
        assert_eq!(host.live(), ["a 0.1.0 Upload"]);
    }
}

#[test]
fn a_broken_schema_is_refused_at_load() {
    let host = Host::new();
    host.load(&upload("a", component("a", "0.1.0")));
    let mut outcomes = String::new();
    for schema in [
        r#"{\"type\": \"strng\"}"#,
        r#"{\"properties\": {\"level\": {\"pattern\": \"(\"}}}"#,
        r#"{\"properties\": {\"level\": {\"minimum\": 5, \"default\": 3}}}"#,
    ] {
        let more = format!(r#", "settings-schema": "{schema}""#);
        outcomes.push_str(&host.load(&upload("a", component_with("a", "1.0.0", &more))));
        outcomes.push('\n');
        assert_eq!(host.live(), ["a 0.1.0 Upload"]);
    }
    expect![[r#"
        refused: validated: its settings-schema: "strng" is not valid under any of the schemas listed in the 'anyOf' keyword at `/type`
        refused: validated: its settings-schema: "(" is not a "regex" at `/properties/level/pattern`
        refused: validated: its settings-schema: a default does not fit: 3 is less than the minimum of 5 at `/level`
    "#]].assert_eq(&outcomes);
}

/// A version of `a` with a default level of 5, and one fixture: an object that is ready from level 5
/// on.
fn with_fixture(version: &str, settings: &str) -> Vec<u8> {
    let object =
        r#"{\"apiVersion\": \"a/v1\", \"kind\": \"Thing\", \"spec\": {\"do\": \"weigh-level\"}}"#;
    let more = format!(r#"{DEFAULT}, "fixtures": [["it", "{object}", "Ready"{settings}]]"#);
    component_with("a", version, &more)
}

const DEFAULT: &str = r#", "settings-schema": "{\"properties\": {\"level\": {\"type\": \"integer\", \"maximum\": 9, \"default\": 5}}}""#;

#[test]
fn a_fixture_gets_the_settings_of_a_real_call() {
    let host = Host::new();
    expect!["Live: a 1.0.0 is live"].assert_eq(&host.load(&upload("a", with_fixture("1.0.0", ""))));
    let mut outcomes = String::new();
    for settings in [
        r#", "{\"level\": 6}""#,
        r#", "{\"level\": 4}""#,
        r#", "{\"level\": 10}""#,
    ] {
        let version = with_fixture("1.1.0", settings);
        outcomes.push_str(&host.load(&upload("a", version)));
        outcomes.push('\n');
    }
    expect![[r#"
        Live: a 1.1.0 is live, replacing 1.0.0 from upload
        refused: tried: 1 of its fixtures failed: fixture `it`: expected state Ready, got Pending Low ()
        refused: tried: 1 of its fixtures failed: fixture `it`: its settings do not fit the settings-schema: 10 is greater than the maximum of 9 at `/level`
    "#]].assert_eq(&outcomes);
}

/// A schema of 2.6 KB whose parts each refer twice to the next part. A validation never ends.
fn bomb(parts: usize) -> String {
    let each = (0..parts).map(|number| {
        let next = format!(r##"{{"$ref": "#/$defs/d{}"}}"##, number + 1);
        format!(r#""d{number}": {{"allOf": [{next}, {next}]}}"#)
    });
    let parts: Vec<String> = each.chain([format!(r#""d{parts}": {{}}"#)]).collect();
    let schema = format!(
        r##"{{"$ref": "#/$defs/d0", "$defs": {{{}}}}}"##,
        parts.join(",")
    );
    format!(r#", "settings-schema": {}"#, Value::String(schema))
}

#[test]
fn a_schema_that_takes_for_ever_is_refused_before_anything_validates_by_it() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    for parts in [27, 40] {
        let component = component_with("a", "2.0.0", &bomb(parts));
        expect!["refused: validated: its settings-schema: with every `$ref` followed, it is nested deeper than 64, which is the limit"]
            .assert_eq(&host.load(&upload("a", component)));
        assert_eq!(host.live(), ["a 1.0.0 Upload"]);
    }
}

/// An earlier release accepted the schema and settings. The start continues without the interpreter.
#[test]
fn a_stored_schema_that_takes_for_ever_does_not_freeze_a_start() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    host.load(&upload("a", component_with("a", "2.0.0", SCHEMA)));
    host.set(&json!({"level": 3}));
    let mut kept = host.store.kept();
    let bomb = component_with("a", "3.0.0", &bomb(40));
    let (old, new) = (component_with("a", "2.0.0", SCHEMA), crate::digest(&bomb));
    kept.components.remove(&crate::digest(&old));
    kept.components.insert(new.clone(), bomb);
    for value in kept.names.values_mut() {
        let text = String::from_utf8(value.clone()).expect("text");
        let text = text.replace(crate::digest(&old).as_str(), new.as_str());
        *value = text.into_bytes();
    }
    let host = Host::over(crate::failing_store::FailingStore::over(kept), &[]);
    assert!(host.live().is_empty(), "the version before has no settings");
    let entry = host.catalog.entry(&name("a")).expect("an entry");
    let why: Vec<&str> = entry.unavailable().map(|(_, why)| why).collect();
    assert!(why[0].contains("nested deeper than 64"), "{why:?}");
    host.set(&Value::Null);
    host.catalog
        .set_disabled(&name("a"), false)
        .expect("a name");
    assert_eq!(host.live(), ["a 1.0.0 Upload"]);
}

#[test]
fn missing_settings_get_the_defaults_of_the_schema() {
    const DEFAULTS: &str = r#", "settings-schema": "{\"type\": \"object\", \"required\": [\"level\"], \"properties\": {\"level\": {\"type\": \"integer\", \"default\": 5}, \"more\": {}}}""#;
    let host = Host::new();
    host.load(&upload("a", component_with("a", "1.0.0", DEFAULTS)));
    assert_eq!(host.says(), "level 5", "without any");
    expect!["Live: the settings of a are set"].assert_eq(&host.set(&json!({"more": 1})));
    assert_eq!(host.says(), "level 5", "it is required, and there");
    host.set(&json!({"level": 7}));
    assert_eq!(host.says(), "level 7");
    let host = host.again();
    assert_eq!(host.says(), "level 7", "after a restart");
    let entry = host.catalog.entry(&name("a")).expect("an entry");
    assert_eq!(
        entry.settings,
        object(&json!({"level": 7})),
        "as they were set"
    );
    host.set(&Value::Null);
    assert_eq!(host.says(), "level 5");
    host.load(&upload("a", component_with("a", "2.0.0", STRICTER)));
    assert_eq!(host.says(), "no settings", "the schema has no default");
}

const RENAMED: &str = r#", "settings-schema": "{\"properties\": {\"grade\": {\"type\": \"integer\"}}, \"additionalProperties\": false}""#;

/// The new version refuses the present settings, and the live version refuses the new ones.
#[test]
fn a_version_that_renames_a_setting_goes_live_with_its_own_settings() {
    let host = Host::new();
    host.load(&upload("a", component_with("a", "1.0.0", SCHEMA)));
    host.set(&json!({"level": 3}));
    host.load(&candidate("a", component_with("a", "2.0.0", RENAMED)));
    expect!["refused: published: settings of `a`: Additional properties are not allowed ('level' was unexpected) in the settings"]
        .assert_eq(&outcome_text(&host.catalog.promote(&name("a"), None)));
    let promote = |settings: &Value| {
        let promote = Promote {
            settings: object(settings),
            ..Promote::default()
        };
        let any = host.catalog.when(LiveCondition::Any);
        outcome_text(&any.promote(&name("a"), &promote))
    };
    expect![[
        r#"refused: published: settings of `a`: "high" is not of type "integer" at `/grade`"#
    ]]
    .assert_eq(&promote(&json!({"grade": "high"})));
    assert_eq!(host.says(), "level 3");
    let run = ShadowRun {
        settings: object(&json!({"grade": 4})),
        ..ShadowRun::default()
    };
    host.catalog.shadow(&name("a"), &run).expect("they fit");
    expect!["Live: a 2.0.0 is live, replacing 1.0.0 from upload; its settings are set"]
        .assert_eq(&promote(&json!({"grade": 4})));
    let entry = host.catalog.entry(&name("a")).expect("an entry");
    assert_eq!(entry.settings, object(&json!({"grade": 4})));
    assert_eq!(host.judges("a"), "a 2.0.0");
}
