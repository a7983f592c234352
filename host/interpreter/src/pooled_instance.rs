//! One instance of a component that is used for many calls.

use std::sync::Arc;
use std::time::Duration;

use kindsight_model::InterpretedBy;
use wasmtime::Store;

use wasmtime::component::{Instance, InstancePre};

use crate::bindings::{Input, JudgeResult};
use crate::bounded_store::{begin, fault_of, go_on, store};
use crate::call_input::{CallInput, Settings};
use crate::exports::{Exports, Judge};
use crate::fault::Fault;
use crate::instance_context::InstanceContext;
use crate::limits::Limits;
use crate::stats::CallStats;

/// An instance that judges one object after another until it is retired.
pub(crate) struct PooledInstance {
    store: Store<InstanceContext>,
    judge: Judge,
    stats: Arc<CallStats>,
    calls: u32,
    /// Number of calls at the time of the last sweep.
    calls_swept: u32,
}

impl PooledInstance {
    /// Makes an instance, which counts in `stats` until it is dropped. The first call of the
    /// instance has the remaining part of this deadline.
    pub(crate) fn start(
        pre: &InstancePre<InstanceContext>,
        exports: &Exports,
        by: Arc<InterpretedBy>,
        limits: &Limits,
        stats: Arc<CallStats>,
        deadline: Duration,
    ) -> Result<Self, Fault> {
        let context = InstanceContext::new(by, Arc::clone(&stats), limits.memory_bytes_max);
        let mut store = store(pre.engine(), context);
        begin(&mut store, deadline);
        let judge = pre
            .instantiate(&mut store)
            .and_then(|instance: Instance| exports.judge(&mut store, &instance))
            .map_err(|error| fault_of(&store, &error))?;
        stats.instance_began();
        Ok(Self {
            store,
            judge,
            stats,
            calls: 0,
            calls_swept: 0,
        })
    }

    /// Makes one call within its own deadline, or within the remaining deadline of `start`. After
    /// an error, the instance must not be used again.
    pub(crate) fn judge(
        &mut self,
        input: &CallInput,
        now_ms: Option<i64>,
        settings: &Settings,
        deadline: Option<Duration>,
    ) -> Result<JudgeResult, Fault> {
        match deadline {
            Some(deadline) => begin(&mut self.store, deadline),
            None => go_on(&mut self.store),
        }
        self.calls += 1;
        let store = &mut self.store;
        let answer = match &self.judge {
            Judge::View(judge) => judge.call(&mut *store, (input.view(), now_ms)),
            Judge::Text(judge) => input.with_text(now_ms, settings, |input| {
                let judge = judge.typed::<(Input<'_>,), (JudgeResult,)>(&*store)?;
                judge.call(&mut *store, (input,))
            }),
        };
        let answer = answer.map(|(answer,)| answer);
        answer.map_err(|error| fault_of(&self.store, &error))
    }

    /// Records the size of the instance's memory.
    pub(crate) fn record_memory(&self) {
        self.stats.record_memory(self.store.data().memory_bytes());
    }

    /// Returns whether the instance must be retired: it has reached the number of calls, or it uses
    /// too much memory.
    pub(crate) fn is_worn(&self, limits: &Limits) -> bool {
        self.calls >= limits.calls_max
            || self.store.data().memory_bytes() > limits.memory_high_water_bytes
    }

    /// Returns whether the instance was called since the last call of this function.
    pub(crate) fn was_used(&mut self) -> bool {
        std::mem::replace(&mut self.calls_swept, self.calls) != self.calls
    }
}

impl Drop for PooledInstance {
    fn drop(&mut self) {
        self.stats.instance_ended();
    }
}
