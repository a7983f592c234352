//! Runs an interpreter natively, without Wasm: for its author's tests and for benchmarks.
//!
//! Objects are trimmed to the declared fields first, as the host does, so that a forgotten field
//! shows here and not in production.

mod damage;
mod mutation;
mod reported;

use kindsight_contract::{
    Coverage, Description, Expectation, ExpectedFailure, Fields, Fixture, HandledKind, InputWriter,
    Relatives, Tree, ViewWriter,
};
use reported::Reported;

use crate::bindings::exports::kindsight::interpreter::description::Guest;
use crate::{Adapter, Failure, Interpreter, Object, Verdict, export};

pub use mutation::check_mutations;

/// Checks the description and every fixture of `I`.
///
/// # Panics
/// When the description breaks the contract, a fixture does not hold, or there is none: names each that
/// failed, with the actual verdict.
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
            let verdict = run::<I>(fixture);
            mismatch(&description, &fixture.expect, verdict)
                .map(|what| format!("{}: {what}", fixture.name))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {} fixtures do not hold:\n{}",
        wrong.len(),
        fixtures.len(),
        wrong.join("\n")
    );
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

/// Difference between a verdict and the expected one, if any.
fn mismatch(
    description: &Description,
    expected: &Expectation,
    verdict: Result<Verdict, Failure>,
) -> Option<String> {
    let is_expected = match &verdict {
        Ok(verdict) => holds(description, expected, verdict),
        Err(Failure::Unsupported(_)) => expected.failure == Some(ExpectedFailure::Unsupported),
        Err(Failure::InvalidObject(_)) => expected.failure == Some(ExpectedFailure::InvalidObject),
        Err(Failure::InvalidSettings(_)) => {
            expected.failure == Some(ExpectedFailure::InvalidSettings)
        }
        Err(Failure::Internal(_)) => false,
    };
    if is_expected {
        return None;
    }
    let got = match verdict {
        Ok(Verdict {
            state,
            reason,
            message,
            recheck_at_ms,
            ..
        }) => match recheck_at_ms {
            None => format!("{} {reason} ({message})", state.name()),
            Some(at_ms) => format!(
                "{} {reason} ({message}), recheck at {at_ms} ms",
                state.name()
            ),
        },
        Err(failure) => format!("{failure:?}"),
    };
    Some(format!("expected {}, got {got}", promise(expected)))
}

fn holds(description: &Description, expected: &Expectation, verdict: &Verdict) -> bool {
    let is_same = |expected: &Option<String>, given: &str| {
        expected.as_deref().is_none_or(|expected| expected == given)
    };
    let state = description.states.iter();
    let mut state = state.filter(|state| verdict.state == *state.name);
    let phase = state.next().map(|state| state.phase);
    let recheck = expected.recheck_at_ms;
    expected.failure.is_none()
        && is_same(&expected.state, &verdict.state)
        && is_same(&expected.reason, &verdict.reason)
        && expected
            .phase
            .is_none_or(|expected| phase == Some(expected))
        && recheck.is_none_or(|at_ms| verdict.recheck_at_ms == Some(at_ms))
}

/// An expectation in words.
fn promise(expected: &Expectation) -> String {
    let mut words: Vec<String> = Vec::new();
    words.extend(expected.state.clone());
    words.extend(expected.reason.clone());
    words.extend(expected.phase.map(|phase| format!("phase {phase}")));
    let recheck = expected.recheck_at_ms;
    words.extend(recheck.map(|at_ms| format!("recheck at {at_ms} ms")));
    words.extend(expected.failure.map(|failure| failure.to_string()));
    words.join(" ")
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

fn run<I: Interpreter>(fixture: &Fixture) -> Result<Verdict, Failure> {
    let description = described::<I>();
    let (view, now_ms) = Object::read(&fixture.object, |object| {
        let kind = handled(&description, object)
            .ok_or_else(|| Failure::unsupported("no Kind of its description matches"))?;
        let now_ms = kind.uses_now.then_some(fixture.now_ms);
        Ok((view(object, kind, fixture), now_ms))
    })?;
    let verdict = export::judge::<I>(&view, now_ms)?;
    let mut declared = description.states.iter();
    if declared.any(|state| verdict.state == *state.name) {
        Ok(verdict)
    } else {
        let name = verdict.state.name();
        Err(Failure::Internal(format!(
            "the state {name} is not declared: add it to `states` in `describe`"
        )))
    }
}

/// Writes the input of a fixture as the host does.
fn view(object: &Object<'_>, kind: &HandledKind, fixture: &Fixture) -> Vec<u8> {
    let mut writer = ViewWriter::default();
    let fields = Fields::new(&kind.fields);
    let (mut input, _) = InputWriter::begin(&mut writer, object.root(), &fields, None);
    let list = input.begin_related();
    let mut reported: Vec<Reported> = fixture
        .related
        .iter()
        .map(|it| Reported::read(it))
        .collect();
    reported.push(Reported::read(&fixture.object));
    let relatives = Relatives::of(reported.as_slice());
    let itself = reported.last();
    for rule in &kind.related {
        let found = itself.map(|itself| relatives.find(rule, itself, object.root()));
        let total = found.as_ref().map_or(0, |found| found.total);
        let set = input.begin_set(fixture.coverage, total);
        let positions = found.map(|found| found.positions).unwrap_or_default();
        let objects = positions.iter().filter_map(|&at| reported.get(at));
        let fields = Fields::of_related(&rule.fields);
        for related in objects {
            let document = related.tree.document(&related.json);
            input.related(document.root(), &fields, None, usize::MAX);
        }
        input.end_set(set, u32::try_from(positions.len()).unwrap_or(u32::MAX));
    }
    input.end_related(list, u32::try_from(kind.related.len()).unwrap_or(u32::MAX));
    let settings = fixture.settings.as_deref().unwrap_or("{}");
    let tree = Tree::read(settings).unwrap_or_default();
    let document = tree.document(settings);
    input.finish(Some(document.root()));
    let mut view = Vec::new();
    writer.finish(&mut view);
    view
}

/// The most specific declared Kind that takes the object.
fn handled<'d>(description: &'d Description, object: &Object<'_>) -> Option<&'d HandledKind> {
    let (group, version, kind) = (object.group(), object.version(), object.kind());
    let has = |pointer: &String| object.at(pointer).is_present();
    let kinds = description.kinds.iter();
    kinds
        .filter(|handled| handled.pattern.matches(group, version, kind))
        .filter(|handled| handled.when.as_ref().is_none_or(has))
        .max_by_key(|handled| handled.specificity())
}
