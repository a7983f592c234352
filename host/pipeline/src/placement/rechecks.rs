//! Verdicts of a placement that are given again: by the next set, or because they are due.

use std::sync::Arc;

use kindsight_interpreter::Siblings;
use kindsight_model::{Object, Verdict};

use super::Placement;
use crate::affected::Kinds;
use crate::due::{self, Due};
use crate::judge::Judge;
use crate::recheck::{Recheck, Slice};
use crate::view_change::ViewChange;

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
        let Some(objects) = &self.reported else {
            return true;
        };
        if self.recheck.is_none() && slice.is_spent() {
            return false;
        }
        let recheck = self.recheck.get_or_insert_with(|| {
            slice.count_lookups(objects.len());
            let siblings = Siblings::beside(objects, &self.related);
            let siblings = siblings.covered(Arc::clone(&self.covered));
            Recheck::of(objects, Arc::new(siblings), |gvk| kinds.are_affected(gvk))
        });
        while !recheck.is_done() && !slice.is_spent() {
            slice.count_judged(recheck.part(goal, slice.objects_max(), now_ms));
        }
        recheck.is_done()
    }

    /// Projects the verdicts of the next set. Returns the change of the view.
    pub(crate) fn commit_recheck(&mut self, now_ms: i64) -> ViewChange {
        let recheck = self.recheck.take().map(Recheck::into_verdicts);
        let verdicts = recheck.unwrap_or_default();
        let is_other = |(at, new): &(usize, Verdict)| self.verdicts.get(*at) != Some(new);
        let is_any = verdicts.iter().any(is_other);
        let change = self.replace(verdicts);
        if is_any {
            self.due = Due::of(&self.verdicts, now_ms);
        }
        if change > ViewChange::Nothing {
            self.project(now_ms);
        }
        change
    }

    /// Replaces verdicts at positions of the last report. Returns the change of the view, which is not
    /// projected yet.
    pub(super) fn replace(
        &mut self,
        verdicts: impl IntoIterator<Item = (usize, Verdict)>,
    ) -> ViewChange {
        let mut change = ViewChange::Nothing;
        for (at, verdict) in verdicts {
            if let Some(shown) = self.verdicts.get_mut(at) {
                change = change.max(ViewChange::between(shown, &verdict));
                *shown = verdict;
            }
        }
        change
    }

    /// Discards the verdicts of the next set. Returns whether there were any.
    pub(crate) fn discard_recheck(&mut self) -> bool {
        self.recheck
            .take()
            .is_some_and(|recheck| recheck.is_begun())
    }

    /// The time of the next recheck, in Unix milliseconds.
    pub(crate) fn recheck_at_ms(&self) -> Option<i64> {
        self.due.next_ms()
    }

    /// Judges objects again that asked for it and are due, until the round is over. Returns the change of
    /// the view.
    pub(crate) fn recheck_due(
        &mut self,
        judge: Judge<'_>,
        began_ms: i64,
        clock: &dyn Fn() -> i64,
    ) -> ViewChange {
        let mut change = ViewChange::Nothing;
        let Some(objects) = self.reported.clone() else {
            return change;
        };
        let siblings = self.siblings().unwrap_or_default();
        while !due::is_over(began_ms, clock()) {
            let positions = self.due.take(began_ms);
            if positions.is_empty() {
                break;
            }
            let part = positions.iter().filter_map(|&at| objects.get(at));
            let part: Arc<[Object]> = part.cloned().collect();
            let verdicts = judge.judge_among(&part, &siblings, began_ms);
            for (&at, verdict) in positions.iter().zip(&verdicts) {
                self.due.add(at, verdict, began_ms);
            }
            change = change.max(self.replace(positions.into_iter().zip(verdicts)));
        }
        if change > ViewChange::Nothing {
            self.project(began_ms);
        }
        change
    }
}
