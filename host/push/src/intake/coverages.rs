//! The coverages of an epoch: the coverages in slots, and coverages that left their slot but that a report still has.
//!
//! A report keeps its coverage after the slot has another one, so each report can have a coverage of its own. So the
//! coverages count as long as a slot or a report has them. Equal coverages share their rows, and count once.

use std::collections::HashMap;
use std::sync::Arc;

use kindsight_api::push::PushRefusal;
use kindsight_model::Coverage;

use super::held_report::text;
use crate::wire::{COVERAGE_SLOTS, CoverageSlot, CoverageState};

/// Maximum number of rows of a coverage. An agent watches 2,000 Kinds at most, each with one row.
pub const COVERAGE_ROWS_MAX: usize = 20_000;
/// Maximum memory of the coverages of one pushed cluster, in bytes, as estimated: twice the memory limit of an agent, which
/// has each coverage in its memory too.
pub const COVERAGE_BYTES_MAX: usize = 512 * 1024 * 1024;

/// Memory of a row without its texts, and of a coverage without rows, in bytes, as estimated.
const ROW_BYTES: usize = 1024;

/// The coverages of an epoch.
#[derive(Debug, Default)]
pub(super) struct Coverages {
    slots: [Option<Arc<Coverage>>; COVERAGE_SLOTS],
    /// All coverages with their bytes. The coverages that the current body made remain until its end, because its events
    /// have them.
    known: HashMap<Arc<Coverage>, usize>,
    /// The bytes of all coverages.
    bytes: usize,
}

impl Coverages {
    /// Replaces the coverage of a slot.
    ///
    /// # Errors
    /// The slot does not exist, or the coverages are over a limit.
    pub(super) fn set(&mut self, line: CoverageSlot) -> Result<(), PushRefusal> {
        // Before the rows take memory.
        check_rows(line.rows.len())?;
        let number = line.slot;
        let coverage = self.share(Coverage::from(cleaned(line)))?;
        let slot = self.slots.get_mut(number).ok_or_else(|| {
            let why = format!("there are {COVERAGE_SLOTS} slots of coverages, from 0");
            PushRefusal::Invalid(why)
        })?;
        *slot = Some(coverage);
        Ok(())
    }

    /// The coverage of a slot.
    ///
    /// # Errors
    /// The slot has no coverage.
    pub(super) fn of_slot(&self, slot: usize) -> Result<Arc<Coverage>, PushRefusal> {
        let coverage = self.slots.get(slot).cloned().flatten();
        coverage.ok_or_else(|| PushRefusal::Invalid(format!("slot {slot} has no coverage")))
    }

    /// The same coverage, with the rows of an equal coverage that the epoch already has.
    ///
    /// # Errors
    /// The coverages are over a limit.
    pub(super) fn share(&mut self, coverage: Coverage) -> Result<Arc<Coverage>, PushRefusal> {
        if let Some((known, _)) = self.known.get_key_value(&coverage) {
            return Ok(Arc::clone(known));
        }
        check_rows(coverage.rows().count())?;
        let bytes = bytes_of(&coverage);
        self.bytes += bytes;
        if self.bytes > COVERAGE_BYTES_MAX {
            let why = format!(
                "the coverages of the cluster take more than {COVERAGE_BYTES_MAX} bytes of memory; report fewer Kinds, or restart the agent"
            );
            return Err(PushRefusal::TooLarge(why));
        }
        let shared = Arc::new(coverage);
        self.known.insert(Arc::clone(&shared), bytes);
        Ok(shared)
    }

    /// Forgets the coverages that neither a slot nor a report has. Called at the end of a body.
    pub(super) fn end_body(&mut self) {
        self.known
            .retain(|coverage, _| Arc::strong_count(coverage) > 1);
        self.bytes = self.known.values().sum();
    }
}

fn check_rows(rows: usize) -> Result<(), PushRefusal> {
    if rows > COVERAGE_ROWS_MAX {
        let why = format!("a coverage has more than {COVERAGE_ROWS_MAX} rows; report fewer Kinds");
        return Err(PushRefusal::TooLarge(why));
    }
    Ok(())
}

