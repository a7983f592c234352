//! Runs an interpreter natively, without Wasm: for its author's tests and for benchmarks.
//!
//! Objects are trimmed to the declared fields first, as the host does, so that a forgotten field
//! shows here and not in production.

mod damage;
mod mutation;
mod trim;

use crate::bindings::exports::kindsight::interpreter::interpreter as wit;
use crate::bindings::kindsight::interpreter::types::{HandledKind, KindPattern, RelatedObject};
use crate::document::Document;
use crate::{Failure, Interpreter, Node, Object, Verdict, export};

pub use mutation::check_mutations;

/// Checks every fixture of `I`.
///
/// # Panics
/// When a fixture does not hold, or there is none: names each that failed, with the actual verdict.
pub fn check_fixtures<I: Interpreter>() {
    let fixtures = I::fixtures();
    assert!(!fixtures.is_empty(), "the interpreter has no fixtures");
    let wrong: Vec<String> = fixtures
        .iter()
        .filter_map(|fixture| {
            let fixture = &fixture.0;
            let related = fixture.related.clone();
            let verdict = run::<I>(
                &fixture.object,
                related,
                fixture.now_ms,
                fixture.settings.clone(),
            );
            mismatch(&fixture.expected, verdict).map(|what| format!("{}: {what}", fixture.name))
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

/// Difference between a verdict and the expected one, if any.
fn mismatch(
    expected: &crate::bindings::exports::kindsight::interpreter::fixtures::Expectation,
    verdict: Result<Verdict, Failure>,
) -> Option<String> {
    let verdict = match verdict {
        Ok(verdict) => verdict,
        Err(failure) => return Some(format!("expected {}, got {failure:?}", expected.state)),
    };
    let reason = expected.reason.as_deref();
    if verdict.state == expected.state && reason.is_none_or(|reason| reason == verdict.reason) {
        return None;
    }
    Some(format!(
        "expected {} {}, got {} {} ({})",
        expected.state,
        reason.unwrap_or_default(),
        verdict.state,
        verdict.reason,
        verdict.message
    ))
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
    answer(export::interpret::<I>(&input))
}

/// Trims an object to the fields `I` declares for it, as the host does.
///
/// # Errors
/// [`Failure::Unsupported`] when no declared Kind matches, [`Failure::InvalidInput`] when it is not
/// a JSON object.
pub fn trim<I: Interpreter>(json: &str) -> Result<String, Failure> {
    let description = I::describe().0;
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
    let description = I::describe().0;
    let (object, related) = Object::read(json, |object| {
        let kind = handled(&description, object).ok_or(Failure::Unsupported)?;
        let related = related
            .into_iter()
            .map(|related| trim_related(related, kind));
        Ok((trim::text(object.root(), &kind.fields), related.collect()))
    })?;
    let verdict = answer(export::interpret::<I>(&wit::Input {
        object,
        related,
        truncated: false,
        now_ms,
        settings,
        extras: None,
    }))?;
    let declared = description
        .states
        .iter()
        .any(|state| state.name == verdict.state);
    if declared {
        Ok(verdict)
    } else {
        Err(Failure::Internal(format!(
            "state {} is not declared",
            verdict.state
        )))
    }
}

fn trim_related(mut related: RelatedObject, kind: &HandledKind) -> RelatedObject {
    let rule = kind
        .related
        .iter()
        .find(|rule| matches(&rule.kind, &related.group, &related.version, &related.kind));
    let document = Document::read(&related.object).ok();
    let trimmed = rule
        .zip(document.as_ref())
        .map(|(rule, document)| trim::text(Node::root(document), &rule.fields));
    if let Some(trimmed) = trimmed {
        related.object = trimmed;
    }
    related
}

/// The most specific declared Kind that matches.
fn handled<'d>(description: &'d wit::Description, object: &Object<'_>) -> Option<&'d HandledKind> {
    let (group, version, kind) = (object.group(), object.version(), object.kind());
    description
        .kinds
        .iter()
        .filter(|handled| matches(&handled.pattern, group, version, kind))
        .max_by_key(|handled| {
            let KindPattern {
                group,
                version,
                kind,
            } = &handled.pattern;
            (
                kind != "*",
                !group.starts_with('*'),
                group.len(),
                version != "*",
            )
        })
}

fn matches(pattern: &KindPattern, group: &str, version: &str, kind: &str) -> bool {
    let group_matches = match pattern.group.strip_prefix('*') {
        Some("") => true,
        Some(suffix) => group.len() > suffix.len() && group.ends_with(suffix),
        None => pattern.group == group,
    };
    group_matches
        && (pattern.version == "*" || pattern.version == version)
        && (pattern.kind == "*" || pattern.kind == kind)
}

fn answer(result: Result<wit::Verdict, wit::Failure>) -> Result<Verdict, Failure> {
    match result {
        Ok(verdict) => Ok(Verdict {
            state: verdict.state.into(),
            reason: verdict.reason.into(),
            message: verdict.message.into(),
            recheck_at_ms: verdict.recheck_at_ms,
        }),
        Err(wit::Failure::Unsupported) => Err(Failure::Unsupported),
        Err(wit::Failure::InvalidInput(what)) => Err(Failure::InvalidInput(what)),
        Err(wit::Failure::Internal(what)) => Err(Failure::Internal(what)),
    }
}
