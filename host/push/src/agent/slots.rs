//! Coverages that the lines of an epoch name by a slot.

use std::collections::VecDeque;

use kindsight_model::Coverage;

use crate::agent::frames::Frames;
use crate::wire::{COVERAGE_SLOTS, CoverageSlot, Line};

/// The coverages that the server knows, with their slots. The last used ones are first.
#[derive(Debug, Default)]
pub(super) struct Slots(VecDeque<(usize, Coverage)>);

impl Slots {
    /// The slot of a coverage. Writes the coverage if the server does not know it.
    pub(super) fn of(&mut self, coverage: &Coverage, frames: &mut Frames) -> usize {
        let known = self.0.iter().position(|(_, known)| known == coverage);
        let entry = known.and_then(|position| self.0.remove(position));
        let entry = entry.unwrap_or_else(|| {
            let free = self.0.len();
            let mut reused = || self.0.pop_back().map_or(0, |(slot, _)| slot);
            let slot = if free < COVERAGE_SLOTS {
                free
            } else {
                reused()
            };
            frames.line(&Line::CoverageSlot(CoverageSlot::new(slot, coverage)));
            (slot, coverage.clone())
        });
        let slot = entry.0;
        self.0.push_front(entry);
        slot
    }
}
