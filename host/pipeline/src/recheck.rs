//! The recheck of one report after a swap: verdicts of the new set are kept beside the published ones.

use std::sync::Arc;

use kindsight_interpreter::Siblings;
use kindsight_model::{Gvk, Object, ObjectList, Verdict};

use crate::judge::Judge;

/// Objects that can be asked whether they are affected for the price of judging one.
const LOOKUPS_PER_VERDICT: usize = 32;

/// The recheck of one report, and its progress.
pub(crate) struct Recheck {
    objects: ObjectList,
    siblings: Arc<Siblings>,
    /// Positions of the objects that may get another verdict.
    positions: Vec<usize>,
    /// The number of them that were handed to the interpreters.
    asked: usize,
    verdicts: Vec<(usize, Verdict)>,
}

impl Recheck {
    /// Finds what is affected in a report. Nothing is judged yet.
    pub(crate) fn of(
        objects: &ObjectList,
        siblings: Arc<Siblings>,
        mut is_affected: impl FnMut(&Gvk) -> bool,
    ) -> Self {
        let affected = objects.iter().enumerate();
        let affected = affected.filter(|(_, object)| is_affected(&object.gvk));
        Self {
            positions: affected.map(|(at, _)| at).collect(),
            objects: objects.clone(),
            siblings,
            asked: 0,
            verdicts: Vec::new(),
        }
    }

    /// Returns whether all affected objects were judged again.
    pub(crate) fn is_done(&self) -> bool {
        self.asked >= self.positions.len()
    }

    /// Returns whether any object was judged, so that discarding this loses work.
    pub(crate) fn is_begun(&self) -> bool {
        self.asked > 0
    }

    /// Judges the next affected objects, at most `objects_max`, among all of their report. Returns
    /// their number.
    pub(crate) fn part(&mut self, judge: Judge<'_>, objects_max: usize, now_ms: i64) -> usize {
        let rest = self.positions.iter().skip(self.asked);
        let positions: Vec<usize> = rest.take(objects_max).copied().collect();
        let objects = positions.iter().filter_map(|&at| self.objects.get(at));
        let objects: Arc<[Object]> = objects.cloned().collect();
        let verdicts = judge.judge_among(&objects, &self.siblings, now_ms);
        // Counts requests, not verdicts, so that it ends whatever the interpreters return.
        self.asked += positions.len();
        self.verdicts.extend(positions.into_iter().zip(verdicts));
        objects.len()
    }

    /// The verdicts of the new set, with their positions in the report.
    pub(crate) fn into_verdicts(self) -> Vec<(usize, Verdict)> {
        self.verdicts
    }
}

/// The work that is done in one go, before waiting events are handled.
pub(crate) struct Slice {
    objects_max: usize,
    /// In objects judged, or lookups that cost as much.
    cost: usize,
    judged: usize,
}

impl Slice {
    /// A slice of about `objects_max` objects. The last part is not divided, so a slice has less than twice as many.
    pub(crate) fn new(objects_max: usize) -> Self {
        Self {
            objects_max,
            cost: 0,
            judged: 0,
        }
    }

    /// Returns whether its limit is reached.
    pub(crate) fn is_spent(&self) -> bool {
        self.cost >= self.objects_max
    }

    /// The largest part that is judged in one piece.
    pub(crate) fn objects_max(&self) -> usize {
        self.objects_max
    }

    /// Limits it to `objects_max`, where more was granted.
    pub(crate) fn limit(&mut self, objects_max: usize) {
        self.objects_max = self.objects_max.min(objects_max);
    }

    /// The number of objects that were judged in it.
    pub(crate) fn judged(&self) -> usize {
        self.judged
    }

    /// Counts a report whose objects were asked whether they are affected.
    pub(crate) fn count_lookups(&mut self, objects: usize) {
        self.cost += objects / LOOKUPS_PER_VERDICT + 1;
    }

    /// Counts objects that were judged.
    pub(crate) fn count_judged(&mut self, objects: usize) {
        self.cost += objects;
        self.judged += objects;
    }
}
