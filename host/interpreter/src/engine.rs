//! The single wasmtime engine of a process, its linker and its clock.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use wasmtime::component::{HasSelf, Linker};
use wasmtime::{Config, WasmBacktraceDetails, WasmFeatures};

use crate::bindings::log;
use crate::instance_context::InstanceContext;
use crate::limits::{IDLE_TICK, LATE_TICK, STACK_BYTES_MAX, TICK};
use crate::priority::{take_begun, take_yielded};

/// The engine. It is created once, and clones are cheap.
///
/// Its epoch clock runs on a separate thread, which ends when the last clone is dropped. It is not
/// a task of an executor, because deadlines must be enforced even while all threads of the executor
/// are busy.
#[derive(Clone)]
pub struct Engine {
    inner: wasmtime::Engine,
    linker: Arc<Linker<InstanceContext>>,
}

impl Engine {
    /// Creates the engine and starts its epoch clock.
    ///
    /// # Errors
    /// If this machine cannot run compiled Wasm, or no thread can be started.
    pub fn new() -> wasmtime::Result<Self> {
        let inner = wasmtime::Engine::new(&config())?;
        let mut linker = Linker::new(&inner);
        log::add_to_linker::<_, HasSelf<_>>(&mut linker, |context: &mut InstanceContext| context)?;
        start_clock(&inner)?;
        Ok(Self {
            inner,
            linker: Arc::new(linker),
        })
    }

    pub(crate) fn inner(&self) -> &wasmtime::Engine {
        &self.inner
    }

    pub(crate) fn linker(&self) -> &Linker<InstanceContext> {
        &self.linker
    }
}

/// An engine that compiles for [`Engine`] and runs nothing: it has no linker and no clock.
///
/// It compiles on one thread. More threads would each use a part of the limited address space, and
/// would take processors from the workers.
pub(crate) fn compiling() -> wasmtime::Result<wasmtime::Engine> {
    let mut config = config();
    config.parallel_compilation(false);
    wasmtime::Engine::new(&config)
}

/// Enables only the features that interpreters need, because a disabled feature cannot be attacked.
///
/// Multi-memory stays enabled although no interpreter needs it directly: without it, wasmtime 48
/// panics while it compiles a component that is composed of several components.
fn config() -> Config {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .concurrency_support(false)
        // Error texts are shown to users, so they must not contain the names of a component's
        // functions.
        .wasm_backtrace_max_frames(None)
        .wasm_backtrace_details(WasmBacktraceDetails::Disable)
        .max_wasm_stack(STACK_BYTES_MAX)
        .cranelift_nan_canonicalization(true)
        .wasm_relaxed_simd(false)
        .wasm_memory64(false)
        .wasm_tail_call(false)
        .wasm_custom_page_sizes(false)
        .wasm_wide_arithmetic(false)
        .wasm_features(
            WasmFeatures::GC_TYPES
                | WasmFeatures::EXCEPTIONS
                | WasmFeatures::THREADS
                | WasmFeatures::FUNCTION_REFERENCES
                | WasmFeatures::STACK_SWITCHING,
            false,
        )
        // The registration of unwind information has a quadratic cost in the number of components
        // that are loaded and dropped.
        .native_unwind_info(false);
    config
}

fn start_clock(engine: &wasmtime::Engine) -> wasmtime::Result<()> {
    let weak = engine.weak();
    let clock = thread::Builder::new().name("epoch".to_owned());
    clock.spawn(move || {
        while let Some(engine) = weak.upgrade() {
            engine.increment_epoch();
            drop(engine);
            thread::sleep(next_tick());
        }
    })?;
    Ok(())
}

/// Time until the next tick: short while a long call runs, long while no call begins.
fn next_tick() -> Duration {
    match (take_yielded(), take_begun()) {
        (true, _) => LATE_TICK,
        (false, true) => TICK,
        (false, false) => IDLE_TICK,
    }
}
