//! Numbers of resources in each phase.

use std::collections::BTreeMap;

use kindsight_model::Phase;

/// Number of phases.
const PHASES: usize = Phase::ALL.len();

/// Number of resources in each phase. Phases are a closed set, so a merge needs no memory.
///
/// Each published change merges the counts of all placements of an application.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PhaseCounts([u32; PHASES]);

impl PhaseCounts {
    /// Adds a number of resources in a phase.
    pub(crate) fn add(&mut self, phase: Phase, more: u32) {
        if let Some(count) = self.0.get_mut(phase as usize) {
            *count = count.saturating_add(more);
        }
    }

    /// Adds all counts of other resources.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count = count.saturating_add(more);
        }
    }

    /// The phases with resources, and the number of these resources, in the order of the phases.
    pub fn iter(&self) -> impl Iterator<Item = (Phase, u32)> {
        let counts = Phase::ALL.iter().copied().zip(self.0);
        counts.filter(|(_, count)| *count > 0)
    }

    /// Returns whether there is no resource.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// The counts for an answer; phases without resources are left out.
    pub(crate) fn by_phase(&self) -> BTreeMap<Phase, u32> {
        self.iter().collect()
    }
}