fn bytes_of(coverage: &Coverage) -> usize {
    let rows = coverage.rows().map(|row| {
        let cause = row.coverage.cause.as_deref();
        let texts = [row.group, row.kind, row.namespace, cause];
        let texts = texts.into_iter().flatten().map(str::len);
        ROW_BYTES + texts.sum::<usize>()
    });
    ROW_BYTES + rows.sum::<usize>()
}

/// The same line with harmless texts of limited length.
fn cleaned(line: CoverageSlot) -> CoverageSlot {
    let rows = line.rows.into_iter().map(|row| CoverageState {
        group: text(&row.group),
        kind: row.kind.as_deref().map(text),
        namespace: row.namespace.as_deref().map(text),
        cause: row.cause.as_deref().map(text),
        ..row
    });
    CoverageSlot {
        rows: rows.collect(),
        left_out: line.left_out.as_deref().map(text),
        ..line
    }
}

#[cfg(test)]
mod tests {
    use kindsight_model::{KindCoverage, KindState, Scope};

    use super::*;

    /// A line for a slot, with one row for each of these Kinds.
    fn line(slot: usize, kinds: impl IntoIterator<Item = String>) -> CoverageSlot {
        let mut coverage = Coverage::nothing();
        for kind in kinds {
            let complete = KindCoverage::new(KindState::Complete);
            coverage.set("", &kind, Scope::Cluster, complete);
        }
        CoverageSlot::new(slot, &coverage)
    }

    fn of(kind: &str) -> [String; 1] {
        [kind.to_owned()]
    }

    #[test]
    fn equal_coverages_share_their_rows_and_count_once() {
        let mut coverages = Coverages::default();
        coverages.set(line(0, of("Pod"))).unwrap();
        let bytes = coverages.bytes;
        for _ in 0..10 {
            coverages.set(line(1, of("Pod"))).unwrap();
        }
        let first = coverages.of_slot(0).unwrap();
        assert!(Arc::ptr_eq(&first, &coverages.of_slot(1).unwrap()));
        let worst = coverages.share(first.worst_of(&first)).unwrap();
        assert!(Arc::ptr_eq(&first, &worst));
        assert_eq!(coverages.bytes, bytes);
    }

    #[test]
    fn a_coverage_counts_until_no_report_has_it_and_the_body_has_ended() {
        let mut coverages = Coverages::default();
        coverages.set(line(0, of("Pod"))).unwrap();
        let one = coverages.bytes;
        let of_report = coverages.of_slot(0).unwrap();
        coverages.set(line(0, of("Job"))).unwrap();
        coverages.end_body();
        assert_eq!(coverages.bytes, 2 * one);
        drop(of_report);
        assert_eq!(coverages.bytes, 2 * one);
        coverages.end_body();
        assert_eq!(coverages.bytes, one);
    }

    #[test]
    fn the_rows_and_the_memory_of_coverages_are_limited() {
        let kinds = |prefix: &str, count: usize| -> Vec<String> {
            (0..count).map(|at| format!("{prefix}{at}")).collect()
        };
        let is_refused =
            |taken: Result<(), PushRefusal>| matches!(taken, Err(PushRefusal::TooLarge(_)));
        let mut coverages = Coverages::default();
        let many = line(0, kinds("A", COVERAGE_ROWS_MAX + 1));
        assert!(is_refused(coverages.set(many)));
        assert_eq!(coverages.bytes, 0);
        // The merged coverage has the rows of both.
        let half = COVERAGE_ROWS_MAX / 2 + 1;
        coverages.set(line(0, kinds("A", half))).unwrap();
        coverages.set(line(1, kinds("B", half))).unwrap();
        let (first, second) = (coverages.of_slot(0).unwrap(), coverages.of_slot(1).unwrap());
        let merged = coverages.share(first.worst_of(&second));
        assert!(is_refused(merged.map(|_| ())));
        coverages.bytes = COVERAGE_BYTES_MAX;
        assert_eq!(coverages.set(line(2, kinds("B", half))), Ok(()));
        assert!(is_refused(coverages.set(line(2, of("C")))));
    }
}
