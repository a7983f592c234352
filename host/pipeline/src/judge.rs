//! The judge of reports: the engine's workers, and the set that they use.

use std::sync::Arc;

use kindsight_interpreter::{Interpreters, Published, Siblings};
use kindsight_model::{Object, Verdict};

/// The engine's workers, with a set that the pipeline chooses.
#[derive(Clone, Copy)]
pub(crate) struct Judge<'p> {
    /// The workers.
    pub(crate) interpreters: &'p Interpreters,
    /// The set.
    pub(crate) set: &'p Arc<Published>,
}

impl Judge<'_> {
    /// Judges objects of a report.
    pub(crate) fn judge_among(
        self,
        objects: &Arc<[Object]>,
        siblings: &Arc<Siblings>,
        now_ms: i64,
    ) -> Vec<Verdict> {
        self.interpreters
            .judge_among(self.set, objects, siblings, now_ms)
    }
}
