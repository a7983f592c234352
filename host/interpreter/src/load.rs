//! Loads a component: from bytes to an interpreter that may go live.
//!
//! received -> validated (imports, contract) -> compiled -> tried (instance, description, fixtures)

mod fixtures;

use std::sync::Arc;
use std::time::Duration;

use kindsight_code_cache::CodeCache;
use kindsight_model::{Digest, InterpretedBy, InterpreterName};
use wasmtime::Store;
use wasmtime::component::Component;

use crate::aot::{self, compatibility};
use crate::bindings::{Plugin, PluginPre};
use crate::bounded_store::{begin, fault_of, store};
use crate::compile::Compiler;
use crate::describe::Description;
use crate::engine::Engine;
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
            .and_then(PluginPre::new)
            .map_err(|error| LoadError::Shapes(format!("{error:#}")))?;
        let mut description = describe(&pre, &digest, limits)?;
        let fixtures = fixtures::list(&pre, &digest, limits, &mut description)?;
        let interpreter = Self::new(digest, description, pre);
        fixtures::try_all(&interpreter, limits, &fixtures)?;
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
    pre: &PluginPre<InstanceContext>,
    digest: &Digest,
    limits: &Limits,
) -> Result<Description, LoadError> {
    // A call that has to make an instance first pays for it out of its own deadline.
    let start = limits.call_deadline / START_SHARE;
    let mut instance = Instance::start(pre, unnamed(digest), limits, start)?;
    let json = instance.call("describe", |plugin, store| {
        plugin
            .kindsight_interpreter_description()
            .call_describe(store)
    })?;
    Description::parse(&json).map_err(LoadError::Description)
}

/// An instance that answers what is asked once, when its component is loaded.
struct Instance {
    store: Store<InstanceContext>,
    plugin: Plugin,
}

impl Instance {
    fn start(
        pre: &PluginPre<InstanceContext>,
        by: Arc<InterpretedBy>,
        limits: &Limits,
        deadline: Duration,
    ) -> Result<Self, LoadError> {
        let context = InstanceContext::new(by, Arc::default(), limits.memory_bytes_max);
        let mut store = store(pre.engine(), context);
        store.set_hostcall_fuel(LOAD_ANSWER_BYTES_MAX);
        begin(&mut store, deadline);
        let instance = pre.instance_pre().instantiate(&mut store);
        let instance = instance.map_err(|error| match fault_of(&store, &error) {
            Fault::InvalidAnswer(what) => LoadError::Instance(what),
            fault => LoadError::Call("start", fault),
        })?;
        let plugin = Plugin::new(&mut store, &instance)
            .map_err(|error| LoadError::Shapes(format!("{error:#}")))?;
        Ok(Self { store, plugin })
    }

    fn call(
        &mut self,
        name: &'static str,
        call: impl FnOnce(&Plugin, &mut Store<InstanceContext>) -> wasmtime::Result<String>,
    ) -> Result<String, LoadError> {
        begin(&mut self.store, LOAD_DEADLINE);
        let answer = call(&self.plugin, &mut self.store);
        answer.map_err(|error| LoadError::Call(name, fault_of(&self.store, &error)))
    }
}
