//! Tries the fixtures of a component before it may go live.

use std::sync::Arc;

use kindsight_contract::{Expectation, ExpectedFailure, Fixture, cut};
use kindsight_model::{Digest, Object, Phase, Verdict, clean};
use wasmtime::component::InstancePre;

use super::{Instance, unnamed};
use crate::call_input::Settings;
use crate::describe::Description;
use crate::exports::Exports;
use crate::fault::Fault;
use crate::instance_context::InstanceContext;
use crate::interpreter::Interpreter;
use crate::limits::{LOAD_DEADLINE, Limits, SUMMARY_BYTES_MAX};
use crate::load_error::LoadError;
use crate::related::Siblings;
use crate::trial::{Trial, TrialError};

/// Asks the component for its fixtures. Warnings about them are added to those of the description.
pub(super) fn list(
    pre: &InstancePre<InstanceContext>,
    exports: &Exports,
    digest: &Digest,
    limits: &Limits,
    description: &mut Description,
) -> Result<Vec<Fixture>, LoadError> {
    let mut instance = Instance::start(pre, unnamed(digest), limits, LOAD_DEADLINE)?;
    let fixtures = exports.fixtures(&mut instance.store, &instance.made);
    let fixtures = fixtures.map_err(|error| LoadError::Shapes(format!("{error:#}")))?;
    let json = instance.call("fixtures", &fixtures)?;
    let (fixtures, warnings) = Fixture::parse_all(&json).map_err(LoadError::FixtureList)?;
    let warnings = warnings.into_iter().map(|warning| {
        let warning = format!("fixtures{warning}");
        clean(&warning, SUMMARY_BYTES_MAX).into_owned()
    });
    description.warnings.extend(warnings);
    Ok(fixtures)
}

/// Asks a loaded component for its fixtures again: they are not kept.
///
/// # Errors
/// As when it was loaded, where it does not answer the same.
pub(crate) fn listed(
    interpreter: &Interpreter,
    limits: &Limits,
) -> Result<Vec<Fixture>, LoadError> {
    let mut description = interpreter.description().clone();
    let (pre, exports) = (interpreter.pre(), interpreter.exports());
    list(pre, exports, interpreter.digest(), limits, &mut description)
}

/// Tries every fixture, on one instance as production does.
pub(super) fn try_all(
    interpreter: &Interpreter,
    limits: &Limits,
    fixtures: &[Fixture],
) -> Result<(), LoadError> {
    let mut trial = Trial::new(interpreter, limits);
    let wrong: Vec<String> = fixtures
        .iter()
        .filter_map(|fixture| {
            let what = mismatch(&mut trial, fixture)?;
            Some(format!("fixture `{}`: {what}", cut(&fixture.name)))
        })
        .collect();
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(LoadError::Fixtures(wrong))
    }
}

/// The difference between the answer and the expectation, if any.
fn mismatch(trial: &mut Trial<'_>, fixture: &Fixture) -> Option<String> {
    let (object, siblings) = match objects(fixture) {
        Ok(objects) => objects,
        Err(what) => return Some(what),
    };
    let settings = Settings::of(fixture.settings.as_deref().map(Arc::from).as_ref());
    let answer = trial.judge(&object, &siblings, fixture.now_ms, &settings);
    difference(&fixture.expect, answer)
}

/// The object of a fixture, and those among which the host finds the related ones as in a report.
///
/// # Errors
/// What is no object.
pub(crate) fn objects(fixture: &Fixture) -> Result<(Object, Siblings), String> {
    let object = Object::from_json(fixture.object.as_str()).map_err(|error| error.to_string())?;
    let related = fixture.related.iter().enumerate().map(|(index, json)| {
        let related = Object::from_json(json.as_str());
        related.map_err(|error| format!("related[{index}]: {error}"))
    });
    let mut objects: Vec<Object> = related.collect::<Result<_, String>>()?;
    objects.push(object.clone());
    let siblings = Siblings::of(objects.into()).given(fixture.coverage);
    Ok((object, siblings))
}

/// The difference between an answer and the expectation, if any.
fn difference(expected: &Expectation, answer: Result<Verdict, TrialError>) -> Option<String> {
    match (expected.failure, answer) {
        (None, Ok(verdict)) => {
            let differs = !holds(expected, &verdict);
            differs.then(|| {
                let expected = promise(expected);
                format!("expected {expected}, got {}", given(&verdict))
            })
        }
        (Some(expected), Ok(verdict)) => {
            Some(format!("expected {expected}, got {}", given(&verdict)))
        }
        (Some(ExpectedFailure::Unsupported), Err(TrialError::Unsupported(_)))
        | (Some(ExpectedFailure::InvalidObject), Err(TrialError::Fault(Fault::InvalidObject(_))))
        | (
            Some(ExpectedFailure::InvalidSettings),
            Err(TrialError::Fault(Fault::InvalidSettings(_))),
        ) => None,
        (Some(expected), Err(error)) => Some(format!("expected {expected}: {error}")),
        (None, Err(error)) => Some(error.to_string()),
    }
}

fn holds(expected: &Expectation, verdict: &Verdict) -> bool {
    let is_same = |expected: &Option<String>, given: &str| {
        expected.as_deref().is_none_or(|expected| expected == given)
    };
    let recheck = expected.recheck_at_ms;
    is_same(&expected.state, &verdict.state)
        && is_same(&expected.reason, &verdict.reason)
        && expected
            .phase
            .is_none_or(|phase| Phase::from(phase) == verdict.phase)
        && recheck.is_none_or(|at_ms| verdict.recheck_at_ms == Some(at_ms))
}

/// The promise in words.
fn promise(expected: &Expectation) -> String {
    let mut words = Vec::new();
    if let Some(state) = &expected.state {
        words.push(format!("state {}", cut(state)));
    }
    words.extend(expected.reason.as_deref().map(cut));
    words.extend(expected.phase.map(|phase| format!("phase {phase}")));
    let recheck = expected.recheck_at_ms;
    words.extend(recheck.map(|at_ms| format!("recheck at {at_ms} ms")));
    words.join(" ")
}

fn given(verdict: &Verdict) -> String {
    let Verdict {
        state,
        reason,
        message,
        ..
    } = verdict;
    let recheck = verdict.recheck_at_ms;
    let recheck = recheck.map_or_else(String::new, |at_ms| format!(", recheck at {at_ms} ms"));
    format!("{state} {reason} ({message}){recheck}")
}
