//! Folds many phases into one: the worst wins.
//!
//! A [`Rollup`] is a commutative monoid: however the resources are ordered and however they are
//! grouped on the way (by cluster, by app), the result is the same. So each cluster is folded once
//! when it changes, and a query only merges what it selects.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use kindsight_model::{ContextStatus, Phase};

/// The state of a level that is gone as asked. No phase has this name.
const TERMINATED: &str = "Terminated";

/// The desired presence of resources: decides whether one that is not there is missing or gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Desired {
    /// They should be there.
    Present,
    /// They are being taken away, or that failed.
    Terminating,
    /// They were taken away.
    Absent,
}

impl Desired {
    /// From the status of an `AppContext`. A word of another orchestrator counts as present.
    pub fn from_status(status: Option<&ContextStatus>) -> Self {
        match status {
            Some(ContextStatus::Terminating | ContextStatus::TerminateFailed) => Self::Terminating,
            Some(ContextStatus::Terminated) => Self::Absent,
            _ => Self::Present,
        }
    }
}

/// Phases folded together, with the place of the worst.
///
/// `P` says where a resource stands; its order decides which of several equally bad ones is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rollup<P> {
    counts: BTreeMap<Phase, u32>,
    /// The worst of what is there, or of which nobody can say whether it is.
    there: Option<Ranked<P>>,
    /// The first of what is not there. Kept apart, because whether that is bad depends on what was
    /// desired, and that is not known when a cluster is folded.
    missing: Option<P>,
}

/// Greater is worse; among equally bad ones the best word, then the first place is the greatest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Ranked<P> {
    severity: u8,
    phase: Reverse<Phase>,
    place: Reverse<P>,
}

/// The phase and state of a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RollupResult<P> {
    /// The phase's own name, or `Terminated` when all of it is gone as asked.
    pub state: &'static str,
    /// The worst phase. `Ready` and `Present` weigh the same; together they are `Ready`.
    pub phase: Phase,
    /// Which resource made it so; none when nothing is wrong, or nothing is there to name.
    pub worst: Option<P>,
}

impl<P> Default for Rollup<P> {
    fn default() -> Self {
        Self {
            counts: BTreeMap::new(),
            there: None,
            missing: None,
        }
    }
}

impl<P: Ord + Clone> Rollup<P> {
    /// Adds one resource.
    pub fn add(&mut self, phase: Phase, place: P) {
        let count = self.counts.entry(phase).or_default();
        *count = count.saturating_add(1);
        if phase == Phase::NotPresent {
            self.add_missing(place);
        } else {
            self.add_there(phase, place);
        }
    }

    /// Adds all of another roll-up. The order in which roll-ups are merged does not matter.
    pub fn merge(&mut self, other: Self) {
        for (phase, more) in other.counts {
            let count = self.counts.entry(phase).or_default();
            *count = count.saturating_add(more);
        }
        if let Some(Ranked { phase, place, .. }) = other.there {
            self.add_there(phase.0, place.0);
        }
        if let Some(place) = other.missing {
            self.add_missing(place);
        }
    }

    /// The number of resources in each phase; phases without any are left out.
    pub fn counts(&self) -> &BTreeMap<Phase, u32> {
        &self.counts
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The same with places of another sort. `place` has to keep their order.
    pub fn map<Q: Ord + Clone>(&self, place: impl Fn(&P) -> Q) -> Rollup<Q> {
        Rollup {
            counts: self.counts.clone(),
            there: self.there.as_ref().map(|worst| Ranked {
                severity: worst.severity,
                phase: worst.phase,
                place: Reverse(place(&worst.place.0)),
            }),
            missing: self.missing.as_ref().map(place),
        }
    }

    /// The result of the fold.
    ///
    /// Nothing at all is `Unknown`: a `Ready` of nothing would be a wrong green. Where the resources
    /// are to go, those that are not there count as done, and those still there are at best
    /// `Terminating`, however well they do.
    pub fn result(&self, desired: Desired) -> RollupResult<P> {
        match desired {
            Desired::Present => self.result_where_present(),
            Desired::Terminating | Desired::Absent => self.result_where_absent(desired),
        }
    }

    fn result_where_present(&self) -> RollupResult<P> {
        let mut rest = self.clone();
        if let Some(place) = rest.missing.take() {
            rest.add_there(Phase::NotPresent, place);
        }
        match rest.there {
            None => result_of(Phase::Unknown, None),
            Some(Ranked {
                severity: 0, phase, ..
            }) => result_of(phase.0, None),
            Some(worst) => result_of(worst.phase.0, Some(worst.place.0)),
        }
    }

    fn result_where_absent(&self, desired: Desired) -> RollupResult<P> {
        let floor = Phase::Terminating;
        match (&self.there, &self.missing) {
            (Some(worst), _) if worst.severity < floor.severity() => {
                result_of(floor, Some(worst.place.0.clone()))
            }
            (Some(worst), _) => result_of(worst.phase.0, Some(worst.place.0.clone())),
            (None, Some(_)) if desired == Desired::Absent => RollupResult {
                state: TERMINATED,
                phase: Phase::NotPresent,
                worst: None,
            },
            (None, Some(_)) => result_of(floor, None),
            (None, None) => result_of(Phase::Unknown, None),
        }
    }

    fn add_there(&mut self, phase: Phase, place: P) {
        let ranked = Ranked {
            severity: phase.severity(),
            phase: Reverse(phase),
            place: Reverse(place),
        };
        self.there = self.there.take().max(Some(ranked));
    }

    fn add_missing(&mut self, place: P) {
        self.missing = Some(match self.missing.take() {
            Some(first) => first.min(place),
            None => place,
        });
    }
}

fn result_of<P>(phase: Phase, worst: Option<P>) -> RollupResult<P> {
    RollupResult {
        state: phase.state(),
        phase,
        worst,
    }
}

#[cfg(test)]
mod tests;
