//! Validates settings with the schema that their interpreter declares.
//!
//! Both are untrusted: the author of the component wrote the schema, and a client sent the
//! settings. [`schema`] limits the cost of a schema when its component is loaded. This module
//! limits the settings accordingly. The result is cached, so no command and no start validates the
//! same settings again.

mod defaults;
pub(crate) mod schema;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use kindsight_interpreter::Interpreter;
use kindsight_model::Digest;
use serde_json::{Map, Value};

use crate::catalog::locked;

/// Maximum number of problems that are reported.
const PROBLEMS_MAX: usize = 8;
/// Maximum length of one reported problem, in bytes, because it may repeat a value of the settings.
const PROBLEM_BYTES_MAX: usize = 512;
/// Maximum size of settings, including defaults, in bytes.
const SETTINGS_BYTES_MAX: usize = 64 * 1024;
/// Maximum product of the steps of a schema and the bytes of settings, which is the worst case of
/// the validation. With a schema of 250 steps, the largest settings are accepted. A step for one
/// byte takes some nanoseconds, and up to a hundred if a pattern is matched state by state: at most
/// about two seconds in total.
const VALIDATION_STEPS_MAX: usize = 16_000_000;
/// Maximum number of elements of an array whose elements must be unique according to the schema,
/// because each is compared with each.
const UNIQUE_ITEMS_MAX: usize = 1000;
/// Maximum size of a compiled pattern, in bytes: some thousand states.
const PATTERN_COMPILED_BYTES_MAX: usize = 64 * 1024;
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
    let schema = interpreter.description().settings_schema.as_deref();
    // Fast path: most schemas have no default.
    let schema = schema.filter(|schema| schema.contains("\"default\""));
    let schema: Option<Value> = schema.and_then(|schema| serde_json::from_str(schema).ok());
    let passed = match (settings.cloned(), schema) {
        (Some(mut settings), Some(schema)) => {
            defaults::fill(&schema, &mut settings);
            settings
        }
        (Some(settings), None) => settings,
        (None, schema) => defaults::filled(&schema?)?,
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
///
/// References to other documents are never fetched, and patterns run on an engine without
/// backtracking.
fn check(interpreter: &Interpreter, settings: &Map<String, Value>) -> Result<(), String> {
    let Some(schema) = &interpreter.description().settings_schema else {
        return Err(format!("{interpreter:?} has no settings"));
    };
    let unusable = |why: String| {
        format!(
            "the schema of {interpreter:?} cannot be used: {}",
            clip(&why)
        )
    };
    let cost = schema::cost(schema).map_err(unusable)?;
    let schema: Value = serde_json::from_str(schema).map_err(|error| error.to_string())?;
    let mut settings = settings.clone();
    defaults::fill(&schema, &mut settings);
    weigh(cost, &settings)?;
    let patterns = jsonschema::PatternOptions::regex()
        .size_limit(PATTERN_COMPILED_BYTES_MAX)
        .dfa_size_limit(PATTERN_COMPILED_BYTES_MAX);
    let validator = jsonschema::options()
        .with_pattern_options(patterns)
        .build(&schema)
        .map_err(|error| unusable(error.to_string()))?;
    let settings = Value::Object(settings);
    // Listing the problems costs more than checking whether there are any.
    if validator.is_valid(&settings) {
        return Ok(());
    }
    let problems: Vec<String> = validator
        .iter_errors(&settings)
        .take(PROBLEMS_MAX)
        .map(|error| clip(&format!("{error} at `{}`", error.instance_path())))
        .collect();
    Err(problems.join("; "))
}

/// Rejects settings that are too large, or too large for their schema.
fn weigh(cost: schema::Cost, settings: &Map<String, Value>) -> Result<(), String> {
    let bytes = serde_json::to_string(settings).map_or(usize::MAX, |text| text.len());
    if bytes > SETTINGS_BYTES_MAX {
        return Err(format!(
            "settings of {bytes} bytes are over the limit of {SETTINGS_BYTES_MAX} bytes"
        ));
    }
    if cost.steps.saturating_mul(bytes) > VALIDATION_STEPS_MAX {
        let max = VALIDATION_STEPS_MAX / cost.steps.max(1);
        return Err(format!(
            "settings of {bytes} bytes are over the limit of {max} bytes for a schema of {} steps",
            cost.steps
        ));
    }
    if cost.asks_for_unique && settings.values().any(has_long_array) {
        return Err(format!(
            "an array has more than {UNIQUE_ITEMS_MAX} elements, which is the limit if the schema requires unique ones"
        ));
    }
    Ok(())
}

fn has_long_array(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.len() > UNIQUE_ITEMS_MAX || items.iter().any(has_long_array),
        Value::Object(members) => members.values().any(has_long_array),
        _ => false,
    }
}

fn clip(text: &str) -> String {
    let end = text.floor_char_boundary(PROBLEM_BYTES_MAX);
    match text.get(..end) {
        Some(begin) if begin.len() < text.len() => format!("{begin}…"),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn settings(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().expect("an object")
    }

    #[test]
    fn settings_are_weighed_by_the_cost_of_their_schema() {
        let large = settings(&json!({"a": "x".repeat(60_000)}));
        let cost = |steps| schema::Cost {
            steps,
            asks_for_unique: false,
        };
        assert_eq!(weigh(cost(250), &large), Ok(()));
        let why = weigh(cost(10_000), &large).expect_err("too much");
        assert_eq!(
            why,
            "settings of 60008 bytes are over the limit of 1600 bytes for a schema of 10000 steps"
        );
        assert_eq!(weigh(cost(10_000), &settings(&json!({"a": "x"}))), Ok(()));
    }

    #[test]
    fn unique_elements_are_only_checked_in_short_arrays() {
        let cost = schema::Cost {
            steps: 1,
            asks_for_unique: true,
        };
        let of = |count| settings(&json!({"a": {"b": vec![1; count]}}));
        assert_eq!(weigh(cost, &of(UNIQUE_ITEMS_MAX)), Ok(()));
        weigh(cost, &of(UNIQUE_ITEMS_MAX + 1)).expect_err("each is compared with each");
    }
}
