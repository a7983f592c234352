//! From bytes to an interpreter that may go live.
//!
//! received -> validated (imports, contract) -> compiled -> tried (instance, description, fixtures)

mod fixtures;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use kindsight_model::InterpretedBy;
use wasmtime::component::Component;

use crate::aot::AotCache;
use crate::bindings::{Plugin, PluginPre};
use crate::describe::Description;
use crate::digest::Digest;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::imports;
use crate::limits::{LOAD_ANSWER_BYTES_MAX, LOAD_DEADLINE, Limits};
use crate::warm::{Guest, begin, of_call, store};

/// A component that was compiled, tried and found to keep its promises.
pub struct Interpreter {
    description: Description,
    by: InterpretedBy,
    digest: Digest,
    pre: PluginPre<Guest>,
}

/// Why a component was refused, by the step that refused it.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Over the size limit.
    #[error("received: {0} bytes are over the limit of {1} bytes")]
    TooLarge(usize, usize),
    /// Not Wasm at all, or damaged.
    #[error("validated: not a WebAssembly component: {0}")]
    NotAComponent(String),
    /// Wants something the host does not offer.
    #[error(
        "validated: imports `{0}`, which the host does not offer: an interpreter may import nothing but `kindsight:interpreter/log`"
    )]
    ForeignImport(String),
    /// Does not export the contract.
    #[error("validated: does not export `kindsight:interpreter/interpreter`")]
    NotAnInterpreter,
    /// Another major version of the contract.
    #[error("validated: is written for version {0} of the contract, this host speaks 1.x")]
    OtherMajor(String),
    /// Cranelift could not, or broke while trying.
    #[error("compiled: {0}")]
    Compile(String),
    /// Shapes differ from the contract's.
    #[error("tried: its exports do not have the contract's shapes: {0}")]
    Shapes(String),
    /// No instance of it could be made.
    #[error("tried: no instance could be made of it: {0}")]
    Instance(String),
    /// A call did not come back well.
    #[error("tried: `{0}` {1}")]
    Call(&'static str, Fault),
    /// Said something of itself that cannot be.
    #[error("tried: its description is wrong: {}", .0.join("; "))]
    Description(Vec<String>),
    /// Broke its own promises.
    #[error("tried: {} of its fixtures do not hold: {}", .0.len(), .0.join("; "))]
    Fixtures(Vec<String>),
}

impl Interpreter {
    /// Takes bytes through every step. Compiles for some ten milliseconds to seconds: never call it
    /// on an executor's thread.
    ///
    /// # Errors
    /// The step that refused it, in words its author can act on.
    pub fn load(
        engine: &Engine,
        limits: &Limits,
        cache: Option<&AotCache>,
        bytes: &[u8],
    ) -> Result<Self, LoadError> {
        if bytes.len() > limits.component_bytes_max {
            return Err(LoadError::TooLarge(bytes.len(), limits.component_bytes_max));
        }
        let digest = Digest::of(bytes);
        let component = compiled(engine, cache, &digest, bytes)?;
        imports::check(&component)?;
        let pre = engine
            .linker()
            .instantiate_pre(&component)
            .and_then(PluginPre::new)
            .map_err(|error| LoadError::Shapes(format!("{error:#}")))?;
        let description = describe(&pre, &digest, limits)?;
        let interpreter = Self {
            by: InterpretedBy {
                name: Arc::clone(&description.name),
                version: Arc::clone(&description.version),
                digest: digest.text(),
            },
            description,
            digest,
            pre,
        };
        fixtures::try_all(&interpreter, limits)?;
        Ok(interpreter)
    }

    /// What it says of itself.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// How verdicts name it.
    pub fn by(&self) -> &InterpretedBy {
        &self.by
    }

    /// The digest of the bytes it was loaded from.
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    pub(crate) fn pre(&self) -> &PluginPre<Guest> {
        &self.pre
    }
}

impl std::fmt::Debug for Interpreter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} {} {}",
            self.by.name,
            self.by.version,
            self.digest.short()
        )
    }
}

/// From the cache, or compiled and put there.
fn compiled(
    engine: &Engine,
    cache: Option<&AotCache>,
    digest: &Digest,
    bytes: &[u8],
) -> Result<Component, LoadError> {
    if let Some(component) = cache.and_then(|cache| cache.get(digest, engine)) {
        return Ok(component);
    }
    let bytes = componentized(bytes)?;
    // A panic of the compiler is a refused component, not the end of the host.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        Component::from_binary(engine.inner(), &bytes)
    }));
    let component = outcome
        .map_err(|_| LoadError::Compile("the compiler broke on it".to_owned()))?
        .map_err(|error| LoadError::Compile(format!("{error:#}")))?;
    if let Some(cache) = cache {
        cache.put(digest, engine, &component);
    }
    Ok(component)
}

/// Components as they are; a core module that carries the contract's types is made into one.
fn componentized(bytes: &[u8]) -> Result<std::borrow::Cow<'_, [u8]>, LoadError> {
    const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";
    const MODULE: &[u8] = b"\0asm\x01\0\0\0";
    let refused = |what: String| LoadError::NotAComponent(what);
    if bytes.starts_with(COMPONENT) {
        return Ok(bytes.into());
    }
    if !bytes.starts_with(MODULE) {
        return Err(refused("it does not begin like one".to_owned()));
    }
    let made = catch_unwind(AssertUnwindSafe(|| {
        let mut encoder = wit_component::ComponentEncoder::default();
        encoder.validate(true).module(bytes)?.encode()
    }));
    made.map_err(|_| refused("a damaged core module".to_owned()))?
        .map(Into::into)
        .map_err(|error| {
            refused(format!(
                "a core module without the contract's types: {error:#}"
            ))
        })
}

fn describe(
    pre: &PluginPre<Guest>,
    digest: &Digest,
    limits: &Limits,
) -> Result<Description, LoadError> {
    let unnamed = InterpretedBy {
        name: "unnamed".into(),
        version: "".into(),
        digest: digest.text(),
    };
    let mut store = store(pre.engine(), Guest::new(unnamed, limits.memory_bytes_max));
    store.set_hostcall_fuel(LOAD_ANSWER_BYTES_MAX);
    begin(&mut store, LOAD_DEADLINE);
    let instance = pre.instance_pre().instantiate(&mut store);
    let instance = instance.map_err(|error| match of_call(&store, &error, LOAD_DEADLINE) {
        Fault::InvalidAnswer(what) => LoadError::Instance(what),
        fault => LoadError::Call("start", fault),
    })?;
    let plugin = Plugin::new(&mut store, &instance)
        .map_err(|error| LoadError::Shapes(format!("{error:#}")))?;
    begin(&mut store, LOAD_DEADLINE);
    let said = plugin
        .kindsight_interpreter_interpreter()
        .call_describe(&mut store)
        .map_err(|error| LoadError::Call("describe", of_call(&store, &error, LOAD_DEADLINE)))?;
    Description::check(said).map_err(LoadError::Description)
}
