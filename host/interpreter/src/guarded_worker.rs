//! A worker that is replaced when it panics.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use kindsight_model::{Object, Verdict, host_reason};

use crate::limits::Limits;
use crate::memo::Memo;
use crate::published::Published;
use crate::related::Siblings;
use crate::worker::{Purpose, Worker};

/// A worker that is replaced when it panics, because its instances and buffers may then be in any state.
pub(crate) struct GuardedWorker {
    limits: Limits,
    memo: Arc<Memo>,
    worker: Worker,
}

/// An object to judge, with everything that the verdict depends on.
#[derive(Clone, Copy)]
pub(crate) struct Case<'c> {
    pub(crate) purpose: Purpose,
    pub(crate) set: &'c Published,
    pub(crate) object: &'c Object,
    pub(crate) siblings: &'c Siblings,
    pub(crate) now_ms: i64,
}

impl GuardedWorker {
    /// Makes a worker without instances. They are made when they are first needed.
    pub(crate) fn new(limits: Limits, memo: Arc<Memo>) -> Self {
        Self {
            worker: Worker::new(limits.clone(), Arc::clone(&memo)),
            limits,
            memo,
        }
    }

    /// Judges one object. Always returns a verdict, within the limits.
    pub(crate) fn judge(&mut self, case: Case<'_>) -> Verdict {
        let Case {
            purpose,
            set,
            object,
            siblings,
            now_ms,
        } = case;
        let judged = catch_unwind(AssertUnwindSafe(|| {
            #[cfg(test)]
            assert_ne!(&*object.name, tests::PANICS);
            (self.worker).judge_for(purpose, set, object, siblings, now_ms)
        }));
        judged.unwrap_or_else(|_| {
            tracing::error!(object.gvk = %object.gvk, "a worker panicked and is replaced");
            let new = Worker::new(self.limits.clone(), Arc::clone(&self.memo));
            let panicked = std::mem::replace(&mut self.worker, new);
            let _ = catch_unwind(AssertUnwindSafe(|| drop(panicked)));
            lost()
        })
    }

    /// Retires instances that were not used since the last sweep.
    pub(crate) fn sweep(&mut self) {
        self.worker.sweep();
    }
}

/// The verdict on an object whose worker panicked.
pub(crate) fn lost() -> Verdict {
    let message = "the worker thread that judged it panicked; this is a bug in the host";
    Verdict::unknown(host_reason::NO_ANSWER, message)
}

#[cfg(test)]
pub(crate) mod tests {
    /// Name of an object at which a worker panics. Nothing else in the host panics.
    pub(crate) const PANICS: &str = "panics-in-this-test";
}
