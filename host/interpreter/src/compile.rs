//! Compiles a component to machine code, either in this process or in a child process with resource
//! limits.
//!
//! ```text
//! host ──request──▶ child: limits itself ─▶ validated ─▶ compiled ──answer──▶ host
//! ```
//!
//! A component of some hundred kilobytes can cause the compiler to use gigabytes or minutes. In a
//! child process, only the child ends. The child runs the same binary, so its answer is as
//! trustworthy as this process; only its resources are limited.

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
use kindsight_code_cache::CODE_BYTES_MAX;

use crate::engine::Engine;
use crate::file_kind;
use crate::imports;
use crate::limits::{COMPILE_CPU_TIME_MAX, COMPILE_MEMORY_BYTES_MAX, COMPILE_WALL_TIME_MAX};
use crate::load_error::LoadError;
use crate::module;

/// The process that compiles components.
#[derive(Debug, Clone)]
pub enum Compiler {
    /// This process, for built-in components and for tests.
    InProcess,
    /// A child process for each component, for components from outside.
    Child(ChildCompiler),
}

/// Settings of a child process that compiles one component.
#[derive(Debug, Clone)]
pub struct ChildCompiler {
    /// The program to start. It must call [`compile_child`].
    pub program: PathBuf,
    /// Arguments of the program.
    pub arguments: Vec<OsString>,
    /// Limit of its address space, in bytes.
    pub memory_bytes_max: u64,
    /// Limit of its processor time, in whole seconds; at least one.
    pub cpu_time_max: Duration,
    /// The wall-clock time after which the child is killed.
    pub wall_time_max: Duration,
}

impl ChildCompiler {
    /// This program with `arguments`, and the default limits.
    ///
    /// The child runs the present binary even after an update has replaced the file, because
    /// compiled code can only be used by the engine that made it.
    pub fn of_this_program(arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        let program = if cfg!(target_os = "linux") {
            PathBuf::from("/proc/self/exe")
        } else {
            // If the path is unknown, starting the program fails with an error.
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
    /// Compiles a component for `engine`. Blocks for milliseconds to seconds, in a child at most
    /// for [`ChildCompiler::wall_time_max`].
    ///
    /// # Errors
    /// The component is refused in the step `validated` or `compiled`, or this host cannot compile
    /// it at present.
    pub(crate) fn compile(&self, engine: &Engine, bytes: &[u8]) -> Result<Vec<u8>, LoadError> {
        let compiled = match self {
            Self::InProcess => compile(engine.inner(), bytes),
            Self::Child(child) => child.compile(bytes),
        };
        compiled.map_err(LoadError::cleaned)
    }
}

/// Validates and compiles on this thread. If the compiler panics, the component is refused and the
/// host continues.
fn compile(engine: &wasmtime::Engine, bytes: &[u8]) -> Result<Vec<u8>, LoadError> {
    let bytes = componentized(bytes)?;
    let compiled = catch_unwind(AssertUnwindSafe(|| {
        imports::check(&bytes)?;
        engine
            .precompile_component(&bytes)
            .map_err(|error| LoadError::Compile(format!("{error:#}")))
    }));
    let code =
        compiled.map_err(|_| LoadError::Compile("the compiler panicked on it".to_owned()))??;
    if code.len() > CODE_BYTES_MAX {
        return Err(LoadError::Compile(format!(
            "{} bytes of code are over the limit of {CODE_BYTES_MAX} bytes",
            code.len()
        )));
    }
    Ok(code)
}

/// Returns a component unchanged, and converts a core module that contains the contract's types. A
/// load does the same.
///
/// # Errors
/// [`LoadError::NotAComponent`] for other bytes.
pub fn componentized(bytes: &[u8]) -> Result<Cow<'_, [u8]>, LoadError> {
    const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";
    const MODULE: &[u8] = b"\0asm\x01\0\0\0";
    if bytes.starts_with(COMPONENT) {
        return Ok(bytes.into());
    }
    if !bytes.starts_with(MODULE) {
        return Err(LoadError::NotAComponent(file_kind::describe(bytes)));
    }
    module::check(bytes)?;
    let refused = |what: String| LoadError::NotAComponent(what);
    let made = catch_unwind(AssertUnwindSafe(|| {
        let encoder = wit_component::ComponentEncoder::default();
        encoder.validate(true).module(bytes)?.encode()
    }));
    made.map_err(|_| refused("a damaged core module".to_owned()))?
        .map(Into::into)
        .map_err(|error| {
            refused(format!(
                "this core module cannot be converted to a component: {error:#}"
            ))
        })
}

#[cfg(test)]
mod tests;
