//! From a component's bytes to machine code: in this process, or in a capped one of its own.
//!
//! ```text
//! host ──request──▶ child: caps itself ─▶ validated ─▶ compiled ──answer──▶ host
//! ```
//!
//! A compiler is a large program, and what it needs grows with what it is given: a component of some
//! hundred kilobytes can take gigabytes or minutes. In a child it costs that child. The child is
//! this very binary and its answer is trusted as this process is: it is bounded, not distrusted.

mod caps;
mod child;
mod host;
mod pipes;
mod protocol;

use std::borrow::Cow;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Duration;

pub use child::compile_child;

use crate::engine::Engine;
use crate::imports;
use crate::limits::{
    CODE_BYTES_MAX, COMPILE_CPU_TIME_MAX, COMPILE_MEMORY_BYTES_MAX, COMPILE_WALL_TIME_MAX,
    REFUSAL_TEXT_BYTES_MAX,
};
use crate::load_error::LoadError;

/// Where components are compiled.
#[derive(Debug, Clone)]
pub enum Compiler {
    /// In this process: for what ships inside the binary, and for tests.
    InProcess,
    /// In a process of its own, for what comes from outside.
    Child(ChildCompiler),
}

/// A process that compiles one component and ends.
#[derive(Debug, Clone)]
pub struct ChildCompiler {
    /// What is started. It has to call [`compile_child`].
    pub program: PathBuf,
    /// What it is started with.
    pub arguments: Vec<OsString>,
    /// Address space it may take, in bytes.
    pub memory_bytes_max: u64,
    /// Processor time it may take, in whole seconds; at least one.
    pub cpu_time_max: Duration,
    /// Time on the clock until it is killed.
    pub wall_time_max: Duration,
}

impl ChildCompiler {
    /// The program that is running, started anew with `arguments`, and the default limits.
    ///
    /// It is the same one even after an update has put another in its place: code is good only for
    /// the engine that made it.
    pub fn of_this_program(arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        let program = if cfg!(target_os = "linux") {
            PathBuf::from("/proc/self/exe")
        } else {
            // Where it cannot be known, starting it fails and says so.
            std::env::current_exe().unwrap_or_default()
        };
        Self {
            program,
            arguments: arguments.into_iter().map(Into::into).collect(),
            memory_bytes_max: COMPILE_MEMORY_BYTES_MAX,
            cpu_time_max: COMPILE_CPU_TIME_MAX,
            wall_time_max: COMPILE_WALL_TIME_MAX,
        }
    }
}

impl Compiler {
    /// Compiles a component for `engine`. Blocks for milliseconds to seconds, at most for
    /// [`ChildCompiler::wall_time_max`] in a child.
    ///
    /// # Errors
    /// The component is refused, as `validated` or `compiled`, or this host cannot do it now.
    pub(crate) fn compile(&self, engine: &Engine, bytes: &[u8]) -> Result<Vec<u8>, LoadError> {
        let compiled = match self {
            Self::InProcess => compile(engine.inner(), bytes),
            Self::Child(child) => child.compile(bytes),
        };
        compiled.map_err(legible)
    }
}

/// Validates and compiles on this thread. A panic on the way is a refused component, not the end of
/// the host.
fn compile(engine: &wasmtime::Engine, bytes: &[u8]) -> Result<Vec<u8>, LoadError> {
    let bytes = componentized(bytes)?;
    let compiled = catch_unwind(AssertUnwindSafe(|| {
        imports::check(&bytes)?;
        engine
            .precompile_component(&bytes)
            .map_err(|error| LoadError::Compile(format!("{error:#}")))
    }));
    let code =
        compiled.map_err(|_| LoadError::Compile("the compiler broke on it".to_owned()))??;
    if code.len() > CODE_BYTES_MAX {
        return Err(LoadError::Compile(format!(
            "{} bytes of code are over the limit of {CODE_BYTES_MAX} bytes",
            code.len()
        )));
    }
    Ok(code)
}

/// A refusal may repeat names from the component. They must not write into terminals and logs, nor
/// turn a line around, nor fill it.
fn legible(error: LoadError) -> LoadError {
    let plain = |mut text: String| {
        text.truncate(text.floor_char_boundary(REFUSAL_TEXT_BYTES_MAX));
        let is_odd =
            |letter: char| letter.escape_debug().len() > 1 && !matches!(letter, '"' | '\'' | '\\');
        text.replace(is_odd, " ")
    };
    match error {
        LoadError::NotAComponent(what) => LoadError::NotAComponent(plain(what)),
        LoadError::ForeignImport(name) => LoadError::ForeignImport(plain(name)),
        LoadError::OtherMajor(version) => LoadError::OtherMajor(plain(version)),
        LoadError::Compile(what) => LoadError::Compile(plain(what)),
        LoadError::Host(what) => LoadError::Host(plain(what)),
        other => other,
    }
}

/// Components as they are; a core module that carries the contract's types is made into one.
fn componentized(bytes: &[u8]) -> Result<Cow<'_, [u8]>, LoadError> {
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
        let encoder = wit_component::ComponentEncoder::default();
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

#[cfg(test)]
mod tests;
