//! Runs an interpreter natively, without Wasm, for its author's tests and for benchmarks.
//!
//! Objects are first reduced to the declared fields, and verdicts are checked and truncated with
//! the same code as in the host. The settings of fixtures are checked, and get the defaults of the
//! settings schema. A fixture therefore has the same result there.

mod call;
mod mutation;
mod promises;
mod unread;

use std::collections::BTreeSet;

use kindsight_contract::{Coverage, Description, Expectation, ExpectedFailure, Fixture};
use kindsight_settings::{FixtureSettings, SettingsCheck, SettingsSchema, fixture_settings};

use crate::bindings::exports::kindsight::interpreter::description::Guest;
use crate::{Adapter, Failure, Interpreter, Verdict, export};
use call::{Call, run};

pub use mutation::check_mutations;
pub use unread::unread_fields;

/// Checks the description and every fixture of `I`.
///
/// # Panics
/// If the description violates the contract, if its settings schema is broken or a default does not
/// fit it, if there is no fixture, or if one fails. The message
/// names each failed fixture with the actual verdict, and the missing field or relation. Also if a
/// rule reads a field that its Kind, or its rule of related objects, does not declare, because the
/// field is not passed in production.
pub fn check_fixtures<I: Interpreter>() {
    let description = described::<I>();
    let unseen = I::fixtures().unseen_files();
    assert!(
        unseen.is_empty(),
        "fixture files were added or removed since the compilation: {}; save any source file and run the test again",
        unseen.join(", ")
    );
    let fixtures = fixtures::<I>();
    assert!(!fixtures.is_empty(), "the interpreter has no fixtures");
    let wrong: Vec<String> = fixtures
        .iter()
        .filter_map(|fixture| {
            let what = promises::mismatch::<I>(&description, fixture)?;
            Some(format!("{}: {what}", fixture.name))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {} fixtures failed:\n{}",
        wrong.len(),
        fixtures.len(),
        wrong.join("\n")
    );
    let unasked = unasked::<I>(&description, &fixtures);
    assert!(
        unasked.is_empty(),
        "rules read fields that they do not request, and that the host does not pass:\n{}",
        unasked.join("\n")
    );
}

/// The fields that are read but not requested, each once, with the first fixture that shows this.
fn unasked<I: Interpreter>(description: &Description, fixtures: &[Fixture]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut told = Vec::new();
    for fixture in fixtures {
        let Some(call) = Call::of(description, fixture) else {
            continue;
        };
        let (_, reads) = call.judge_traced::<I>();
        for what in call.unasked(&reads) {
            if seen.insert(what.clone()) {
                told.push(format!("{}: {what}", fixture.name));
            }
        }
    }
    told
}

/// The description of `I`, checked in the same way as by the host, but strictly: a host's warning
/// is a failure here.
fn described<I: Interpreter>() -> Description {
    let json = <Adapter<I> as Guest>::describe();
    let (description, warnings) = Description::parse(&json)
        .unwrap_or_else(|problems| panic!("the description is wrong:\n{}", problems.join("\n")));
    assert!(
        warnings.is_empty(),
        "the description is wrong:\n{}",
        warnings.join("\n")
    );
    description
}

/// The fixtures of `I`, checked in the same way as its description, with the settings that a real
/// call receives. Omits the fixtures that promise `invalid-settings` for settings that the schema
/// refuses: an operator cannot set these, so they hold without a call.
fn fixtures<I: Interpreter>() -> Vec<Fixture> {
    let json = <Adapter<I> as Guest>::fixtures();
    let (fixtures, warnings) = Fixture::parse_all(&json)
        .unwrap_or_else(|problems| panic!("the fixtures are wrong:\n{}", problems.join("\n")));
    assert!(
        warnings.is_empty(),
        "the fixtures are wrong:\n{}",
        warnings.join("\n")
    );
    with_settings(settings_schema::<I>().as_ref(), fixtures)
}

/// The settings schema of `I`, checked as by the host.
fn settings_schema<I: Interpreter>() -> Option<SettingsSchema> {
    let schema = described::<I>().settings_schema?;
    let schema = SettingsSchema::parse(&schema);
    Some(schema.unwrap_or_else(|why| panic!("the description is wrong:\n{why}")))
}

/// The fixtures with the settings that a real call receives.
fn with_settings(schema: Option<&SettingsSchema>, fixtures: Vec<Fixture>) -> Vec<Fixture> {
    let check = schema.map(SettingsSchema::checking).transpose();
    let check: Option<SettingsCheck<'_>> =
        check.unwrap_or_else(|why| panic!("the description is wrong:\n{why}"));
    let mut wrong = Vec::new();
    let given = fixtures.into_iter().filter_map(|fixture| {
        match fixture_settings(check.as_ref(), fixture.settings.as_deref()) {
            FixtureSettings::Passed(settings) => Some(Fixture {
                settings,
                ..fixture
            }),
            FixtureSettings::Refused(why) => {
                if fixture.expect.failure != Some(ExpectedFailure::InvalidSettings) {
                    wrong.push(format!("{}: {why}", fixture.name));
                }
                None
            }
        }
    });
    let given = given.collect();
    assert!(
        wrong.is_empty(),
        "the fixtures are wrong:\n{}",
        wrong.join("\n")
    );
    given
}

/// Judges one complete object at the time 0, without related objects or settings.
///
/// # Errors
/// The interpreter's failure. Also [`Failure::Unsupported`] if no declared Kind matches, and
/// [`Failure::Internal`] if the answer contains a state that is not declared.
pub fn judge<I: Interpreter>(json: &str) -> Result<Verdict, Failure> {
    judge_at::<I>(json, 0)
}

/// The same as [`judge`], at a given time in Unix milliseconds.
///
/// # Errors
/// The errors of [`judge`].
pub fn judge_at<I: Interpreter>(json: &str, now_ms: i64) -> Result<Verdict, Failure> {
    run::<I>(&unnamed(json, &[], now_ms), &[])
}

/// Judges one complete object at the time 0 among other complete objects, for cases that a fixture
/// cannot state: each rule of related objects of the Kind has its own coverage, in the order of
/// their declaration. A rule without an entry has the coverage `unknown`.
///
/// # Errors
/// The errors of [`judge`].
pub fn judge_related<I: Interpreter>(
    json: &str,
    related: &[&str],
    coverage: &[Coverage],
) -> Result<Verdict, Failure> {
    run::<I>(&unnamed(json, related, 0), coverage)
}

/// A fixture that promises nothing.
fn unnamed(json: &str, related: &[&str], now_ms: i64) -> Fixture {
    Fixture {
        name: String::new(),
        object: json.to_owned(),
        related: related.iter().map(|&json| json.to_owned()).collect(),
        coverage: Coverage::Unknown,
        now_ms,
        settings: None,
        expect: Expectation::default(),
    }
}

/// Judges an input in the form of a view, exactly as the component would be called, for benchmarks.
///
/// # Errors
/// The interpreter's failure.
pub fn judge_view<I: Interpreter>(view: &[u8], now_ms: Option<i64>) -> Result<Verdict, Failure> {
    export::judge::<I>(view, now_ms)
}

#[cfg(test)]
mod tests;
