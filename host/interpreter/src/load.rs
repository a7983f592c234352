//! Loads a component: from bytes to an interpreter that may go live.
//!
//! received -> validated (imports, contract) -> compiled -> tried (instance, description, fixtures)

mod fixtures;

use std::sync::Arc;

use kindsight_code_cache::CodeCache;
use kindsight_model::{Digest, InterpretedBy, InterpreterName};
use wasmtime::component::{Component, InstancePre};

use crate::aot::{self, compatibility};
use crate::bounded_store::{begin, fault_of, store};
use crate::compile::Compiler;
use crate::describe::Description;
use crate::engine::Engine;
use crate::exports::Exports;
use crate::fault::Fault;
use crate::instance_context::InstanceContext;
use crate::interpreter::Interpreter;
use crate::limits::{LOAD_ANSWER_BYTES_MAX, LOAD_DEADLINE, Limits, START_SHARE};
use crate::load_error::LoadError;

impl Interpreter {
    /// Loads a component. Compiling takes some ten milliseconds to seconds: never call it on an
    /// executor's thread.
    ///
    /// # Errors
    /// The reason of the refusal, which its author can act on, and by it the step that refused.
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
        let digest = Digest::of(bytes);
        let component = compiled(engine, compiler, cache, &digest, bytes)?;
        let pre = engine
            .linker()
            .instantiate_pre(&component)
            .map_err(|error| LoadError::Shapes(format!("{error:#}")))?;
        let exports = Exports::of(&component).map_err(LoadError::Shapes)?;
        let description = describe(&pre, &exports, &digest, limits)?;
        let interpreter = Self::new(digest, description, pre, exports);
        fixtures::try_all(&interpreter, limits)?;
        Ok(interpreter)
    }
}

/// Takes the compiled component from the cache, or compiles and caches it.
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

/// The name of a component in logs until it has described itself.
fn unnamed(digest: &Digest) -> Arc<InterpretedBy> {
    Arc::new(InterpretedBy {
        name: InterpreterName::unnamed(),
        version: "".into(),
        digest: digest.clone(),
    })
}

fn describe(
    pre: &InstancePre<InstanceContext>,
    exports: &Exports,
    digest: &Digest,
    limits: &Limits,
) -> Result<Description, LoadError> {
    let mut store = store(
        pre.engine(),
        InstanceContext::new(unnamed(digest), Arc::default(), limits.memory_bytes_max),
    );
    store.set_hostcall_fuel(LOAD_ANSWER_BYTES_MAX);
    // A call that has to make an instance first pays for it out of its own deadline.
    begin(&mut store, limits.call_deadline / START_SHARE);
    let instance = pre.instantiate(&mut store);
    let instance = instance.map_err(|error| match fault_of(&store, &error) {
        Fault::InvalidAnswer(what) => LoadError::Instance(what),
        fault => LoadError::Call("start", fault),
    })?;
    let describe = exports
        .judge(&mut store, &instance)
        .and_then(|_| exports.describe(&mut store, &instance))
        .map_err(|error| LoadError::Shapes(format!("{error:#}")))?;
    begin(&mut store, LOAD_DEADLINE);
    let (description,) = describe
        .call(&mut store, ())
        .map_err(|error| LoadError::Call("describe", fault_of(&store, &error)))?;
    Description::check(description).map_err(LoadError::Description)
}
