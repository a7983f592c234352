//! The real engine, with everything that ships.

use std::path::Path;
use std::sync::Arc;

use kindsight_interpreter::{AotCache, Interpreter, Interpreters, Limits, Memo, Siblings, Worker};
use kindsight_model::{Object, Phase, Source, Verdict};
use serde_json::Value;

use crate::cases::NOW_MS;

/// Where compiled components are kept from one run to the next.
const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/conformance");

/// The interpreter of the Kinds nobody wrote a rule for.
const GENERIC: &str = "generic";

/// Bytes of inputs whose verdicts are remembered.
const MEMO_BYTES: usize = 32 * 1024 * 1024;

/// Everything that ships, live.
pub(crate) struct Judging {
    interpreters: Interpreters,
    memo: Arc<Memo>,
}

/// What was said of one object.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) phase: Phase,
    pub(crate) state: String,
    pub(crate) reason: String,
    pub(crate) message: String,
    /// Somebody wrote a rule for its Kind.
    pub(crate) has_rule: bool,
    /// Nobody spoke for it, or who did broke.
    pub(crate) is_fault: bool,
}

impl Judging {
    pub(crate) fn start() -> Result<Self, String> {
        let cache =
            AotCache::open(Path::new(CACHE)).map_err(|error| format!("{CACHE}: {error}"))?;
        let interpreters = Interpreters::start(Limits::default(), Some(cache));
        let interpreters = interpreters.map_err(|error| error.to_string())?;
        let set = load_all(&interpreters)?;
        interpreters
            .publish(set)
            .map_err(|error| error.to_string())?;
        Ok(Self {
            interpreters,
            memo: Arc::new(Memo::new(MEMO_BYTES)),
        })
    }

    /// Judges each object alone: cases know nothing of each other.
    pub(crate) fn judge(&self, objects: &[&Value]) -> Result<Vec<Said>, String> {
        let set = self.interpreters.published();
        let alone = Siblings::none();
        let mut worker = Worker::new(Limits::default(), Arc::clone(&self.memo));
        let said = objects.iter().map(|value| {
            let object = Object::from_json(value.to_string()).map_err(|error| error.to_string())?;
            Ok(worker.judge(&set, &object, &alone, NOW_MS).into())
        });
        said.collect()
    }
}

/// Loads all built-in interpreters, a thread each.
fn load_all(interpreters: &Interpreters) -> Result<Vec<(Source, Arc<Interpreter>)>, String> {
    std::thread::scope(|scope| {
        let loads: Vec<_> = kindsight_plugins::BUILT_IN
            .iter()
            .map(|it| (it.name, scope.spawn(|| interpreters.load(it.wasm))))
            .collect();
        let loaded = loads.into_iter().map(|(name, load)| {
            let loaded = load.join().map_err(|_| format!("loading {name} broke"))?;
            let loaded = loaded.map_err(|error| format!("{name}: {error}"))?;
            Ok((Source::BuiltIn, loaded))
        });
        loaded.collect()
    })
}

impl From<Verdict> for Said {
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

/// The reasons the host gives where an interpreter could not say: by a fault of its own, or because
/// it cannot read an object that somebody's cluster had.
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
