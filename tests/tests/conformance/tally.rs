//! Counts of outcomes.

use crate::outcome::Outcome;
use crate::report::Report;

/// Number of cases by outcome. A waived case counts only as waived.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    counts: [usize; Outcome::ALL.len()],
    pub(crate) waived: usize,
    pub(crate) faults: usize,
}

impl Tally {
    pub(crate) fn add(&mut self, outcome: Outcome) {
        self.counts[outcome as usize] += 1;
    }

    pub(crate) fn count(&self, outcome: Outcome) -> usize {
        self.counts[outcome as usize]
    }

    /// All cases that are not waived.
    pub(crate) fn cases(&self) -> usize {
        self.counts.iter().sum()
    }

    /// Cases with this outcome in every thousand.
    pub(crate) fn per_mille(&self, outcome: Outcome) -> usize {
        self.count(outcome) * 1000 / self.cases().max(1)
    }

    pub(crate) fn plus(mut self, other: &Self) -> Self {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
        self.waived += other.waived;
        self.faults += other.faults;
        self
    }
}

/// Cases of Kinds with a rule, and the others.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tallies {
    pub(crate) with_rule: Tally,
    pub(crate) without_rule: Tally,
}

impl Tallies {
    pub(crate) fn of(&mut self, has_rule: bool) -> &mut Tally {
        if has_rule {
            &mut self.with_rule
        } else {
            &mut self.without_rule
        }
    }

    pub(crate) fn all(&self) -> Tally {
        self.with_rule.plus(&self.without_rule)
    }

    /// All files that expect states.
    pub(crate) fn sum(reports: &[Report]) -> Self {
        let reports = reports.iter().filter(|report| report.has_expectations);
        reports.fold(Self::default(), |sum, report| Self {
            with_rule: sum.with_rule.plus(&report.tallies.with_rule),
            without_rule: sum.without_rule.plus(&report.tallies.without_rule),
        })
    }
}
