//! The pool of instances of one thread.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use crate::accept::accept;
use crate::call_input::{CallInput, Settings};
use crate::fault::Fault;
use crate::interpreter::Interpreter;
use crate::limits::{Isolation, Limits};
use crate::memo::Answer;
use crate::pooled_instance::PooledInstance;
use crate::stats::CallStats;
use crate::worker::Purpose;

/// A component with its settings, as one thread calls it.
#[derive(Clone, Copy)]
pub(crate) struct Callee<'c> {
    /// The identifier of the component with its settings.
    pub(crate) scope: u128,
    /// The component.
    pub(crate) interpreter: &'c Interpreter,
    /// Its settings.
    pub(crate) settings: &'c Settings,
    /// Statistics that count its instances.
    pub(crate) stats: &'c Arc<CallStats>,
    /// The purpose of the call.
    pub(crate) purpose: Purpose,
}

/// The pooled instances of one thread: at most one for each component with its settings.
pub(crate) struct InstancePool {
    limits: Limits,
    instances: HashMap<u128, PooledInstance, foldhash::quality::RandomState>,
}

impl InstancePool {
    /// Makes an empty pool. Instances are made when they are first needed.
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            instances: HashMap::default(),
        }
    }

    /// Calls a component. An instance whose call ended in a fault is not used again.
    pub(crate) fn call(
        &mut self,
        callee: Callee<'_>,
        input: &CallInput,
        now_ms: Option<i64>,
    ) -> Result<Answer, Fault> {
        let interpreter = callee.interpreter;
        let bytes = input.key(interpreter.exports().encoding()).len();
        let deadline = self.limits.deadline_of(bytes);
        let is_fresh = !self.instances.contains_key(&callee.scope);
        let instance = match self.instances.entry(callee.scope) {
            Entry::Occupied(instance) => instance.into_mut(),
            Entry::Vacant(entry) => {
                let (by, stats) = (Arc::clone(interpreter.by()), Arc::clone(callee.stats));
                let (pre, exports) = (interpreter.pre(), interpreter.exports());
                let instance =
                    PooledInstance::start(pre, exports, by, &self.limits, stats, deadline)?;
                entry.insert(instance)
            }
        };
        let deadline = (!is_fresh).then_some(deadline);
        let answer = instance
            .judge(input, now_ms, callee.settings, deadline)
            .and_then(|answer| accept(interpreter, now_ms, answer));
        if callee.purpose == Purpose::Reported {
            instance.record_memory();
        }
        let is_kept = self.limits.isolation == Isolation::Pooled && !instance.is_worn(&self.limits);
        if answer.is_err() || !is_kept {
            self.instances.remove(&callee.scope);
        }
        answer
    }

    /// Retires the instances whose scope is no longer live.
    pub(crate) fn retain(&mut self, is_live: impl Fn(u128) -> bool) {
        self.instances.retain(|scope, _| is_live(*scope));
    }

    /// Retires the instances that were not used since the last sweep.
    pub(crate) fn sweep(&mut self) {
        self.instances.retain(|_, instance| instance.was_used());
    }
}
