//! Stores with all limits set, and the end of a call in them.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use wasmtime::{Store, StoreContextMut, UpdateDeadline};

use crate::fault::{CallLimits, Fault};
use crate::instance_context::InstanceContext;
use crate::limits::ANSWER_BYTES_MAX;
use crate::priority::{note_call, yield_to_queries};

/// Makes a store with all limits set.
pub(crate) fn store(engine: &wasmtime::Engine, context: InstanceContext) -> Store<InstanceContext> {
    let mut store = Store::new(engine, context);
    store.limiter(|context| context);
    store.set_hostcall_fuel(ANSWER_BYTES_MAX);
    store.epoch_deadline_callback(on_tick);
    store
}

/// Begins a call with this budget of processor time.
pub(crate) fn begin(store: &mut Store<InstanceContext>, budget: Duration) {
    note_call();
    store.data_mut().begin_call(budget);
    store.set_epoch_deadline(1);
}

/// Begins another call within the remaining budget of the previous one, which made the instance.
pub(crate) fn go_on(store: &mut Store<InstanceContext>) {
    store.set_epoch_deadline(1);
}

/// Ends or continues a call. wasmtime calls it at every epoch tick while guest code runs.
///
/// Counts processor time, not wall-clock time: on a busy machine, a guest must not fail because the
/// kernel does not schedule it. The clock is first read at the first tick, so most calls, which end
/// earlier, never read it.
#[expect(
    clippy::unnecessary_wraps,
    reason = "the signature that wasmtime requires"
)]
fn on_tick(mut store: StoreContextMut<'_, InstanceContext>) -> wasmtime::Result<UpdateDeadline> {
    if store.data_mut().is_over_budget(thread_time()) {
        return Ok(UpdateDeadline::Interrupt);
    }
    yield_to_queries();
    Ok(UpdateDeadline::Continue(1))
}

fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or_default(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    )
}

/// The fault that ended a call or an instantiation.
pub(crate) fn fault_of(store: &Store<InstanceContext>, error: &wasmtime::Error) -> Fault {
    let context = store.data();
    let limits = CallLimits {
        deadline_ms: context.budget().as_millis(),
        memory_bytes: context.memory_bytes_max(),
    };
    Fault::of_call(error, limits, context.last_error())
}
