//! Checks the promises of fixtures, and explains failures.

use kindsight_contract::{
    Description, Expectation, ExpectedFailure, Fields, Fixture, Given, Request, unasked,
};

use super::call::{Call, run};
use crate::{Failure, Interpreter, Verdict};

/// The difference between the verdict on a fixture and its promise, if there is one, with the
/// missing field or relation.
pub(super) fn mismatch<I: Interpreter>(
    description: &Description,
    fixture: &Fixture,
) -> Option<String> {
    let what = difference(description, &fixture.expect, run::<I>(fixture, &[]))?;
    let explained = Call::of(description, fixture).and_then(|call| {
        let fields = Fields::new(&call.kind.fields);
        let rules = call.kind.related.iter();
        let rules: Vec<_> = rules
            .map(|rule| (rule, Fields::of_related(&rule.fields)))
            .collect();
        let request = Request {
            fields: &fields,
            rules: rules.iter().map(|(rule, fields)| (*rule, fields)).collect(),
        };
        unasked(fixture, &request, |wider| {
            let verdict = call.judge_with::<I>(wider);
            Some(difference(description, &fixture.expect, verdict).is_none())
        })
    });
    Some(match explained {
        Some(why) => format!("{what}; {why}"),
        None => what,
    })
}

/// The difference between a verdict and the expected one, if there is one.
fn difference(
    description: &Description,
    expected: &Expectation,
    verdict: Result<Verdict, Failure>,
) -> Option<String> {
    let failure = match verdict {
        Ok(verdict) => {
            let mut states = description.states.iter();
            let state = states.find(|state| verdict.state == *state.name);
            return expected.difference(&Given {
                state: verdict.state.name(),
                phase: state.map_or("", |state| state.phase.as_str()),
                reason: &verdict.reason,
                message: &verdict.message,
                since_ms: verdict.since_ms,
                recheck_at_ms: verdict.recheck_at_ms,
            });
        }
        Err(failure) => failure,
    };
    let (given, why) = match &failure {
        Failure::Unsupported(why) => (Some(ExpectedFailure::Unsupported), &**why),
        Failure::InvalidObject(why) => (Some(ExpectedFailure::InvalidObject), why.as_str()),
        Failure::InvalidSettings(why) => (Some(ExpectedFailure::InvalidSettings), why.as_str()),
        Failure::Internal(why) => (None, why.as_str()),
    };
    let differs = given.is_none() || expected.failure != given;
    differs.then(|| {
        let got = given.map_or("internal", ExpectedFailure::as_str);
        format!(
            "expected {}, got the failure {got}: {why}",
            expected.words()
        )
    })
}
