//! Verdicts that are wrong because the host does not know all related objects.

use kindsight_contract::{Coverage, Fixture};
use kindsight_interpreter::Examiner;
use kindsight_model::{Phase, Verdict};

/// Maximum number of related objects of one fixture that are left out, each alone.
const LEFT_OUT_MAX: usize = 16;

/// Looks for a set of unknown related objects that makes the verdict on a fixture wrong.
///
/// A host that knows only some of the related objects gives the verdict with all of them, the verdict by the object
/// alone, or one between both. Without any related object, a verdict is not red or unknown unless it is so with all of
/// them.
pub(super) fn mistake(examiner: &mut Examiner<'_>, fixture: &Fixture) -> Option<String> {
    let full = examiner.judge(fixture).ok()?;
    let alone = examiner
        .judge(&without(fixture, None, Coverage::Unknown))
        .ok()?;
    if is_bad(&alone) && !is_bad(&full) {
        return Some(told("without its related objects", &alone));
    }
    let severities = [full.phase.severity(), alone.phase.severity()];
    let between = severities.iter().min()?..=severities.iter().max()?;
    let nothing_seen = (
        "with partial coverage and no related object".to_owned(),
        without(fixture, None, Coverage::Partial),
    );
    let each = (0..fixture.related.len().min(LEFT_OUT_MAX)).map(|left_out| {
        (
            format!("with partial coverage and without related[{left_out}]"),
            without(fixture, Some(left_out), Coverage::Partial),
        )
    });
    let mut variants = std::iter::once(nothing_seen).chain(each);
    variants.find_map(|(how, variant)| {
        let verdict = examiner.judge(&variant).ok()?;
        let is_possible = between.contains(&&verdict.phase.severity());
        (!is_possible).then(|| told(&how, &verdict))
    })
}

/// The fixture without one of its related objects, or without all.
fn without(fixture: &Fixture, left_out: Option<usize>, coverage: Coverage) -> Fixture {
    let related = fixture.related.iter().enumerate();
    let kept = related.filter(|(at, _)| left_out.is_some_and(|left_out| left_out != *at));
    Fixture {
        related: kept.map(|(_, object)| object.clone()).collect(),
        coverage,
        ..fixture.clone()
    }
}

fn is_bad(verdict: &Verdict) -> bool {
    matches!(
        verdict.phase,
        Phase::Degraded | Phase::Failed | Phase::Unknown
    )
}

fn told(how: &str, verdict: &Verdict) -> String {
    format!("{how}, it is {} {}", verdict.state, verdict.reason)
}
