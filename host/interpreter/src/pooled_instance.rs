//! One instance of a component, with everything that bounds it.

use std::sync::Arc;
use std::time::Duration;

use kindsight_model::InterpretedBy;
use rustix::time::{ClockId, clock_gettime};
use wasmtime::{ResourceLimiter, Store, StoreContextMut, UpdateDeadline};

use crate::bindings::{Failure, Input, Plugin, PluginPre, Verdict, log};
use crate::engine::let_others_go_first;
use crate::fault::{CallLimits, Fault, MemoryRefused};
use crate::limits::{
    ANSWER_BYTES_MAX, LOAD_DEADLINE, LOG_LINE_BYTES_MAX, LOG_LINES_MAX, Limits, PARTS_MAX,
    TABLE_ELEMENTS_MAX,
};
use crate::stats::CallStats;

/// What the host keeps beside one instance.
pub(crate) struct Guest {
    by: Arc<InterpretedBy>,
    memory_bytes_max: usize,
    memory_bytes: usize,
    table_elements: usize,
    log_lines: u32,
    last_error: Option<String>,
    /// Processor time the running call may take.
    budget: Duration,
    /// This thread's processor time when the first tick of the running call passed.
    first_tick: Option<Duration>,
}

impl Guest {
    pub(crate) fn new(by: Arc<InterpretedBy>, memory_bytes_max: usize) -> Self {
        Self {
            by,
            memory_bytes_max,
            memory_bytes: 0,
            table_elements: 0,
            log_lines: 0,
            last_error: None,
            budget: LOAD_DEADLINE,
            first_tick: None,
        }
    }

    /// The last line the guest logged as an error since its call began.
    pub(crate) fn last_error(&self) -> Option<&str> {
        self.last_error.as_deref()
    }
}

/// Makes a store in which every limit is set.
pub(crate) fn store(engine: &wasmtime::Engine, guest: Guest) -> Store<Guest> {
    let mut store = Store::new(engine, guest);
    store.limiter(|guest| guest);
    store.set_hostcall_fuel(ANSWER_BYTES_MAX);
    store.epoch_deadline_callback(on_tick);
    store
}

/// Begins a call: a full budget, an empty log.
pub(crate) fn begin(store: &mut Store<Guest>, budget: Duration) {
    let guest = store.data_mut();
    guest.budget = budget;
    guest.first_tick = None;
    guest.log_lines = 0;
    guest.last_error = None;
    store.set_epoch_deadline(1);
}

/// Called at every tick while guest code runs.
///
/// Counts processor time, not time on the wall: on a busy machine a guest that the kernel has put
/// aside is not at fault. The clock is first read at the first tick, so that the many calls that end
/// before it pay nothing.
#[expect(clippy::unnecessary_wraps, reason = "the shape wasmtime asks for")]
fn on_tick(mut store: StoreContextMut<'_, Guest>) -> wasmtime::Result<UpdateDeadline> {
    let now = thread_time();
    let guest = store.data_mut();
    let start = *guest.first_tick.get_or_insert(now);
    if now.saturating_sub(start) >= guest.budget {
        return Ok(UpdateDeadline::Interrupt);
    }
    let_others_go_first();
    Ok(UpdateDeadline::Continue(1))
}

fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or_default(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    )
}

/// Sums over all memories and tables of the instance: wasmtime's own limits are for each of them.
impl ResourceLimiter for Guest {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let bytes = self
            .memory_bytes
            .saturating_add(desired.saturating_sub(current));
        if bytes > self.memory_bytes_max {
            return Err(MemoryRefused.into());
        }
        self.memory_bytes = bytes;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let elements = self
            .table_elements
            .saturating_add(desired.saturating_sub(current));
        if elements > TABLE_ELEMENTS_MAX {
            return Err(MemoryRefused.into());
        }
        self.table_elements = elements;
        Ok(true)
    }

    fn instances(&self) -> usize {
        PARTS_MAX
    }

    fn tables(&self) -> usize {
        PARTS_MAX
    }

    fn memories(&self) -> usize {
        PARTS_MAX
    }
}

impl log::Host for Guest {
    fn emit(&mut self, level: log::Level, mut message: String) {
        if self.log_lines >= LOG_LINES_MAX {
            return;
        }
        self.log_lines += 1;
        message.truncate(message.floor_char_boundary(LOG_LINE_BYTES_MAX));
        let message = message.replace(char::is_control, " ");
        let (name, digest) = (self.by.name.as_str(), self.by.digest.as_str());
        match level {
            log::Level::Debug => tracing::debug!(interpreter.name = name, digest, "{message}"),
            log::Level::Info => tracing::info!(interpreter.name = name, digest, "{message}"),
            log::Level::Warn => tracing::warn!(interpreter.name = name, digest, "{message}"),
            log::Level::Error => {
                tracing::warn!(interpreter.name = name, digest, "guest error: {message}");
                self.last_error = Some(message);
            }
        }
    }
}

/// An instance that judges one object after another, until it is retired.
pub(crate) struct Warm {
    store: Store<Guest>,
    plugin: Plugin,
    stats: Arc<CallStats>,
    calls: u32,
    /// Its calls when the last sweep came by.
    calls_swept: u32,
}

impl Warm {
    /// An instance that is counted in `stats` for as long as it is there.
    pub(crate) fn start(
        pre: &PluginPre<Guest>,
        by: Arc<InterpretedBy>,
        limits: &Limits,
        stats: Arc<CallStats>,
    ) -> Result<Self, Fault> {
        let guest = Guest::new(by, limits.memory_bytes_max);
        let mut store = store(pre.engine(), guest);
        begin(&mut store, LOAD_DEADLINE);
        let plugin = pre
            .instantiate(&mut store)
            .map_err(|error| of_call(&store, &error, LOAD_DEADLINE))?;
        stats.instance_began();
        Ok(Self {
            store,
            plugin,
            stats,
            calls: 0,
            calls_swept: 0,
        })
    }

    /// One call. After an error the instance must not be used again.
    pub(crate) fn interpret(
        &mut self,
        input: Input<'_>,
        limits: &Limits,
    ) -> Result<Result<Verdict, Failure>, Fault> {
        begin(&mut self.store, limits.call_deadline);
        self.calls += 1;
        let interpreter = self.plugin.kindsight_interpreter_interpreter();
        let answer = interpreter.call_interpret(&mut self.store, input);
        self.stats.holds(self.store.data().memory_bytes);
        answer.map_err(|error| of_call(&self.store, &error, limits.call_deadline))
    }

    /// Whether it has done enough: after its calls, or when it holds too much memory.
    pub(crate) fn is_worn(&self, limits: &Limits) -> bool {
        self.calls >= limits.calls_max
            || self.store.data().memory_bytes > limits.memory_high_water_bytes
    }

    /// Whether anything asked for it since this was last asked.
    pub(crate) fn was_used(&mut self) -> bool {
        std::mem::replace(&mut self.calls_swept, self.calls) != self.calls
    }
}

impl Drop for Warm {
    fn drop(&mut self) {
        self.stats.instance_ended();
    }
}

/// What a call, or an instantiation, ended with.
pub(crate) fn of_call(store: &Store<Guest>, error: &wasmtime::Error, deadline: Duration) -> Fault {
    let guest = store.data();
    let limits = CallLimits {
        deadline_ms: deadline.as_millis(),
        memory_bytes: guest.memory_bytes_max,
    };
    Fault::of_call(error, limits, guest.last_error())
}
