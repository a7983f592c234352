//! Damages the objects of fixtures as careless reporters, older controllers and other users do.

use std::panic::{AssertUnwindSafe, catch_unwind};

use kindsight_contract::Fixture;
use kindsight_contract::damage::{Promised, damages};
use serde_json::Value;

use super::{described, fixtures, run};
use crate::{Failure, Interpreter, Phase, Verdict};

/// Maximum number of problems that are reported in full.
const PROBLEMS_MAX: usize = 20;

/// Judges the objects of all fixtures of `I` in damaged forms: without `status`, without `spec`,
/// with a text as `status`, with each single member removed or replaced by a value of a different
/// type, and with other values for numbers.
///
/// # Panics
/// If the interpreter panics or reports an internal failure on one of them, if an object is ready
/// without its `status` or with a text as `status`, or if an object that was not ready becomes ready
/// without its `spec` or its numbers. An object may be ready without a `status` or `spec` if a
/// fixture without it promises this for its Kind. A fixture promises this with a state, with a
/// phase, or with a reason that the interpreter gives to a ready object.
pub fn check_mutations<I: Interpreter>() {
    let fixtures: Vec<(Value, Fixture)> = fixtures::<I>()
        .into_iter()
        .filter_map(|fixture| Some((serde_json::from_str(&fixture.object).ok()?, fixture)))
        .collect();
    let promised = PromisedKinds {
        without_status: ready_without::<I>("status", &fixtures),
        without_spec: ready_without::<I>("spec", &fixtures),
    };
    let problems: Vec<String> = fixtures
        .iter()
        .flat_map(|(object, fixture)| problems::<I>(object, fixture, &promised))
        .collect();
    let told: Vec<&str> = problems
        .iter()
        .map(String::as_str)
        .take(PROBLEMS_MAX)
        .collect();
    assert!(
        problems.is_empty(),
        "{} damaged objects get a wrong verdict, such as:\n{}",
        problems.len(),
        told.join("\n")
    );
}

/// The Kinds that a fixture promises to be ready without a member.
struct PromisedKinds {
    without_status: Vec<String>,
    without_spec: Vec<String>,
}

/// The Kinds of the objects without this member that are ready according to their fixtures.
fn ready_without<I: Interpreter>(member: &str, fixtures: &[(Value, Fixture)]) -> Vec<String> {
    let fixtures = fixtures.iter();
    let ready = fixtures
        .filter(|(object, fixture)| object.get(member).is_none() && promises_ready::<I>(fixture));
    ready.map(|(object, _)| kind(object)).collect()
}

/// Returns whether a fixture promises that its object is ready.
fn promises_ready<I: Interpreter>(fixture: &Fixture) -> bool {
    let is_ready = |state: &str| phase_of::<I>(state) == Some(Phase::Ready);
    let promised = fixture.expect.is_ready(is_ready);
    promised.unwrap_or_else(|| {
        let verdict = run::<I>(fixture, &[]);
        verdict.is_ok_and(|verdict| is_ready(verdict.state.name()))
    })
}

fn phase_of<I: Interpreter>(state: &str) -> Option<Phase> {
    let states = described::<I>().states;
    let declared = states.into_iter().find(|declared| declared.name == state);
    declared.map(|declared| declared.phase)
}

fn kind(object: &Value) -> String {
    let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
    format!("{} {}", text("apiVersion"), text("kind"))
}

/// The problems of one fixture's object.
fn problems<I: Interpreter>(
    object: &Value,
    fixture: &Fixture,
    promised: &PromisedKinds,
) -> Vec<String> {
    let kind = kind(object);
    let promised = Promised {
        is_ready: promises_ready::<I>(fixture),
        without_status: promised.without_status.contains(&kind),
        without_spec: promised.without_spec.contains(&kind),
    };
    let damaged = damages(object, promised).into_iter();
    let problems = damaged.filter_map(|damaged| {
        let what = problem::<I>(fixture, &damaged.object, damaged.may_be_ready)?;
        Some(format!("{} {}: {what}", fixture.name, damaged.how))
    });
    problems.collect()
}

