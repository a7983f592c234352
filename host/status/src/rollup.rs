//! Roll-up: folds many phases into one, where the worst wins.
//!
//! A [`Rollup`] is a commutative monoid: the result depends neither on the order of the resources nor on
//! their grouping (by cluster, by app). So a cluster is folded once after each change, and a query only
//! merges the selected roll-ups.

use std::cmp::Reverse;

use kindsight_model::{ContextStatus, Phase};

use crate::phase_counts::PhaseCounts;

/// The state of a level whose resources were all removed as requested. No phase has this name.
const TERMINATED: &str = "Terminated";

/// Desired presence of resources: decides whether the absence of one is a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Desired {
    /// They should be in the cluster.
    Present,
    /// They are being removed, or removing them failed.
    Terminating,
    /// They were removed.
    Absent,
}

impl Desired {
    /// Desired presence for the status of an `AppContext`. An unknown status counts as present.
    pub fn from_status(status: Option<&ContextStatus>) -> Self {
        match status {
            Some(ContextStatus::Terminating | ContextStatus::TerminateFailed) => Self::Terminating,
            Some(ContextStatus::Terminated) => Self::Absent,
            _ => Self::Present,
        }
    }
}

/// Phases folded together, with the place of the worst resource.
///
/// `P` is the place of a resource. Its order decides which of several equally bad resources is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rollup<P> {
    counts: PhaseCounts,
    /// The worst resource that is present or may be present.
    present: Option<Ranked<P>>,
    /// The first resource that is not present. It is separate, because its severity depends on the desired
    /// presence, which is unknown when a cluster is folded.
    missing: Option<P>,
}

/// A resource ordered by severity: greater is worse. At equal severity, the first phase and then the first
/// place is the greatest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Ranked<P> {
    severity: u8,
    phase: Reverse<Phase>,
    place: Reverse<P>,
}

impl<P> Ranked<P> {
    fn new(phase: Phase, place: P) -> Self {
        Self {
            severity: phase.severity(),
            phase: Reverse(phase),
            place: Reverse(place),
        }
    }
}

/// Result of a roll-up: the phase and state of all its resources together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RollupResult<P> {
    /// The phase's own name, or `Terminated` if all resources were removed as requested.
    pub state: &'static str,
    /// The worst phase. `Ready` and `Present` have the same severity; together they are `Ready`.
    pub phase: Phase,
    /// The place of the worst resource; `None` if every resource is well, or there is no resource.
    pub worst: Option<P>,
}

impl<P> Default for Rollup<P> {
    fn default() -> Self {
        Self {
            counts: PhaseCounts::default(),
            present: None,
            missing: None,
        }
    }
}

impl<P: Ord + Clone> Rollup<P> {
    /// Adds one resource.
    pub fn add(&mut self, phase: Phase, place: P) {
        self.counts.add(phase, 1);
        if phase == Phase::NotPresent {
            self.add_missing(place);
        } else {
            self.add_present(phase, place);
        }
    }

    /// Adds all resources of another roll-up. The order of merging does not matter. `place` converts the places, and must
    /// preserve their order.
    pub fn merge<Q>(&mut self, other: &Rollup<Q>, place: impl Fn(&Q) -> P) {
        self.counts.merge(&other.counts);
        if let Some(Ranked {
            phase, place: of, ..
        }) = &other.present
        {
            self.add_present(phase.0, place(&of.0));
        }
        if let Some(of) = &other.missing {
            self.add_missing(place(of));
        }
    }

    /// The number of resources in each phase.
    pub fn counts(&self) -> &PhaseCounts {
        &self.counts
    }

    /// Returns whether no resource was added.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Converts the places. `place` must preserve their order.
    pub fn map<Q>(self, place: impl Fn(P) -> Q) -> Rollup<Q> {
        Rollup {
            counts: self.counts,
            present: self.present.map(|worst| Ranked {
                severity: worst.severity,
                phase: worst.phase,
                place: Reverse(place(worst.place.0)),
            }),
            missing: self.missing.map(place),
        }
    }

    /// The result of the roll-up.
    ///
    /// Without any resource it is `Unknown`: `Ready` would be a false positive. If the resources should be
    /// absent, absent resources do not count, and each present resource is `Terminating` or worse.
    pub fn result(&self, desired: Desired) -> RollupResult<P> {
        match desired {
            Desired::Present => self.result_where_present(),
            Desired::Terminating | Desired::Absent => self.result_where_absent(desired),
        }
    }

    fn result_where_present(&self) -> RollupResult<P> {
        let missing = self.missing.clone();
        let missing = missing.map(|place| Ranked::new(Phase::NotPresent, place));
        match self.present.clone().max(missing) {
            None => result_of(Phase::Unknown, None),
            Some(Ranked {
                severity: 0, phase, ..
            }) => result_of(phase.0, None),
            Some(worst) => result_of(worst.phase.0, Some(worst.place.0)),
        }
    }

    fn result_where_absent(&self, desired: Desired) -> RollupResult<P> {
        let floor = Phase::Terminating;
        match (&self.present, &self.missing) {
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

    fn add_present(&mut self, phase: Phase, place: P) {
        self.present = self.present.take().max(Some(Ranked::new(phase, place)));
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
