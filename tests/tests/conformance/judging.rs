//! The engine, with all built-in interpreters.

use std::path::Path;
use std::sync::Arc;

use kindsight_interpreter::{CodeCache, Interpreter, Interpreters, Limits, Memo, Siblings, Worker};
use kindsight_model::{Object, Phase, Source, Verdict};
use serde_json::Value;

use crate::cases::NOW_MS;
use crate::catalogue;

/// Folder of compiled components, kept from one run to the next.
const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/conformance");

/// The interpreter of Kinds without a rule.
const GENERIC: &str = "generic";

/// Bytes of inputs whose verdicts are remembered.
const MEMO_BYTES: usize = 32 * 1024 * 1024;

/// All built-in interpreters, live. If requested, the interpreters of the catalogue are live too.
pub(crate) struct Judging {
    interpreters: Interpreters,
    memo: Arc<Memo>,
}

/// Verdict on one object.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) phase: Phase,
    pub(crate) state: String,
    pub(crate) reason: String,
    pub(crate) message: String,
    /// True if the Kind has its own rule.
    pub(crate) has_rule: bool,
    /// True if no interpreter judged the object, or the interpreter failed.
    pub(crate) is_fault: bool,
}

impl Judging {
    /// Starts the engine. With `has_catalogue`, the interpreters of the catalogue are live too.
    pub(crate) fn start(has_catalogue: bool) -> Result<Self, String> {
        let cache =
            CodeCache::open(Path::new(CACHE)).map_err(|error| format!("{CACHE}: {error}"))?;
        let interpreters = Interpreters::start(Limits::default(), Some(cache));
        let interpreters = interpreters.map_err(|error| error.to_string())?;
        let mut set = load_all(&interpreters)?;
        if has_catalogue {
            for rules in catalogue::joined_rules() {
                let loaded = interpreters.load(&catalogue::component(&rules));
                let loaded = loaded.map_err(|error| format!("the catalogue: {error}"))?;
                set.push((Source::Catalogue, loaded));
            }
        }
        interpreters
            .publish(set)
            .map_err(|error| error.to_string())?;
        Ok(Self {
            interpreters,
            memo: Arc::new(Memo::new(MEMO_BYTES)),
        })
    }

    /// Judges each object alone: cases are independent of each other.
    pub(crate) fn judge(&self, objects: &[&Value]) -> Result<Vec<Answer>, String> {
        let set = self.interpreters.published();
        let alone = Siblings::none();
        let mut worker = Worker::new(Limits::default(), Arc::clone(&self.memo));
        let answers = objects.iter().map(|value| {
            let object = Object::from_json(value.to_string()).map_err(|error| error.to_string())?;
            Ok(worker.judge(&set, &object, &alone, NOW_MS).into())
        });
        answers.collect()
    }
}

/// Loads all built-in interpreters, a thread each.
fn load_all(interpreters: &Interpreters) -> Result<Vec<(Source, Arc<Interpreter>)>, String> {
    std::thread::scope(|scope| {
        let loads: Vec<_> = kindsight_plugins::BUILT_IN
            .iter()
            .map(|plugin| (plugin.name, scope.spawn(|| interpreters.load(plugin.wasm))))
            .collect();
        let loaded = loads.into_iter().map(|(name, load)| {
            let loaded = load
                .join()
                .map_err(|_| format!("loading {name} panicked"))?;
            let loaded = loaded.map_err(|error| format!("{name}: {error}"))?;
            Ok((Source::BuiltIn, loaded))
        });
        loaded.collect()
    })
}

impl From<Verdict> for Answer {
    fn from(judged: Verdict) -> Self {
        let by = judged.by.as_ref();
        let reason = judged.reason.to_string();
        Self {
            phase: judged.phase,
            state: judged.state.to_string(),
            message: judged.message.to_string(),
            has_rule: by.is_some_and(|by| &*by.name != GENERIC),
            is_fault: by.is_none() || FAULTS.contains(&reason.as_str()),
            reason,
        }
    }
}

/// Reasons of the host for a failure of an interpreter: because of its own fault, or because it cannot
/// read an object of a real cluster.
const FAULTS: [&str; 9] = [
    "InterpreterTimedOut",
    "InterpreterOutOfMemory",
    "InterpreterStackOverflow",
    "InterpreterTrapped",
    "InterpreterInvalidAnswer",
    "InterpreterAnswerTooLarge",
    "InterpreterUndeclaredState",
    "InterpreterFailed",
    "InvalidInput",
];
