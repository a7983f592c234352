//! The parts of a description that examples cover.

use std::collections::BTreeSet;

use kindsight_contract::{SCALED_BY_POINTER, SPEC_SOURCE_POINTER};
use kindsight_interpreter::{Examination, Examiner};
use kindsight_model::Verdict;

/// States that the SDK in Rust declares in each description, whether the rule returns them or not.
pub(crate) const IMPLIED_STATES: [&str; 3] = ["Present", "Terminating", "Unknown"];

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
        let declared_states = description.states.iter().map(|state| &*state.name);
        let declared_states = declared_states.filter(|name| !IMPLIED_STATES.contains(name));
        let declared_states: Vec<&str> = declared_states.collect();
        let declared_reasons = description.reasons.iter();
        let declared_reasons: Vec<&str> = declared_reasons.map(|reason| &*reason.name).collect();
        Self {
            states: Covered::by(&declared_states, &states.collect()),
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
                let (whole, without) = (
                    examiner.judge(fixture),
                    examiner.judge_without(fixture, &pointer),
                );
                match (whole, without) {
                    (Ok(one), Ok(other)) => {
                        (&one.state, &one.reason, &one.message, one.since_ms)
                            != (&other.state, &other.reason, &other.message, other.since_ms)
                    }
                    (Err(_), Err(_)) => false,
                    _ => true,
                }
            });
            if !matters {
                covered.missing.push(format!("{}: {pointer}", kind.pattern));
            }
        }
    }
    covered
}
