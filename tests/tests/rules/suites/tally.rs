//! Counts of answers to cases.

use kindsight_model::{Phase, Verdict};

use super::cases::Case;
use super::words::allowed;

/// The outcome of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The word allows the state.
    Exact,
    /// The verdict is ready, and the word is not.
    WrongGreen,
    /// The verdict is failed, and the word is not.
    WrongRed,
    /// Another state.
    Other,
}

impl Outcome {
    pub(super) fn of(case: &Case, verdict: &Verdict) -> Self {
        match verdict.phase {
            _ if allowed(&case.suite, &case.word).contains(&&*verdict.state) => Self::Exact,
            Phase::Ready => Self::WrongGreen,
            Phase::Failed => Self::WrongRed,
            _ => Self::Other,
        }
    }
}

/// The outcomes of a group of cases.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Tally {
    pub(super) cases: usize,
    pub(super) exact: usize,
    pub(super) wrong_green: usize,
    pub(super) wrong_red: usize,
    pub(super) other: usize,
}

impl Tally {
    pub(super) fn of(outcomes: impl IntoIterator<Item = Outcome>) -> Self {
        let mut tally = Self::default();
        for outcome in outcomes {
            tally.cases += 1;
            *match outcome {
                Outcome::Exact => &mut tally.exact,
                Outcome::WrongGreen => &mut tally.wrong_green,
                Outcome::WrongRed => &mut tally.wrong_red,
                Outcome::Other => &mut tally.other,
            } += 1;
        }
        tally
    }

    /// The row of a table.
    pub(super) fn row(self, name: &str) -> String {
        let percent = |count: usize| format!("{count} ({} %)", tenths(count, self.cases));
        format!(
            "| {name} | {} | {} | {} | {} | {} |\n",
            self.cases,
            percent(self.exact),
            percent(self.wrong_green),
            percent(self.wrong_red),
            percent(self.other)
        )
    }
}

/// A percentage with one digit.
fn tenths(count: usize, of: usize) -> String {
    let tenths = (count * 1000 + of / 2) / of.max(1);
    format!("{}.{}", tenths / 10, tenths % 10)
}
