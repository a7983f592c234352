//! The engine of a process: started, with the built-in interpreters loaded.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kindsight_catalog::{checked_settings, lost_kinds};
use kindsight_interpreter::{
    ChildCompiler, CodeCache, Compiler, Interpreter, Interpreters, Limits, SetMember, StartError,
};
use kindsight_model::{InterpreterName, Source};
use serde_json::{Map, Value};

use crate::comparison::{ComponentFile, load};
use crate::error::Error;

/// The argument with which a program starts itself to compile one component. Users do not need it.
const COMPILE: &str = "compile-component";

/// The settings of interpreters, by their names.
pub type SettingsByName = BTreeMap<InterpreterName, Map<String, Value>>;

/// Receiver of the progress of a start: a function that is called after each built-in interpreter that was loaded, with
/// the number of loaded interpreters and the number of all. Several threads call it. The default does nothing.
#[derive(Clone, Default)]
pub struct OnLoaded(Option<Arc<LoadProgress>>);

/// The function of an [`OnLoaded`].
type LoadProgress = dyn Fn(usize, usize) + Send + Sync;

impl OnLoaded {
    /// A receiver that calls this function.
    pub fn new(progress: impl Fn(usize, usize) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(progress)))
    }

    fn call(&self, loaded: usize, total: usize) {
        if let Some(progress) = &self.0 {
            progress(loaded, total);
        }
    }
}

/// Interpreters of a program without a server.
pub struct LocalInterpreters {
    /// The engine. The built-in interpreters are live; interpreters from files take precedence.
    pub interpreters: Interpreters,
    /// The interpreters from files, in their order.
    pub from_files: Vec<Arc<Interpreter>>,
    /// Messages about built-in interpreters that an interpreter from a file hides although it does not judge all of
    /// their Kinds.
    pub hidden: Vec<String>,
}

/// Starts the engine of a program without a server. The interpreters in `files` take precedence over the built-in
/// ones, and those over the ones of the `catalogue` of rules. All get these settings and the defaults of their schemas.
///
/// Compiled components are kept in `cache`. If the cache cannot be used, this is logged and everything is compiled
/// again. The start takes milliseconds with a filled cache, and seconds otherwise.
///
/// # Errors
/// If the machine cannot run interpreters, a file is refused, or settings do not fit.
pub fn start_interpreters(
    limits: Limits,
    cache: Option<&Path>,
    files: &[PathBuf],
    catalogue: &[ComponentFile],
    settings: &SettingsByName,
    on_loaded: &OnLoaded,
) -> Result<LocalInterpreters, Error> {
    let bytes_max = limits.component_bytes_max;
    let interpreters = start(limits, cache)?;
    let built_in = built_in(&interpreters, on_loaded)?;
    let from_files = files
        .iter()
        .map(|file| load_file(&interpreters, file, bytes_max));
    let from_files: Vec<_> = from_files.collect::<Result<_, Error>>()?;
    let catalogue = catalogue.iter().map(|file| load(&interpreters, file));
    let catalogue: Vec<_> = catalogue.collect::<Result<_, Error>>()?;
    let hidden = hidden(&built_in, &from_files);
    let loaded = from_files
        .iter()
        .map(|interpreter| (Source::Upload, Arc::clone(interpreter)));
    let built_in = built_in
        .into_iter()
        .map(|interpreter| (Source::BuiltIn, interpreter));
    let catalogue = catalogue
        .into_iter()
        .map(|interpreter| (Source::Catalogue, interpreter));
    let loaded: Vec<_> = catalogue.chain(built_in).chain(loaded).collect();
    refuse_unknown(settings, &loaded)?;
    let members = loaded.iter().map(|(source, interpreter)| {
        // Of two interpreters with one name, the interpreter of the later source is live.
        let mut same = loaded
            .iter()
            .filter(|(_, other)| other.by().name == interpreter.by().name);
        let is_live = same.all(|(other, _)| other <= source);
        let settings = settings.get(&interpreter.by().name).filter(|_| is_live);
        member(*source, interpreter, settings)
    });
    let members = members.collect::<Result<_, Error>>()?;
    let set = interpreters.prepare(members)?;
    interpreters.install(set);
    Ok(LocalInterpreters {
        interpreters,
        from_files,
        hidden,
    })
}

