//! The engine of a process: started, with the built-in interpreters loaded.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kindsight_interpreter::{
    ChildCompiler, CodeCache, Compiler, Interpreter, Interpreters, Limits, StartError,
};
use kindsight_model::Source;

use crate::error::Error;

/// The argument that a program is started with to compile one component and end. It is not for people.
const COMPILE: &str = "compile-component";

/// Starts the engine of a program that serves nothing: the built-in interpreters judge, and those in
/// `files` before them.
///
/// Compiled components are kept in `cache`; where it cannot be used that is logged and everything is
/// compiled again. Takes milliseconds with a cache that is filled, and seconds otherwise.
///
/// # Errors
/// Where the machine cannot run interpreters, or a file is refused.
pub fn start_interpreters(
    limits: Limits,
    cache: Option<&Path>,
    files: &[PathBuf],
) -> Result<Interpreters, Error> {
    let interpreters = start(limits, cache)?;
    let built_in = built_in(&interpreters)?.into_iter();
    let mut live: Vec<_> = built_in.map(|it| (Source::BuiltIn, it)).collect();
    for file in files {
        let interpreter = load_file(&interpreters, file)?;
        live.push((Source::Upload, interpreter));
    }
    interpreters.publish(live)?;
    Ok(interpreters)
}

fn load_file(interpreters: &Interpreters, file: &Path) -> Result<Arc<Interpreter>, Error> {
    let path = || file.to_owned();
    let bytes = std::fs::read(file).map_err(|source| Error::ReadComponent {
        file: path(),
        source,
    })?;
    let loaded = interpreters.load(&bytes);
    loaded.map_err(|error| Error::Refused {
        file: path(),
        error,
    })
}

/// Starts the engine; nothing is live yet. What it is handed is compiled in a child process.
pub(crate) fn start(limits: Limits, cache: Option<&Path>) -> Result<Interpreters, StartError> {
    let compiler = Compiler::Child(ChildCompiler::of_this_program([COMPILE]));
    let interpreters = Interpreters::start(limits, cache.and_then(open_cache))?;
    Ok(interpreters.with_compiler(compiler))
}

/// Returns whether this process was started by another of its program to compile; then all it has to
/// do is `kindsight_interpreter::compile_child`.
pub fn is_compiler() -> bool {
    std::env::args_os()
        .nth(1)
        .is_some_and(|first| first == COMPILE)
}

/// Loads all built-in interpreters, a thread each: what is not in the cache is compiled.
pub(crate) fn built_in(interpreters: &Interpreters) -> Result<Vec<Arc<Interpreter>>, Error> {
    std::thread::scope(|scope| {
        let loads: Vec<_> = kindsight_plugins::BUILT_IN
            .iter()
            .map(|built_in| {
                let load = scope.spawn(|| interpreters.load_built_in(built_in.wasm));
                (built_in.name, load)
            })
            .collect();
        let loaded = loads.into_iter().map(|(name, load)| {
            let loaded = load.join().map_err(|_| Error::BuiltInPanicked(name))?;
            loaded.map_err(|source| Error::BuiltIn { name, source })
        });
        loaded.collect()
    })
}

fn open_cache(folder: &Path) -> Option<CodeCache> {
    CodeCache::open(folder)
        .inspect_err(|error| {
            tracing::warn!(folder = %folder.display(), %error, "compiled components are not kept");
        })
        .ok()
}

/// The folder for compiled components of programs without a data folder: in the user's cache folder.
pub fn cache_folder() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    Some(base.join("kindsight").join("aot"))
}
