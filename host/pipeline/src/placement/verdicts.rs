//! Verdicts of a placement on the objects of its report, and the verdicts that are given again: by the next set
//! of interpreters, or because they are due.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_model::{Object, Verdict};

use super::Placement;
use super::held_report::HeldReport;
use crate::affected::Kinds;
use crate::due::{self, Due};
use crate::judge::Judge;
use crate::recheck::{Recheck, Slice};
use crate::view_change::ViewChange;

/// The verdicts on the objects of a report, in its order.
#[derive(Default)]
pub(super) struct Verdicts {
    all: Vec<Verdict>,
    due: Due,
    /// The recheck of the report by the next set; none before it begins.
    recheck: Option<Recheck>,
}

impl Verdicts {
    /// These verdicts, without a time for a recheck.
    #[cfg(test)]
    pub(super) fn of(all: Vec<Verdict>) -> Self {
        Self {
            all,
            ..Self::default()
        }
    }

    pub(super) fn all(&self) -> Vec<Verdict> {
        self.all.clone()
    }

    /// The time of the next recheck, in Unix milliseconds.
    pub(super) fn due_ms(&self) -> Option<i64> {
        self.due.next_ms()
    }

    /// The verdict on the object at a position.
    pub(super) fn get(&self, at: usize) -> Option<&Verdict> {
        self.all.get(at)
    }

    /// Judges every object of a report.
    pub(super) fn judge(&mut self, report: &HeldReport, judge: Judge<'_>, now_ms: i64) {
        let objects: Arc<[Object]> = report.inputs().iter().cloned().collect();
        self.all = judge.judge_among(&objects, report.siblings(), now_ms);
        self.due = Due::of(&self.all, now_ms);
    }

    /// Judges the objects at these positions.
    pub(super) fn judge_at(
        &mut self,
        positions: &BTreeSet<usize>,
        report: &HeldReport,
        judge: Judge<'_>,
        now_ms: i64,
    ) {
        let part = positions.iter().filter_map(|&at| report.inputs().get(at));
        let part: Arc<[Object]> = part.cloned().collect();
        let verdicts = judge.judge_among(&part, report.siblings(), now_ms);
        for (&at, verdict) in positions.iter().zip(verdicts) {
            self.due.set(at, &verdict, now_ms);
            if let Some(known) = self.all.get_mut(at) {
                *known = verdict;
            }
        }
    }

    /// Discards the verdicts of the next set. Returns whether there were any.
    pub(super) fn discard_recheck(&mut self) -> bool {
        let recheck = self.recheck.take();
        recheck.is_some_and(|recheck| recheck.is_begun())
    }

    /// Replaces verdicts at positions of the report. Returns the change of the view.
    pub(super) fn replace(
        &mut self,
        verdicts: impl IntoIterator<Item = (usize, Verdict)>,
    ) -> ViewChange {
        let mut change = ViewChange::Nothing;
        for (at, verdict) in verdicts {
            if let Some(shown) = self.all.get_mut(at) {
                change = change.max(ViewChange::between(shown, &verdict));
                *shown = verdict;
            }
        }
        change
    }

    /// Replaces the verdicts that the recheck changed. Returns the change of the view.
    fn commit_recheck(&mut self, now_ms: i64) -> ViewChange {
        let recheck = self.recheck.take().map(Recheck::into_verdicts);
        let verdicts = recheck.unwrap_or_default();
        let is_other = |(at, new): &(usize, Verdict)| self.all.get(*at) != Some(new);
        let is_any = verdicts.iter().any(is_other);
        let change = self.replace(verdicts);
        if is_any {
            self.due = Due::of(&self.all, now_ms);
        }
        change
    }

    /// Judges the objects again that are due, until the round is over. Returns the change of the view.
    fn judge_due(
        &mut self,
        report: &HeldReport,
        judge: Judge<'_>,
        began_ms: i64,
        clock: &dyn Fn() -> i64,
    ) -> ViewChange {
        let mut change = ViewChange::Nothing;
        let siblings = report.siblings();
        while !due::is_over(began_ms, clock()) {
            let positions = self.due.take(began_ms);
            if positions.is_empty() {
                break;
            }
            let part = positions.iter().filter_map(|&at| report.inputs().get(at));
            let part: Arc<[Object]> = part.cloned().collect();
            let verdicts = judge.judge_among(&part, siblings, began_ms);
            for (&at, verdict) in positions.iter().zip(&verdicts) {
                self.due.set(at, verdict, began_ms);
            }
            change = change.max(self.replace(positions.into_iter().zip(verdicts)));
        }
        change
    }
}

impl Placement {
    /// Judges the objects affected by the next set, as far as the slice allows. The view stays. Returns
    /// whether all of them were judged.
    pub(crate) fn recheck(
        &mut self,
        goal: Judge<'_>,
        kinds: &mut Kinds<'_>,
        slice: &mut Slice,
        now_ms: i64,
    ) -> bool {
        let Some(report) = &self.report else {
            return true;
        };
        if self.verdicts.recheck.is_none() && slice.is_spent() {
            return false;
        }
        let recheck = self.verdicts.recheck.get_or_insert_with(|| {
            slice.count_lookups(report.objects.len());
            let is_affected = |gvk: &_| kinds.are_affected(gvk);
            Recheck::of(report.inputs(), Arc::clone(report.siblings()), is_affected)
        });
        while !recheck.is_done() && !slice.is_spent() {
            slice.count_judged(recheck.part(goal, slice.objects_max(), now_ms));
        }
        recheck.is_done()
    }

    /// Projects the verdicts of the next set. Returns the change of the view.
    pub(crate) fn commit_recheck(&mut self, now_ms: i64) -> ViewChange {
        let change = self.verdicts.commit_recheck(now_ms);
        self.show(change, now_ms)
    }

    /// Discards the verdicts of the next set.
    pub(crate) fn discard_recheck(&mut self) {
        self.verdicts.discard_recheck();
    }

    /// The time of the next recheck, in Unix milliseconds.
    pub(crate) fn recheck_at_ms(&self) -> Option<i64> {
        self.verdicts.due_ms()
    }

    /// Judges objects again that asked for it and are due, until the round is over. Returns the change of
    /// the view.
    pub(crate) fn recheck_due(
        &mut self,
        judge: Judge<'_>,
        began_ms: i64,
        clock: &dyn Fn() -> i64,
    ) -> ViewChange {
        let Some(report) = &self.report else {
            return ViewChange::Nothing;
        };
        let change = self.verdicts.judge_due(report, judge, began_ms, clock);
        self.show(change, began_ms)
    }

    fn show(&mut self, change: ViewChange, now_ms: i64) -> ViewChange {
        if change > ViewChange::Nothing {
            self.project(now_ms);
        }
        change
    }
}
