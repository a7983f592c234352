//! Inputs that an interpreter failed on, judged again: a guest is pure, so what another version makes of
//! them is proof.

use std::sync::Arc;

use kindsight_model::{Object, Source};

use crate::interpreter::Interpreter;
use crate::limits::Limits;
use crate::published::{Published, SetMember};
use crate::related::Siblings;
use crate::stats::CallStats;
use crate::worker::Worker;

/// A reported object on which a call ended in a fault, with what the call was passed beside it.
#[derive(Debug, Clone)]
pub struct FailedInput {
    pub(crate) object: Object,
    /// The related objects of that call. Whole, as another version may read other fields.
    pub(crate) related: Arc<[Object]>,
    /// The time of that call, in Unix milliseconds.
    pub(crate) now_ms: i64,
}

impl FailedInput {
    /// Bytes of its objects.
    pub(crate) fn bytes(&self) -> usize {
        let objects = std::iter::once(&self.object).chain(self.related.iter());
        objects.map(|object| object.json.len()).sum()
    }
}

/// Counts the inputs that an interpreter with these settings does not judge: calls that end in a fault,
/// and objects it does not speak for. Counts nowhere else. Blocks for at most a deadline an input.
pub(crate) fn count_failures(
    limits: &Limits,
    interpreter: &Arc<Interpreter>,
    settings: Option<&Arc<str>>,
    inputs: &[FailedInput],
) -> usize {
    let member = SetMember {
        source: Source::BuiltIn,
        interpreter: Arc::clone(interpreter),
        settings: settings.map(Arc::clone),
    };
    // One member conflicts with nobody.
    let Ok(set) = Published::new(0, vec![member], &Published::default()) else {
        return inputs.len();
    };
    let stats = Arc::new(CallStats::default());
    let mut worker = Worker::isolated(limits.clone(), Arc::clone(&stats));
    let is_failure = |input: &&FailedInput| {
        let before = stats.failures();
        let siblings = Siblings::of(Arc::clone(&input.related));
        let judged = worker.judge(&set, &input.object, &siblings, input.now_ms);
        judged.by.is_none() || stats.failures() != before
    };
    inputs.iter().filter(is_failure).count()
}
