//! Trials of settings before they are set: the interpreter's own refusal reaches the operator.

use expect_test::expect;
use kindsight_api::interpreters::LiveCondition;
use kindsight_interpreter::ReportedGroup;
use kindsight_model::{Coverage, ObjectList};
use serde_json::{Value, json};

use crate::settings::{SCHEMA, object};
use crate::{Host, component_with, name, outcome_text, thing, upload};

impl Host {
    /// Sets the settings while a cluster reports objects with these specs.
    fn set_beside(&self, settings: &Value, specs: &[&str]) -> String {
        self.set_beside_group(settings, specs, Some("app in p+c"))
    }

    /// The same, with the label of the group.
    fn set_beside_group(&self, settings: &Value, specs: &[&str], label: Option<&str>) -> String {
        let objects: ObjectList = specs.iter().map(|spec| thing("a", spec)).collect();
        let reported = ReportedGroup {
            label: label.map(Into::into),
            application: None,
            objects,
            related: [].into(),
            covered: Coverage::partial(),
        };
        let any = self.catalog.when(LiveCondition::Any);
        outcome_text(&any.set_settings(&name("a"), object(settings), &[reported]))
    }
}

const UNUSABLE: &str = r#"{"do": "invalid-settings", "text": "no level is that high"}"#;

#[test]
fn settings_that_the_interpreter_cannot_use_for_a_reported_object_are_refused_in_its_words() {
    let host = Host::new();
    host.load(&upload("a", component_with("a", "1.0.0", SCHEMA)));
    expect!["Live: the settings of a are set"]
        .assert_eq(&host.set_beside(&json!({"level": 3}), &["{}", r#"{"do": "say-settings"}"#]));
    expect![
        "refused: published: settings of `a`: no level is that high (with Thing it of app in p+c)"
    ]
    .assert_eq(&host.set_beside(&json!({"level": 9}), &["{}", UNUSABLE]));
    assert_eq!(host.says(), "level 3", "the live ones stay");
    expect!["Unchanged: the settings of a are set"]
        .assert_eq(&host.set_beside(&json!({"level": 3}), &[UNUSABLE]));
    expect!["Live: the settings of a are removed"]
        .assert_eq(&host.set_beside(&Value::Null, &[UNUSABLE]));
}

#[test]
fn a_refusal_by_an_object_that_the_sender_may_not_see_contains_nothing_of_the_object() {
    let host = Host::new();
    host.load(&upload("a", component_with("a", "1.0.0", SCHEMA)));
    expect![
        "refused: published: settings of `a`: the settings cannot be used (with an object that you may not see)"
    ]
    .assert_eq(&host.set_beside_group(&json!({"level": 9}), &[UNUSABLE], None));
}

#[test]
fn other_faults_do_not_refuse_settings() {
    let host = Host::new();
    host.load(&upload("a", component_with("a", "1.0.0", SCHEMA)));
    let specs = [
        r#"{"do": "panic"}"#,
        r#"{"do": "invalid-object", "text": "no"}"#,
        r#"{"do": "unsupported"}"#,
        r#"{"do": "say", "text": "InvalidSettings"}"#,
    ];
    expect!["Live: the settings of a are set"]
        .assert_eq(&host.set_beside(&json!({"level": 4}), &specs));
    assert_eq!(host.says(), "level 4");
}

#[test]
fn objects_that_another_interpreter_judges_are_not_asked_about_settings() {
    let host = Host::new();
    host.load(&upload("a", component_with("a", "1.0.0", SCHEMA)));
    let reported = ReportedGroup {
        label: Some("app in p+c".into()),
        application: None,
        objects: vec![thing("b", UNUSABLE)].into(),
        related: [].into(),
        covered: Coverage::partial(),
    };
    let any = host.catalog.when(LiveCondition::Any);
    let outcome = any.set_settings(&name("a"), object(&json!({"level": 4})), &[reported]);
    assert_eq!(outcome_text(&outcome), "Live: the settings of a are set");
}

#[test]
fn a_trial_of_settings_ends_in_time_and_counts_omitted_objects() {
    let host = Host::new();
    host.load(&upload("a", component_with("a", "1.0.0", SCHEMA)));
    let mut specs = vec!["{}"; 10_000];
    specs.push(UNUSABLE);
    let outcome = host.set_beside(&json!({"level": 4}), &specs);
    let begin = "Live: the settings of a are set; they were tried on only ";
    assert!(outcome.starts_with(begin), "{outcome}");
    assert_eq!(host.says(), "level 4");
}

#[test]
fn settings_that_a_fixture_cannot_do_with_are_refused() {
    let host = Host::new();
    let guests = kindsight_tests::GUESTS.iter();
    let crane = guests.clone().find(|guest| guest.name == "crane");
    let crane = crane.expect("the crane was built").wasm.to_vec();
    host.admit(&upload("crane", crane)).expect("it loads");
    let set = |ready: &str| {
        let settings = object(&json!({"ready": ready}));
        outcome_text(&host.catalog.set_settings(&name("crane"), settings))
    };
    expect!["Live: the settings of crane are set"].assert_eq(&set("Lowered"));
    expect!["refused: published: settings of `crane`: `ready` cannot be empty: name a phase (with fixture `a working crane`)"]
        .assert_eq(&set(""));
    let entry = host.catalog.entry(&name("crane")).expect("an entry");
    assert_eq!(entry.settings, object(&json!({"ready": "Lowered"})));
}
