//! From bytes to an interpreter that may go live.
//!
//! received -> validated (imports, contract) -> compiled -> tried (instance, description, fixtures)

mod fixtures;

use std::sync::Arc;

use kindsight_model::{Digest, InterpretedBy, InterpreterName, LoadStep};
use wasmtime::component::Component;

use crate::aot::{self, AotCache};
use crate::bindings::{Plugin, PluginPre};
use crate::compile::Compiler;
use crate::describe::Description;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::limits::{LOAD_ANSWER_BYTES_MAX, LOAD_DEADLINE, Limits};
use crate::warm::{Guest, begin, of_call, store};

/// A component that was compiled, tried and found to keep its promises.
pub struct Interpreter {
    description: Description,
    by: Arc<InterpretedBy>,
    pre: PluginPre<Guest>,
}

/// Why a component was refused, by the step that refused it.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Over the size limit.
    #[error("{0} bytes are over the limit of {1} bytes")]
    TooLarge(usize, usize),
    /// Not Wasm at all, or damaged.
    #[error("not a WebAssembly component: {0}")]
    NotAComponent(String),
    /// Wants something the host does not offer.
    #[error(
        "imports `{0}`, which the host does not offer: an interpreter may import nothing but `kindsight:interpreter/log`"
    )]
    ForeignImport(String),
    /// Does not export the contract.
    #[error("does not export `kindsight:interpreter/interpreter`")]
    NotAnInterpreter,
    /// Another major version of the contract.
    #[error("is written for version {0} of the contract, this host speaks 1.x")]
    OtherMajor(String),
    /// Cranelift could not, or broke while trying, or took more than it may.
    #[error("{0}")]
    Compile(String),
    /// Not the component's fault: this host could not compile it now. Worth another try.
    #[error("this host could not do it: {0}")]
    Host(String),
    /// Shapes differ from the contract's.
    #[error("its exports do not have the contract's shapes: {0}")]
    Shapes(String),
    /// No instance of it could be made.
    #[error("no instance could be made of it: {0}")]
    Instance(String),
    /// A call did not come back well.
    #[error("`{0}` {1}")]
    Call(&'static str, Fault),
    /// Said something of itself that cannot be.
    #[error("its description is wrong: {}", .0.join("; "))]
    Description(Vec<String>),
    /// Broke its own promises.
    #[error("{} of its fixtures do not hold: {}", .0.len(), .0.join("; "))]
    Fixtures(Vec<String>),
}

impl LoadError {
    /// The refusal with its step, as people read it: `tried: …`.
    pub fn with_step(&self) -> String {
        format!("{}: {self}", self.step())
    }

    /// The step that refused the component.
    pub fn step(&self) -> LoadStep {
        match self {
            Self::TooLarge(..) => LoadStep::Received,
            Self::NotAComponent(_)
            | Self::ForeignImport(_)
            | Self::NotAnInterpreter
            | Self::OtherMajor(_) => LoadStep::Validated,
            Self::Compile(_) | Self::Host(_) => LoadStep::Compiled,
            Self::Shapes(_)
            | Self::Instance(_)
            | Self::Call(..)
            | Self::Description(_)
            | Self::Fixtures(_) => LoadStep::Tried,
        }
    }
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
        compiler: &Compiler,
        cache: Option<&AotCache>,
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
        let description = describe(&pre, &digest, limits)?;
        let interpreter = Self {
            by: Arc::new(InterpretedBy {
                name: description.name.clone(),
                version: Arc::clone(&description.version),
                digest,
            }),
            description,
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
    pub fn by(&self) -> &Arc<InterpretedBy> {
        &self.by
    }

    /// The digest of the bytes it was loaded from.
    pub fn digest(&self) -> &Digest {
        &self.by.digest
    }

    pub(crate) fn pre(&self) -> &PluginPre<Guest> {
        &self.pre
    }
}

impl std::fmt::Debug for Interpreter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.by.label())
    }
}

/// From the cache, or compiled and put there.
fn compiled(
    engine: &Engine,
    compiler: &Compiler,
    cache: Option<&AotCache>,
    digest: &Digest,
    bytes: &[u8],
) -> Result<Component, LoadError> {
    if let Some(component) = cache.and_then(|cache| cache.get(digest, engine)) {
        return Ok(component);
    }
    let code = compiler.compile(engine, bytes)?;
    if let Some(cache) = cache {
        cache.put(digest, engine, &code);
    }
    aot::deserialize(engine, &code)
        .ok_or_else(|| LoadError::Host("the compiled code is of another engine".to_owned()))
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
    pre: &PluginPre<Guest>,
    digest: &Digest,
    limits: &Limits,
) -> Result<Description, LoadError> {
    let mut store = store(
        pre.engine(),
        Guest::new(unnamed(digest), limits.memory_bytes_max),
    );
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
