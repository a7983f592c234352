//! Loads a component: from its bytes to an interpreter that may go live.
//!
//! received -> validated (imports, contract) -> compiled -> tried (instance, description, fixtures)

mod fixtures;

pub(crate) use fixtures::{
    holds as fixture_holds, listed as listed_fixtures, objects as fixture_objects, request,
    settings as fixture_settings_of, told_mismatch, widened,
};

use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_code_cache::CodeCache;
use kindsight_contract::Fixture;
use kindsight_model::{Digest, InterpretedBy, InterpreterName};
use kindsight_settings::SettingsSchema;
use wasmtime::Store;
use wasmtime::component::{Component, InstancePre, TypedFunc};

use crate::aot::{self, compatibility};
use crate::bounded_store::{begin, fault_of, store};
use crate::compile::Compiler;
use crate::describe::Description;
use crate::engine::Engine;
use crate::examination::Examination;
use crate::exports::Exports;
use crate::fault::Fault;
use crate::instance_context::InstanceContext;
use crate::interpreter::Interpreter;
use crate::limits::{LOAD_ANSWER_BYTES_MAX, LOAD_DEADLINE, Limits, START_SHARE};
use crate::load_error::LoadError;
use crate::stats::CallStats;

impl Interpreter {
    /// Loads a component. The compilation takes from about ten milliseconds up to seconds: never
    /// call it on an executor's thread.
    ///
    /// # Errors
    /// The reason of the refusal, on which its author can act. It also determines the step that
    /// refused the component.
    pub fn load(
        engine: &Engine,
        limits: &Limits,
        compiler: &Compiler,
        cache: Option<&CodeCache>,
        bytes: &[u8],
    ) -> Result<Self, LoadError> {
        let loaded = Self::load_unclean(engine, limits, compiler, cache, bytes);
        loaded.map_err(LoadError::cleaned)
    }

    fn load_unclean(
        engine: &Engine,
        limits: &Limits,
        compiler: &Compiler,
        cache: Option<&CodeCache>,
        bytes: &[u8],
    ) -> Result<Self, LoadError> {
        if bytes.len() > limits.component_bytes_max {
            return Err(LoadError::TooLarge(bytes.len(), limits.component_bytes_max));
        }
        let compiled = Compiled::of(engine, compiler, cache, bytes)?;
        let stats = Arc::<CallStats>::default();
        let tried = tried(compiled, limits, &stats);
        let dropped = stats.snapshot().log_lines_dropped;
        match tried {
            Ok(interpreter) => Ok(interpreter.with_dropped_lines(dropped)),
            Err(error) if dropped > 0 => Err(LoadError::WithDroppedLines {
                error: error.into(),
                lines: dropped,
            }),
            Err(error) => Err(error),
        }
    }
}

impl Examination {
    /// Loads a component for its author: as [`Interpreter::load`] does, without running its fixtures.
    ///
    /// # Errors
    /// The reason of the refusal.
    pub(crate) fn load(
        engine: &Engine,
        limits: &Limits,
        compiler: &Compiler,
        cache: Option<&CodeCache>,
        bytes: &[u8],
    ) -> Result<Self, LoadError> {
        let began = Instant::now();
        let examined = Compiled::of(engine, compiler, cache, bytes).and_then(|compiled| {
            let compile_time = began.elapsed();
            let (interpreter, fixtures) = described(compiled, limits, &Arc::default())?;
            let limits = limits.clone();
            Ok(Self::new(interpreter, fixtures, limits, compile_time))
        });
        examined.map_err(LoadError::cleaned)
    }
}

/// A component in machine code.
struct Compiled {
    digest: Digest,
    pre: InstancePre<InstanceContext>,
    exports: Exports,
}

impl Compiled {
    fn of(
        engine: &Engine,
        compiler: &Compiler,
        cache: Option<&CodeCache>,
        bytes: &[u8],
    ) -> Result<Self, LoadError> {
        let digest = Digest::of(bytes);
        let component = compiled(engine, compiler, cache, &digest, bytes)?;
        let pre = engine.linker().instantiate_pre(&component);
        Ok(Self {
            digest,
            pre: pre.map_err(|error| LoadError::Shapes(format!("{error:#}")))?,
            exports: Exports::of(&component).map_err(LoadError::Shapes)?,
        })
    }
}

/// Calls `describe` and `fixtures` of a compiled component, and runs the fixtures. The calls count
/// in `stats`.
fn tried(
    compiled: Compiled,
    limits: &Limits,
    stats: &Arc<CallStats>,
) -> Result<Interpreter, LoadError> {
    let (interpreter, fixtures) = described(compiled, limits, stats)?;
    fixtures::try_all(&interpreter, limits, &fixtures, stats)?;
    Ok(interpreter)
}

