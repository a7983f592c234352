//! Inputs on which an interpreter failed, to judge them again: a guest is pure, so the result of
//! another version on the same inputs is conclusive.

use std::sync::Arc;

use kindsight_model::{Object, Source};

use crate::interpreter::Interpreter;
use crate::limits::Limits;
use crate::published::{Published, SetMember};
use crate::related::Siblings;
use crate::stats::CallStats;
use crate::worker::Worker;

/// A reported object on which a call ended in a fault, with the other inputs of that call.
#[derive(Debug, Clone)]
pub struct FailedInput {
    pub(crate) object: Object,
    /// The related objects of that call and their coverage. The objects have all their fields,
    /// because another version may read other fields.
    pub(crate) related: Arc<Siblings>,
    /// The time of that call, in Unix milliseconds.
    pub(crate) now_ms: i64,
}

impl FailedInput {
    /// The size of its objects, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let related = self.related.objects().iter();
        let objects = std::iter::once(&self.object).chain(related);
        objects.map(|object| object.json.len()).sum()
    }
}

/// Counts the inputs that an interpreter with these settings does not judge: calls that end in a
/// fault, and objects that it does not handle. The calls do not change any statistics. Blocks for
/// at most one deadline per input.
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
    // A single member cannot conflict.
    let Ok(set) = Published::new(0, vec![member], &Published::default()) else {
        return inputs.len();
    };
    let stats = Arc::new(CallStats::default());
    let mut worker = Worker::isolated(limits.clone(), Arc::clone(&stats));
    let is_failure = |input: &&FailedInput| {
        let before = stats.failures();
        let judged = worker.judge(&set, &input.object, &input.related, input.now_ms);
        judged.by.is_none() || stats.failures() != before
    };
    inputs.iter().filter(is_failure).count()
}
