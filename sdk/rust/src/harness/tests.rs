use std::panic::catch_unwind;

use super::*;
use crate::prelude::*;

const FIXTURES: &str = r#"[{"name": "a widget that works",
    "object": {"apiVersion": "v1", "kind": "Widget", "status": {"phase": "Up", "since": "2026-01-01T00:00:00Z"}},
    "expect": {"state": "Ready", "since": "2026-01-01T00:00:00Z"}}]"#;

fn judged(widget: &Object<'_>) -> Verdict {
    let verdict = match widget.at("/status/phase").text() {
        Some("Up") => Verdict::ready("Up", ""),
        _ => Verdict::pending("Down", ""),
    };
    verdict.since(widget.at("/status/since").time_ms())
}

fn described(fields: &[&str]) -> crate::Description {
    crate::Description::new("widgets", "1.0.0", "Widgets")
        .kind(Kind::new("", "*", "Widget").fields(fields))
        .states(&[READY])
}

macro_rules! widgets {
    ($name:ident, $fields:expr, $judge:expr) => {
        struct $name;

        impl Interpreter for $name {
            fn describe() -> crate::Description {
                described(&$fields)
            }

            fn judge(widget: &Object<'_>, _: &Input<'_>) -> Result<Verdict, Failure> {
                let judge: fn(&Object<'_>) -> Verdict = $judge;
                Ok(judge(widget))
            }

            fn fixtures() -> Fixtures {
                Fixtures::from_json(FIXTURES)
            }
        }
    };
}

widgets!(
    Right,
    ["/status/phase", "/status/since", "/spec/size"],
    judged
);
widgets!(Forgetful, ["/status/since"], judged);
widgets!(Curious, ["/status/phase", "/status/since"], |widget| {
    assert!(!widget.at("/spec/paused").is_true());
    judged(widget)
});
widgets!(Impatient, ["/status/phase", "/status/since"], |widget| {
    judged(widget).recheck_at(1)
});

fn told(check: fn()) -> String {
    let told = catch_unwind(check).expect_err("it is wrong");
    *told.downcast::<String>().expect("a message")
}

#[test]
fn a_field_that_was_not_asked_for_is_named() {
    let told = told(check_fixtures::<Forgetful>);
    let why = "expected state Ready since 2026-01-01T00:00:00Z, got Pending Down (), since 2026-01-01T00:00:00Z; \
               `/status/phase` is not requested: add it to the Kind's fields";
    assert!(told.contains(why), "{told}");
}

#[test]
fn a_field_that_is_read_and_not_declared_fails_though_the_fixture_holds() {
    let told = told(check_fixtures::<Curious>);
    let why = "a widget that works: reads /spec, which `/* Widget` does not request";
    assert!(told.contains(why), "{told}");
}

#[test]
fn an_unread_field_is_listed() {
    check_fixtures::<Right>();
    assert_eq!(unread_fields::<Right>(), ["/* Widget: /spec/size"]);
}

/// Reads its conditions, and the object's generation only through them.
struct Conditional;

impl Interpreter for Conditional {
    fn describe() -> crate::Description {
        described(&["/metadata/generation", "/status/conditions"])
    }

    fn judge(widget: &Object<'_>, _: &Input<'_>) -> Result<Verdict, Failure> {
        let is_up = widget.conditions().is_true("Up");
        Ok(if is_up {
            Verdict::ready("Up", "")
        } else {
            Verdict::pending("Down", "")
        })
    }

    fn fixtures() -> Fixtures {
        Fixtures::from_json(
            r#"[{"name": "outdated", "object": {"apiVersion": "v1", "kind": "Widget",
                "metadata": {"generation": 2},
                "status": {"conditions": [{"type": "Up", "status": "True", "observedGeneration": 1}]}},
                "expect": {"state": "Pending"}}]"#,
        )
    }
}

#[test]
fn conditions_read_the_generation_of_their_object() {
    check_fixtures::<Conditional>();
    assert_eq!(unread_fields::<Conditional>(), [""; 0]);
}

macro_rules! configured {
    ($name:ident, $schema:expr, $fixtures:expr) => {
        struct $name;

        impl Interpreter for $name {
            fn describe() -> crate::Description {
                described(&["/status"]).settings_schema($schema)
            }

            fn judge(_: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
                Ok(match input.settings().get("level").integer() {
                    Some(3..) => Verdict::ready("High", ""),
                    _ => Verdict::pending("Low", ""),
                })
            }

            fn fixtures() -> Fixtures {
                Fixtures::from_json($fixtures)
            }
        }
    };
}

const LEVEL: &str = r#"{"properties": {"level": {"type": "integer", "maximum": 9, "default": 3}}}"#;

configured!(
    Defaulted,
    LEVEL,
    r#"[{"name": "by default", "object": {"apiVersion": "v1", "kind": "Widget"}, "expect": {"state": "Ready"}},
        {"name": "low", "object": {"apiVersion": "v1", "kind": "Widget"}, "settings": {"level": 1}, "expect": {"state": "Pending"}},
        {"name": "too high", "object": {"apiVersion": "v1", "kind": "Widget"}, "settings": {"level": 10}, "expect": {"failure": "invalid-settings"}}]"#
);
configured!(
    Unfitting,
    LEVEL,
    r#"[{"name": "too high", "object": {"apiVersion": "v1", "kind": "Widget"}, "settings": {"level": 10}, "expect": {"state": "Ready"}}]"#
);
configured!(
    Broken,
    r#"{"properties": {"level": {"type": "strng"}}}"#,
    FIXTURES
);

#[test]
fn a_fixture_gets_the_defaults_of_the_settings_schema() {
    check_fixtures::<Defaulted>();
}

#[test]
fn settings_that_no_operator_can_set_fail_the_fixture() {
    let told = told(check_fixtures::<Unfitting>);
    let why = "too high: its settings do not fit the settings-schema: 10 is greater than the maximum of 9 at `/level`";
    assert!(told.contains(why), "{told}");
}

#[test]
fn a_broken_settings_schema_fails_the_check() {
    let told = told(check_fixtures::<Broken>);
    assert!(told.contains("its settings-schema: "), "{told}");
    assert!(told.contains("`/properties/level/type`"), "{told}");
}

#[test]
fn a_time_to_judge_again_needs_a_kind_with_the_time() {
    let told = told(check_fixtures::<Impatient>);
    assert!(told.contains("declare `uses-now`"), "{told}");
}
