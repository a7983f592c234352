//! Runs an interpreter natively, without Wasm: for its author's tests and for benchmarks.
//!
//! Objects are trimmed to the declared fields first, as the host does, so that a forgotten field
//! shows here and not in production.

use kindsight_contract::{Coverage, Fields, InputWriter, Tree, ViewWriter};

use crate::bindings::kindsight::interpreter::types as wit;
use crate::bindings::kindsight::interpreter::types::{HandledKind, KindPattern, RelatedObject};
use crate::{Failure, Interpreter, Object, Verdict, export};

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
            let settings = fixture.settings.as_deref();
            let related = fixture.related.as_slice();
            let verdict = run::<I>(&fixture.object, related, fixture.now_ms, settings);
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
    run::<I>(json, &[], 0, None)
}

/// As [`judge`], at a given time in Unix milliseconds.
///
/// # Errors
/// As [`judge`].
pub fn judge_at<I: Interpreter>(json: &str, now_ms: i64) -> Result<Verdict, Failure> {
    run::<I>(json, &[], now_ms, None)
}

/// Judges an input that is a view already, exactly as the component would be called: for benchmarks.
///
/// # Errors
/// The interpreter's failure.
pub fn judge_view<I: Interpreter>(view: &[u8], now_ms: Option<i64>) -> Result<Verdict, Failure> {
    export::judge::<I>(view, now_ms)
}

/// The view of an object without related ones, cut down to the fields `I` declares for it, as the host
/// does.
///
/// # Errors
/// [`Failure::Unsupported`] when no declared Kind matches, [`Failure::InvalidObject`] when it is not
/// a JSON object.
pub fn view<I: Interpreter>(json: &str) -> Result<Vec<u8>, Failure> {
    let description = I::describe().0;
    Object::read(json, |object| {
        let kind = handled(&description, object).ok_or_else(no_kind)?;
        Ok(write(object, kind, &[], None))
    })
}

fn no_kind() -> Failure {
    Failure::unsupported("no Kind of its description matches")
}

fn run<I: Interpreter>(
    json: &str,
    related: &[RelatedObject],
    now_ms: i64,
    settings: Option<&str>,
) -> Result<Verdict, Failure> {
    let description = I::describe().0;
    let view = Object::read(json, |object| {
        let kind = handled(&description, object).ok_or_else(no_kind)?;
        Ok(write(object, kind, related, settings))
    })?;
    let verdict = export::judge::<I>(&view, Some(now_ms))?;
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

/// Writes the view of an object.
fn write(
    object: &Object<'_>,
    kind: &HandledKind,
    related: &[RelatedObject],
    settings: Option<&str>,
) -> Vec<u8> {
    let mut writer = ViewWriter::default();
    let fields = Fields::new(&kind.fields);
    let (mut input, _) = InputWriter::begin(&mut writer, object.root(), &fields, None);
    let list = input.begin_related();
    for rule in &kind.related {
        let found = related
            .iter()
            .filter(|related| matches(&rule.kind, &related.group, &related.version, &related.kind));
        let found: Vec<&RelatedObject> = found.collect();
        let set = input.begin_set(Coverage::Complete, found.len());
        for related in &found {
            let tree = Tree::read(&related.object).unwrap_or_default();
            let document = tree.document(&related.object);
            let fields = Fields::of_related(&rule.fields);
            input.related(document.root(), &fields, None, usize::MAX);
        }
        input.end_set(set, u32::try_from(found.len()).unwrap_or(u32::MAX));
    }
    input.end_related(list, u32::try_from(kind.related.len()).unwrap_or(u32::MAX));
    let settings = settings.unwrap_or("{}");
    let tree = Tree::read(settings).unwrap_or_default();
    let document = tree.document(settings);
    input.finish(Some(document.root()));
    let mut view = Vec::new();
    writer.finish(&mut view);
    view
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