/// Calls `describe` and `fixtures` of a compiled component. The calls count in `stats`.
fn described(
    compiled: Compiled,
    limits: &Limits,
    stats: &Arc<CallStats>,
) -> Result<(Interpreter, Vec<Fixture>), LoadError> {
    let Compiled {
        digest,
        pre,
        exports,
    } = compiled;
    let component = LoadingComponent {
        pre: &pre,
        exports: &exports,
        digest: &digest,
        stats,
    };
    let mut description = describe(component, limits)?;
    let schema = description.settings_schema.as_deref();
    let schema = schema.map(SettingsSchema::parse).transpose();
    let schema = schema.map_err(LoadError::SettingsSchema)?;
    let fixtures = fixtures::list(component, limits, &mut description)?;
    let interpreter = Interpreter::new(digest, description, schema, pre, exports);
    Ok((interpreter, fixtures))
}

/// Starts an instance of a loaded component, and drops it.
///
/// # Errors
/// If no instance can be made.
pub(crate) fn start(interpreter: &Interpreter, limits: &Limits) -> Result<(), LoadError> {
    let component = LoadingComponent {
        pre: interpreter.pre(),
        exports: interpreter.exports(),
        digest: interpreter.digest(),
        stats: &Arc::default(),
    };
    let start = limits.call_deadline / START_SHARE;
    Instance::start(component, limits, start).map(drop)
}

/// Reads the compiled component from the cache, or compiles and caches it.
fn compiled(
    engine: &Engine,
    compiler: &Compiler,
    cache: Option<&CodeCache>,
    digest: &Digest,
    bytes: &[u8],
) -> Result<Component, LoadError> {
    let cached = cache.and_then(|cache| cache.get(digest, compatibility(engine)));
    if let Some(component) = cached.and_then(|code| aot::deserialize(engine, &code)) {
        return Ok(component);
    }
    let code = compiler.compile(engine, bytes)?;
    if let Some(cache) = cache {
        cache.put(digest, compatibility(engine), &code);
    }
    aot::deserialize(engine, &code)
        .ok_or_else(|| LoadError::Host("the compiled code is for another engine".to_owned()))
}

/// The name of a component in logs until the component has described itself.
fn unnamed(digest: &Digest) -> Arc<InterpretedBy> {
    let unnamed = InterpreterName::unnamed();
    Arc::new(InterpretedBy::new(unnamed, "", digest.clone()))
}

/// A compiled component whose description and fixtures are requested.
#[derive(Clone, Copy)]
struct LoadingComponent<'l> {
    pre: &'l InstancePre<InstanceContext>,
    exports: &'l Exports,
    digest: &'l Digest,
    /// The statistics of loading the component.
    stats: &'l Arc<CallStats>,
}

fn describe(component: LoadingComponent<'_>, limits: &Limits) -> Result<Description, LoadError> {
    let exports = component.exports;
    // A call that needs a new instance makes it within its own deadline.
    let start = limits.call_deadline / START_SHARE;
    let mut instance = Instance::start(component, limits, start)?;
    let shapes = |error: wasmtime::Error| LoadError::Shapes(format!("{error:#}"));
    let (store, made) = (&mut instance.store, &instance.made);
    exports.judge(store, made).map_err(shapes)?;
    let describe = exports.describe(store, made).map_err(shapes)?;
    let json = instance.call("describe", &describe)?;
    Description::parse(&json).map_err(LoadError::Description)
}

/// An instance for the calls that are made once, when its component is loaded.
struct Instance {
    store: Store<InstanceContext>,
    made: wasmtime::component::Instance,
}

impl Instance {
    fn start(
        component: LoadingComponent<'_>,
        limits: &Limits,
        deadline: Duration,
    ) -> Result<Self, LoadError> {
        let LoadingComponent {
            pre, digest, stats, ..
        } = component;
        let (by, stats) = (unnamed(digest), Arc::clone(stats));
        let context = InstanceContext::new(by, stats, limits.memory_bytes_max);
        let mut store = store(pre.engine(), context);
        store.set_hostcall_fuel(LOAD_ANSWER_BYTES_MAX);
        begin(&mut store, deadline);
        let made = pre.instantiate(&mut store);
        let made = made.map_err(|error| match fault_of(&store, &error) {
            Fault::InvalidAnswer(what) => LoadError::Instance(what),
            fault => LoadError::Call("start", fault),
        })?;
        Ok(Self { store, made })
    }

    fn call(
        &mut self,
        name: &'static str,
        function: &TypedFunc<(), (String,)>,
    ) -> Result<String, LoadError> {
        begin(&mut self.store, LOAD_DEADLINE);
        let answer = function.call(&mut self.store, ());
        let answer = answer.map(|(json,)| json);
        answer.map_err(|error| LoadError::Call(name, fault_of(&self.store, &error)))
    }
}
