//! Runs an interpreter natively, without Wasm: for its author's tests and for benchmarks.
//!
//! Objects are trimmed to the declared fields first, as the host does, so that a forgotten field
//! shows here and not in production.

mod trim;

use kindsight_contract::{Description, Expectation, ExpectedFailure, Fixture, HandledKind};

use crate::bindings::exports::kindsight::interpreter::description::Guest;
use crate::bindings::exports::kindsight::interpreter::interpreter as wit;
use crate::bindings::kindsight::interpreter::types::RelatedObject;
use crate::document::Document;
use crate::{Adapter, Failure, Interpreter, Node, Object, Verdict, export};

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
            let related = fixture
                .related
                .iter()
                .filter_map(|json| related_object(json));
            let related = related.collect();
            let settings = fixture.settings.clone();
            let verdict = run::<I>(&fixture.object, related, fixture.now_ms, settings);
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

/// A related object, named by itself.
fn related_object(json: &str) -> Option<RelatedObject> {
    let related = Object::read(json, |object| {
        let text = |pointer: &str| object.at(pointer).text_or_empty().to_owned();
        Ok(RelatedObject {
            group: object.group().to_owned(),
            version: object.version().to_owned(),
            kind: object.kind().to_owned(),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
            object: json.to_owned(),
        })
    });
    related.ok()
}

/// Difference between a verdict and the expected one, if any.
fn mismatch(
    description: &Description,
    expected: &Expectation,
    verdict: Result<Verdict, Failure>,
) -> Option<String> {
    let is_expected = match &verdict {
        Ok(verdict) => holds(description, expected, verdict),
        Err(Failure::Unsupported) => expected.failure == Some(ExpectedFailure::Unsupported),
        Err(Failure::InvalidInput(_)) => matches!(
            expected.failure,
            Some(ExpectedFailure::InvalidObject | ExpectedFailure::InvalidSettings)
        ),
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
    run::<I>(json, Vec::new(), 0, None)
}

/// As [`judge`], at a given time in Unix milliseconds.
///
/// # Errors
/// As [`judge`].
pub fn judge_at<I: Interpreter>(json: &str, now_ms: i64) -> Result<Verdict, Failure> {
    run::<I>(json, Vec::new(), now_ms, None)
}

/// Judges text that is already trimmed, exactly as the component would be called: for benchmarks.
///
/// # Errors
/// The interpreter's failure.
pub fn interpret_trimmed<I: Interpreter>(json: &str) -> Result<Verdict, Failure> {
    let input = wit::Input {
        object: json.to_owned(),
        related: Vec::new(),
        truncated: false,
        now_ms: 0,
        settings: None,
        extras: None,
    };
    export::judge::<I>(&input)
}

/// Trims an object to the fields `I` declares for it, as the host does.
///
/// # Errors
/// [`Failure::Unsupported`] when no declared Kind matches, [`Failure::InvalidInput`] when it is not
/// a JSON object.
pub fn trim<I: Interpreter>(json: &str) -> Result<String, Failure> {
    let description = described::<I>();
    Object::read(json, |object| {
        let kind = handled(&description, object).ok_or(Failure::Unsupported)?;
        Ok(trim::text(object.root(), &kind.fields))
    })
}

fn run<I: Interpreter>(
    json: &str,
    related: Vec<RelatedObject>,
    now_ms: i64,
    settings: Option<String>,
) -> Result<Verdict, Failure> {
    let description = described::<I>();
    let (object, related) = Object::read(json, |object| {
        let kind = handled(&description, object).ok_or(Failure::Unsupported)?;
        let related = related
            .into_iter()
            .map(|related| trim_related(related, kind));
        Ok((trim::text(object.root(), &kind.fields), related.collect()))
    })?;
    let verdict = export::judge::<I>(&wit::Input {
        object,
        related,
        truncated: false,
        now_ms,
        settings,
        extras: None,
    })?;
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

fn trim_related(mut related: RelatedObject, kind: &HandledKind) -> RelatedObject {
    let rule = kind.related.iter().find(|rule| {
        rule.pattern
            .matches(&related.group, &related.version, &related.kind)
    });
    let document = Document::read(&related.object).ok();
    let trimmed = rule
        .zip(document.as_ref())
        .map(|(rule, document)| trim::text(Node::root(document), &rule.fields));
    if let Some(trimmed) = trimmed {
        related.object = trimmed;
    }
    related
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