/// Messages about built-in interpreters with Kinds that their replacement from a file does not judge.
fn hidden(built_in: &[Arc<Interpreter>], from_files: &[Arc<Interpreter>]) -> Vec<String> {
    let hidden = from_files.iter().filter_map(|from_file| {
        let name = &from_file.by().name;
        let built_in = built_in.iter().find(|built_in| built_in.by().name == *name)?;
        let kinds = lost_kinds(built_in, from_file)?;
        Some(format!(
            "`{name}` hides the built-in interpreter of that name, and does not judge its {kinds}: a server refuses it without `--replace-built-in`"
        ))
    });
    hidden.collect()
}

/// Refuses settings for an unknown interpreter, with the known names.
fn refuse_unknown(
    settings: &SettingsByName,
    loaded: &[(Source, Arc<Interpreter>)],
) -> Result<(), Error> {
    let known: BTreeSet<&str> = loaded
        .iter()
        .map(|(_, interpreter)| interpreter.by().name.as_str())
        .collect();
    let mut names = settings.keys();
    let unknown = names.find(|name| !known.contains(name.as_str()));
    unknown.map_or(Ok(()), |name| {
        let known: Vec<&str> = known.into_iter().collect();
        Err(Error::NoInterpreter {
            name: name.clone(),
            known: known.join(", "),
        })
    })
}

/// A member of a set. Its settings are checked and get the defaults of the schema, as in the catalog.
pub(crate) fn member(
    source: Source,
    interpreter: &Arc<Interpreter>,
    settings: Option<&Map<String, Value>>,
) -> Result<SetMember, Error> {
    let checked = checked_settings(interpreter, settings).map_err(|why| Error::Settings {
        name: interpreter.by().name.clone(),
        why,
    })?;
    Ok(SetMember {
        source,
        interpreter: Arc::clone(interpreter),
        settings: checked,
    })
}

fn load_file(
    interpreters: &Interpreters,
    file: &Path,
    bytes_max: usize,
) -> Result<Arc<Interpreter>, Error> {
    let path = || file.to_owned();
    // Reads one byte over the limit, to detect a larger file. A device may have no end.
    let most = u64::try_from(bytes_max)
        .unwrap_or(u64::MAX)
        .saturating_add(1);
    let mut bytes = Vec::new();
    File::open(file)
        .and_then(|opened| opened.take(most).read_to_end(&mut bytes))
        .map_err(|source| Error::ReadComponent {
            file: path(),
            source,
        })?;
    let loaded = interpreters.load(&bytes);
    loaded.map_err(|error| Error::Refused {
        file: path(),
        error,
    })
}

/// Starts the engine without live interpreters. The engine compiles components in a child process. Tools for authors
/// need no others.
///
/// # Errors
/// If the machine cannot run interpreters.
pub fn start(limits: Limits, cache: Option<&Path>) -> Result<Interpreters, StartError> {
    let compiler = Compiler::Child(ChildCompiler::of_this_program([COMPILE]));
    let interpreters = Interpreters::start(limits, cache.and_then(open_cache))?;
    Ok(interpreters.with_compiler(compiler))
}

/// Returns whether another process of this program started this process to compile. In this case, the program must only
/// call `kindsight_interpreter::compile_child`.
pub fn is_compiler() -> bool {
    std::env::args_os()
        .nth(1)
        .is_some_and(|first| first == COMPILE)
}

/// Loads all built-in interpreters, each on its own thread. A component that is not in the cache is compiled.
pub(crate) fn built_in(
    interpreters: &Interpreters,
    on_loaded: &OnLoaded,
) -> Result<Vec<Arc<Interpreter>>, Error> {
    let all = kindsight_plugins::BUILT_IN;
    let count = AtomicUsize::new(0);
    let load = |wasm| {
        let loaded = interpreters.load_built_in(wasm);
        on_loaded.call(count.fetch_add(1, Ordering::Relaxed) + 1, all.len());
        loaded
    };
    std::thread::scope(|scope| {
        let load = &load;
        let loads: Vec<_> = all
            .iter()
            .map(|built_in| (built_in.name, scope.spawn(move || load(built_in.wasm))))
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
