//! Checks settings with the schema that their interpreter declares.
//!
//! The result is cached, so no command and no start checks the same settings again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use kindsight_interpreter::Interpreter;
use kindsight_model::Digest;
use kindsight_settings::SettingsSchema;
use serde_json::{Map, Value};

use crate::catalog::locked;

/// Maximum number of cached results: one for each name, and as many for later versions. If there
/// are more, all are dropped.
const CHECKS_MAX: usize = 2000;

/// Results of validation, by the digests of component and settings.
#[derive(Default)]
pub(crate) struct SettingsChecks {
    outcomes: Mutex<HashMap<(Digest, Digest), Result<(), String>>>,
}

impl SettingsChecks {
    /// The cached result for settings that were checked before.
    pub(crate) fn known(
        &self,
        interpreter: &Interpreter,
        settings: &Map<String, Value>,
    ) -> Option<Result<(), String>> {
        let outcomes = locked(&self.outcomes);
        outcomes.get(&key(interpreter, settings)).cloned()
    }

    /// Checks `settings` for this interpreter. The error lists the problems. Takes up to seconds if
    /// the result is not cached.
    pub(crate) fn check(
        &self,
        interpreter: &Interpreter,
        settings: &Map<String, Value>,
    ) -> Result<(), String> {
        if let Some(known) = self.known(interpreter, settings) {
            return known;
        }
        let outcome = check(interpreter, settings);
        let mut outcomes = locked(&self.outcomes);
        if outcomes.len() >= CHECKS_MAX {
            outcomes.clear();
        }
        outcomes.insert(key(interpreter, settings), outcome.clone());
        outcome
    }
}

fn key(interpreter: &Interpreter, settings: &Map<String, Value>) -> (Digest, Digest) {
    let settings = serde_json::to_vec(settings).unwrap_or_default();
    (interpreter.digest().clone(), Digest::of(&settings))
}

/// The settings that calls receive: the operator's settings with the defaults of the schema.
/// Returns `None` if there are neither settings nor defaults, and if there are no settings but the
/// schema requires a member without a default.
pub(crate) fn passed(
    interpreter: &Interpreter,
    settings: Option<&Map<String, Value>>,
) -> Option<Arc<str>> {
    let passed = match interpreter.settings_schema() {
        Some(schema) => schema.passed(settings)?,
        None => settings?.clone(),
    };
    serde_json::to_string(&passed).ok().map(Into::into)
}

/// Checks settings for an interpreter outside a catalog. Returns their text in the form in which
/// every call receives it, with the defaults of the schema. Takes up to about two seconds for the
/// largest settings.
///
/// # Errors
/// The problem of the settings or of the schema.
pub fn checked_settings(
    interpreter: &Interpreter,
    settings: Option<&Map<String, Value>>,
) -> Result<Option<Arc<str>>, String> {
    settings.map_or(Ok(()), |settings| check(interpreter, settings))?;
    Ok(passed(interpreter, settings))
}

/// Settings are checked with the defaults, as every call receives them.
fn check(interpreter: &Interpreter, settings: &Map<String, Value>) -> Result<(), String> {
    let Some(schema) = interpreter.settings_schema() else {
        return Err(format!("{interpreter:?} has no settings"));
    };
    let checking = SettingsSchema::checking(schema)?;
    checking.check(settings)
}
