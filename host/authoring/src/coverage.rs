//! The parts of a description that examples cover.

use std::collections::BTreeSet;

use kindsight_contract::phase::ADDED_STATES;
use kindsight_contract::{SCALED_BY_POINTER, SPEC_SOURCE_POINTER};
use kindsight_interpreter::{Description, Examination, Examiner, TrialError};
use kindsight_model::Verdict;

/// States that need no example. Few fixtures show a deletion, and the SDK in Rust declares these states in each
/// description.
const IMPLIED_STATES: [&str; 3] = ["Present", "Terminating", "Unknown"];

/// The covered parts of one sort.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Covered {
    /// Number of all parts.
    pub all: usize,
    /// The parts that no example covers, in the order of the description.
    pub missing: Vec<String>,
}

/// The parts of a description that examples cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// States that a verdict has.
    pub states: Covered,
    /// Declared reasons that a verdict has.
    pub reasons: Covered,
    /// Fields of the objects without which the verdict on a fixture would differ.
    pub fields: Covered,
}

impl Coverage {
    pub(crate) fn of(
        examination: &Examination,
        examiner: &mut Examiner<'_>,
        verdicts: &[Verdict],
    ) -> Self {
        let description = examination.interpreter().description();
        let states = verdicts.iter().map(|verdict| &*verdict.state);
        let reasons = verdicts.iter().map(|verdict| &*verdict.reason);
        let declared_reasons = description.reasons.iter();
        let declared_reasons: Vec<&str> = declared_reasons.map(|reason| &*reason.name).collect();
        Self {
            states: Covered::by(&own_states(description), &states.collect()),
            reasons: Covered::by(&declared_reasons, &reasons.collect()),
            fields: fields(examination, examiner),
        }
    }
}

impl Covered {
    fn by(declared: &[&str], seen: &BTreeSet<&str>) -> Self {
        let missing = declared.iter().filter(|name| !seen.contains(**name));
        Self {
            all: declared.len(),
            missing: missing.map(ToString::to_string).collect(),
        }
    }

    /// Number of the covered parts.
    pub fn count(&self) -> usize {
        self.all.saturating_sub(self.missing.len())
    }
}

/// The states of a description that need an example: the states that its author declares, except [`IMPLIED_STATES`].
///
/// The SDK in Rust adds [`ADDED_STATES`] to each description, whether the rule returns them or not. It adds the states
/// that the author does not declare after the others, in a fixed order. So the states at the end that are in this order
/// include every added state.
pub(crate) fn own_states(description: &Description) -> Vec<&str> {
    let states = description.states.iter();
    let mut names: Vec<&str> = states.map(|state| &*state.name).collect();
    if ADDED_STATES.iter().all(|added| names.contains(added)) {
        let mut later = ADDED_STATES.len();
        let at_end = names.iter().rev().take_while(|name| {
            let position = ADDED_STATES.iter().position(|added| added == *name);
            let is_before = position.is_some_and(|position| position < later);
            later = position.unwrap_or(later);
            is_before
        });
        let at_end = at_end.count();
        names.truncate(names.len().saturating_sub(at_end));
    }
    names.retain(|name| !IMPLIED_STATES.contains(name));
    names
}

/// The fields that matter to a fixture.
fn fields(examination: &Examination, examiner: &mut Examiner<'_>) -> Covered {
    // The host always passes the first two, and the SDK declares the others for each Kind with a spec.
    let implied = [
        "/apiVersion",
        "/kind",
        SPEC_SOURCE_POINTER,
        SCALED_BY_POINTER,
    ];
    let mut covered = Covered {
        all: 0,
        missing: Vec::new(),
    };
    for kind in &examination.interpreter().description().kinds {
        let pointers = kind.fields.pointers().into_iter();
        for pointer in pointers.filter(|pointer| !implied.contains(&pointer.as_str())) {
            covered.all += 1;
            let mut fixtures = examination.fixtures().iter();
            let matters = fixtures.any(|fixture| {
                let whole = examiner.judge(fixture);
                differs(&whole, &examiner.judge_without(fixture, &pointer))
            });
            if !matters {
                covered.missing.push(format!("{}: {pointer}", kind.pattern));
            }
        }
    }
    covered
}

/// Returns whether two answers of one component differ, in a verdict or in a failure.
fn differs(one: &Result<Verdict, TrialError>, other: &Result<Verdict, TrialError>) -> bool {
    match (one, other) {
        (Ok(one), Ok(other)) => one != other,
        (Err(one), Err(other)) => one.to_string() != other.to_string(),
        _ => true,
    }
}
