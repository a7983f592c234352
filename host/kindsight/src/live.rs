//! Puts the interpreters to work: the built-in ones, then those of the operator.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use kindsight_interpreter::{
    AotCache, ChildCompiler, Compiler, Interpreter, Interpreters, Limits, LoadError,
};
use kindsight_model::Source;

/// What this binary is started with to compile one component and end. It is not for people.
const COMPILE: &str = "compile-component";

/// Starts the room and makes the built-in interpreters and those from `files` live.
///
/// Compiled components are kept in `cache`; where it cannot be used that is said and everything is
/// compiled again.
pub(crate) fn start(
    limits: Limits,
    cache: Option<&Path>,
    files: &[PathBuf],
) -> anyhow::Result<Interpreters> {
    let interpreters = room(limits, cache)?;
    let built_in = built_in(&interpreters)?.into_iter();
    let mut live: Vec<_> = built_in.map(|it| (Source::BuiltIn, it)).collect();
    for file in files {
        let bytes = std::fs::read(file).with_context(|| format!("read {}", file.display()))?;
        let interpreter = interpreters
            .load(&bytes)
            .map_err(|error| refused(file, &error))?;
        live.push((Source::Upload, interpreter));
    }
    interpreters.publish(live)?;
    Ok(interpreters)
}

/// Starts the room; nothing is live yet. What it is handed is compiled in a child process.
pub(crate) fn room(limits: Limits, cache: Option<&Path>) -> anyhow::Result<Interpreters> {
    let compiler = Compiler::Child(ChildCompiler::of_this_program([COMPILE]));
    let interpreters = Interpreters::start(limits, cache.and_then(open_cache))?;
    Ok(interpreters.with_compiler(compiler))
}

/// Whether this process was started by another of this binary to compile.
pub(crate) fn is_compiler() -> bool {
    std::env::args_os()
        .nth(1)
        .is_some_and(|first| first == COMPILE)
}

/// Loads all built-in interpreters, a thread each: what is not in the cache is compiled.
pub(crate) fn built_in(interpreters: &Interpreters) -> anyhow::Result<Vec<Arc<Interpreter>>> {
    std::thread::scope(|scope| {
        let loads: Vec<_> = kindsight_plugins::BUILT_IN
            .iter()
            .map(|built_in| {
                (
                    built_in.name,
                    scope.spawn(|| interpreters.load_built_in(built_in.wasm)),
                )
            })
            .collect();
        let mut live = Vec::with_capacity(loads.len());
        for (name, load) in loads {
            let Ok(loaded) = load.join() else {
                bail!("loading the built-in interpreter {name} broke");
            };
            let loaded = loaded.with_context(|| format!("built-in interpreter {name}"))?;
            live.push(loaded);
        }
        Ok(live)
    })
}

/// The refusal of a component that lies in a file.
pub(crate) fn refused(file: &Path, error: &LoadError) -> anyhow::Error {
    let (file, why) = (file.display(), error.with_step());
    anyhow::anyhow!("interpreter {file} is refused: {why}")
}

fn open_cache(folder: &Path) -> Option<AotCache> {
    AotCache::open(folder)
        .inspect_err(|error| {
            tracing::warn!(folder = %folder.display(), %error, "compiled components are not kept");
        })
        .ok()
}

/// Where compiled components are kept unless the operator says otherwise: the user's cache folder.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    Some(base.join("kindsight").join("aot"))
}
