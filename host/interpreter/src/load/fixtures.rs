//! Runs the fixtures of a component before it may go live.

mod explanation;

pub(crate) use explanation::{request, widened};

use std::sync::Arc;

use kindsight_contract::{ExpectedFailure, Fixture, Given, cut};
use kindsight_model::{Object, Verdict, clean};
use kindsight_settings::{FixtureSettings, SettingsCheck, SettingsSchema, fixture_settings};

use super::{Instance, LoadingComponent};
use crate::call_input::Settings;
use crate::describe::Description;
use crate::fault::Fault;
use crate::interpreter::Interpreter;
use crate::limits::{LOAD_DEADLINE, Limits, SUMMARY_BYTES_MAX};
use crate::load_error::LoadError;
use crate::related::Siblings;
use crate::stats::CallStats;
use crate::trial::{Trial, TrialError};

/// Maximum number of failed fixtures that are explained. Each explanation takes up to 64 calls.
const EXPLAINED_MAX: usize = 3;

/// Requests the fixtures of a component. Warnings about them are added to the warnings of the
/// description.
pub(super) fn list(
    component: LoadingComponent<'_>,
    limits: &Limits,
    description: &mut Description,
) -> Result<Vec<Fixture>, LoadError> {
    let mut instance = Instance::start(component, limits, LOAD_DEADLINE)?;
    let fixtures = component
        .exports
        .fixtures(&mut instance.store, &instance.made);
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

/// Requests the fixtures of a loaded component again, because they are not kept.
///
/// # Errors
/// The same as when the component was loaded, if it gives a different answer now.
pub(crate) fn listed(
    interpreter: &Interpreter,
    limits: &Limits,
) -> Result<Vec<Fixture>, LoadError> {
    let mut description = interpreter.description().clone();
    let component = LoadingComponent {
        pre: interpreter.pre(),
        exports: interpreter.exports(),
        digest: interpreter.digest(),
        stats: &Arc::default(),
    };
    list(component, limits, &mut description)
}

/// Runs all fixtures on one instance, as in production: with the defaults of the settings schema.
pub(super) fn try_all(
    interpreter: &Interpreter,
    limits: &Limits,
    fixtures: &[Fixture],
    stats: &Arc<CallStats>,
) -> Result<(), LoadError> {
    let mut trial = Trial::counted(interpreter, limits, stats);
    let check = interpreter.settings_schema();
    let check = check.map(SettingsSchema::checking).transpose();
    let check = check.map_err(LoadError::SettingsSchema)?;
    let mut wrong = Vec::new();
    for fixture in fixtures {
        let explain = wrong.len() < EXPLAINED_MAX;
        if let Some(what) = told_mismatch(&mut trial, check.as_ref(), fixture, explain) {
            wrong.push(format!("fixture `{}`: {what}", cut(&fixture.name)));
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(LoadError::Fixtures(wrong))
    }
}

/// The difference between the answer to a fixture and its promise, if there is one. With `explain`, it names the field
/// or relation that is missing in the request, which takes up to 64 calls.
pub(crate) fn told_mismatch(
    trial: &mut Trial<'_>,
    check: Option<&SettingsCheck<'_>>,
    fixture: &Fixture,
    explain: bool,
) -> Option<String> {
    let settings = settings(check, fixture);
    let Mismatch {
        mut what,
        is_answer,
    } = mismatch(trial, fixture, &settings)?;
    if explain
        && is_answer
        && let Ok(settings) = &settings
        && let Some(why) = explanation::of(trial, fixture, settings)
    {
        what.extend(["; ", &why]);
    }
    Some(what)
}

/// Judges one fixture as [`try_all`] does.
///
/// # Errors
/// The difference between the answer and the expectation.
pub(crate) fn holds(
    interpreter: &Interpreter,
    limits: &Limits,
    fixture: &Fixture,
) -> Result<(), String> {
    let check = interpreter.settings_schema();
    let check = check.map(SettingsSchema::checking).transpose()?;
    let settings = settings(check.as_ref(), fixture);
    let mut trial = Trial::new(interpreter, limits);
    let mismatch = mismatch(&mut trial, fixture, &settings);
    mismatch.map_or(Ok(()), |mismatch| Err(mismatch.what))
}

/// A failed fixture.
struct Mismatch {
    what: String,
    /// False if the call ended in a fault.
    is_answer: bool,
}

/// The difference between the answer and the expectation, if there is one.
fn mismatch(
    trial: &mut Trial<'_>,
    fixture: &Fixture,
    settings: &Result<Settings, String>,
) -> Option<Mismatch> {
    let of = |what, is_answer| Some(Mismatch { what, is_answer });
    let settings = match settings {
        Ok(settings) => settings,
        // An operator cannot set them, so no call receives them.
        Err(_) if fixture.expect.failure == Some(ExpectedFailure::InvalidSettings) => return None,
        Err(why) => return of(why.clone(), false),
    };
    let (object, siblings) = match objects(fixture) {
        Ok(objects) => objects,
        Err(what) => return of(what, false),
    };
    let answer = trial.judge(&object, &siblings, fixture.now_ms, settings);
    let is_answer = is_answer(&answer);
    of(difference(fixture, answer)?, is_answer)
}

/// The settings that a call with a fixture receives.
///
/// # Errors
/// The reason why the schema refuses them.
pub(crate) fn settings(
    check: Option<&SettingsCheck<'_>>,
    fixture: &Fixture,
) -> Result<Settings, String> {
    match fixture_settings(check, fixture.settings.as_deref()) {
        FixtureSettings::Passed(text) => Ok(Settings::of(text.map(Arc::from).as_ref())),
        FixtureSettings::Refused(why) => Err(why),
    }
}

/// Returns whether the component answered, with a verdict or a failure.
fn is_answer(answer: &Result<Verdict, TrialError>) -> bool {
    match answer {
        Ok(_) | Err(TrialError::Unsupported(_)) => true,
        Err(TrialError::Fault(fault)) => matches!(
            fault,
            Fault::InvalidObject(_) | Fault::InvalidSettings(_) | Fault::Internal(_)
        ),
        Err(TrialError::NoKind(_) | TrialError::Fixture(_)) => false,
    }
}

/// The object of a fixture, and the objects among which the host searches the related ones, as in a
/// report.
///
/// # Errors
/// The JSON that is not a Kubernetes object.
pub(crate) fn objects(fixture: &Fixture) -> Result<(Object, Siblings), String> {
    let object = Object::from_fixture(&fixture.object).map_err(|error| error.to_string())?;
    let related = fixture.related.iter().enumerate().map(|(index, json)| {
        let related = Object::from_fixture(json);
        related.map_err(|error| format!("related[{index}]: {error}"))
    });
    let mut objects: Vec<Object> = related.collect::<Result<_, String>>()?;
    objects.push(object.clone());
    let siblings = Siblings::of(objects).given(fixture.coverage);
    Ok((object, siblings))
}

/// The difference between an answer and the expectation, if there is one.
fn difference(fixture: &Fixture, answer: Result<Verdict, TrialError>) -> Option<String> {
    let expected = &fixture.expect;
    match (expected.failure, answer) {
        (_, Ok(verdict)) => expected.difference(&Given {
            state: &verdict.state,
            phase: verdict.phase.as_str(),
            reason: &verdict.reason,
            message: &verdict.message,
            since_ms: fixture.since(verdict.since_ms),
            recheck_at_ms: verdict.recheck_at_ms,
        }),
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
