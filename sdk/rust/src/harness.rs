//! Runs an interpreter natively, without Wasm: for its author's tests and for benchmarks.
//!
//! Objects are cut down to the declared fields first, and verdicts are checked and cut, with the code that
//! the host uses: what a fixture promises holds there too.

mod call;
mod damage;
mod mutation;
mod promises;
mod unread;

use std::collections::BTreeSet;

use kindsight_contract::{Coverage, Description, Expectation, Fixture};

use crate::bindings::exports::kindsight::interpreter::description::Guest;
use crate::{Adapter, Failure, Interpreter, Verdict, export};
use call::{Call, run};

pub use mutation::check_mutations;
pub use unread::unread_fields;

/// Checks the description and every fixture of `I`.
///
/// # Panics
/// When the description breaks the contract, there is no fixture or one does not hold: names each that
/// failed, with the actual verdict, and the field or relation that was not asked for. Also when a rule
/// reads a field that its Kind, or its rule of related objects, does not declare: it is not there in
/// production.
pub fn check_fixtures<I: Interpreter>() {
    let description = described::<I>();
    let unseen = I::fixtures().unseen_files();
    assert!(
        unseen.is_empty(),
        "files of fixtures came or went since this was compiled: {}; save any source file and run it again",
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
        "{} of {} fixtures do not hold:\n{}",
        wrong.len(),
        fixtures.len(),
        wrong.join("\n")
    );
    let unasked = unasked::<I>(&description, &fixtures);
    assert!(
        unasked.is_empty(),
        "rules read what they do not ask for, which the host does not pass:\n{}",
        unasked.join("\n")
    );
}

/// The fields that are read without being asked for, each once, with the first fixture that shows it.
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

/// The description of `I`, checked as the host does it, but strictly: what a host would warn of fails.
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

/// The fixtures of `I`, checked as its description.
fn fixtures<I: Interpreter>() -> Vec<Fixture> {
    let json = <Adapter<I> as Guest>::fixtures();
    let (fixtures, warnings) = Fixture::parse_all(&json)
        .unwrap_or_else(|problems| panic!("the fixtures are wrong:\n{}", problems.join("\n")));
    assert!(
        warnings.is_empty(),
        "the fixtures are wrong:\n{}",
        warnings.join("\n")
    );
    fixtures
}

/// Judges one whole object at the time 0, without related objects or settings.
///
/// # Errors
/// The interpreter's failure; [`Failure::Unsupported`] also when no declared Kind matches, and
/// [`Failure::Internal`] when it answers with a state it did not declare.
pub fn judge<I: Interpreter>(json: &str) -> Result<Verdict, Failure> {
    judge_at::<I>(json, 0)
}

/// As [`judge`], at a given time in Unix milliseconds.
///
/// # Errors
/// As [`judge`].
pub fn judge_at<I: Interpreter>(json: &str, now_ms: i64) -> Result<Verdict, Failure> {
    run::<I>(&Fixture {
        name: String::new(),
        object: json.to_owned(),
        related: Vec::new(),
        coverage: Coverage::Unknown,
        now_ms,
        settings: None,
        expect: Expectation::default(),
    })
}

/// Judges an input that is a view already, exactly as the component would be called: for benchmarks.
///
/// # Errors
/// The interpreter's failure.
pub fn judge_view<I: Interpreter>(view: &[u8], now_ms: Option<i64>) -> Result<Verdict, Failure> {
    export::judge::<I>(view, now_ms)
}

#[cfg(test)]
mod tests;