/// The reason why the verdict on a damaged object is wrong, if it is.
fn problem<I: Interpreter>(
    fixture: &Fixture,
    damaged: &Value,
    may_be_ready: bool,
) -> Option<String> {
    let damaged_fixture = Fixture {
        object: damaged.to_string(),
        ..fixture.clone()
    };
    let judged = catch_unwind(AssertUnwindSafe(|| run::<I>(&damaged_fixture, &[])));
    match judged {
        Err(_) => Some(format!("panics on {damaged}")),
        Ok(Err(Failure::Internal(why))) => Some(format!("fails: {why}")),
        Ok(Ok(verdict)) if !may_be_ready => ready::<I>(&verdict),
        Ok(_) => None,
    }
}

fn ready<I: Interpreter>(verdict: &Verdict) -> Option<String> {
    let is_ready = phase_of::<I>(&verdict.state) == Some(Phase::Ready);
    is_ready.then(|| format!("is {} {}", verdict.state, verdict.reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;

    /// An interpreter that takes a missing field as evidence for Ready.
    struct Careless;

    impl Interpreter for Careless {
        fn describe() -> Description {
            Description::new("careless", "1.0.0", "Careless")
                .kind(Kind::new("", "*", "Widget").fields(&["/spec", "/status"]))
                .states(&[READY, FAILED])
        }

        fn judge(widget: &Object<'_>, _: &Input<'_>) -> Result<Verdict, Failure> {
            if widget.at("/status/broken").is_true() {
                return Ok(Verdict::failed("Broken", ""));
            }
            assert!(!widget.at("/status/broken").is_array(), "no list");
            Ok(Verdict::ready("Fine", ""))
        }

        fn fixtures() -> Fixtures {
            Fixtures::from_json(
                r#"[{"name": "a broken widget", "expect": {"state": "Failed"},
                    "object": {"apiVersion": "v1", "kind": "Widget", "status": {"broken": true}}}]"#,
            )
        }
    }

    #[test]
    fn an_object_that_is_ready_without_a_status_or_panics_is_reported() {
        let told = catch_unwind(check_mutations::<Careless>).expect_err("it is careless");
        let told = told.downcast_ref::<String>().expect("a message");
        assert!(
            told.contains("a broken widget without status: is Ready Fine"),
            "{told}"
        );
        assert!(
            told.contains("a broken widget with a text as status: is Ready Fine"),
            "{told}"
        );
        assert!(
            told.contains("with [] at /status/broken: panics on"),
            "{told}"
        );
        assert!(!told.contains("with \"many\" at"), "{told}");
    }

    /// An interpreter that takes the evidence for Ready from the status alone.
    struct Careful;

    impl Interpreter for Careful {
        fn describe() -> Description {
            Description::new("careful", "1.0.0", "Careful")
                .kind(Kind::new("", "*", "Widget").fields(&["/status/works"]))
                .states(&[READY, PENDING])
        }

        fn judge(widget: &Object<'_>, _: &Input<'_>) -> Result<Verdict, Failure> {
            Ok(if widget.at("/status/works").is_true() {
                Verdict::ready("Works", "")
            } else {
                Verdict::pending("Starts", "")
            })
        }

        fn fixtures() -> Fixtures {
            Fixtures::from_json(
                r#"[{"name": "a phase", "expect": {"phase": "ready"},
                    "object": {"apiVersion": "v1", "kind": "Widget", "spec": {"a": 1}, "status": {"works": true}}},
                  {"name": "a reason", "expect": {"reason": "Works"},
                    "object": {"apiVersion": "v1", "kind": "Widget", "spec": {"a": 1}, "status": {"works": true}}}]"#,
            )
        }
    }

    #[test]
    fn a_phase_or_a_reason_promises_that_the_object_is_ready() {
        check_mutations::<Careful>();
    }
}
