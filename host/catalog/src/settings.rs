//! Validation of settings by the schema their interpreter declares.
//!
//! Both come from outside: the schema from whoever wrote the component, the settings from a client.
//! [`schema`] bounds what a schema costs when the component is loaded; here the settings are weighed
//! by it. An outcome is remembered, so no command and no start validates the same again.

mod defaults;
pub(crate) mod schema;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use kindsight_interpreter::Interpreter;
use kindsight_model::Digest;
use serde_json::{Map, Value};

use crate::catalog::locked;

/// Problems that are reported; an operator mends those first.
const PROBLEMS_MAX: usize = 8;
/// Bytes of one problem that are reported: it may repeat a value of the settings.
const PROBLEM_BYTES_MAX: usize = 512;
/// Bytes of settings, as they are passed to every call.
const SETTINGS_BYTES_MAX: usize = 64 * 1024;
/// Steps of a schema times bytes of settings: the worst that validation does. A schema of 250 steps
/// takes the largest settings. A step at a byte takes some nanoseconds, and up to a hundred where a
/// pattern is matched state by state: a second or two at most.
const VALIDATION_STEPS_MAX: usize = 16_000_000;
/// Elements of an array where a schema asks for unique ones: each is compared with each.
const UNIQUE_ITEMS_MAX: usize = 1000;
/// Bytes of a compiled pattern: some thousand states.
const PATTERN_COMPILED_BYTES_MAX: usize = 64 * 1024;
/// Outcomes that are remembered: one for each name, and as many for those to come. They are forgotten
/// together.
const CHECKS_MAX: usize = 2000;

/// Outcomes of validation, by the digests of component and settings.
#[derive(Default)]
pub(crate) struct SettingsChecks {
    outcomes: Mutex<HashMap<(Digest, Digest), Result<(), String>>>,
}

impl SettingsChecks {
    /// The outcome for settings that were checked before.
    pub(crate) fn known(
        &self,
        interpreter: &Interpreter,
        settings: &Map<String, Value>,
    ) -> Option<Result<(), String>> {
        let outcomes = locked(&self.outcomes);
        outcomes.get(&key(interpreter, settings)).cloned()
    }

    /// Checks `settings` for this interpreter; the error lists what is wrong. Takes up to seconds where
    /// it was not checked before.
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

/// Settings as they are passed to every call: those of the operator with the defaults of the schema filled
/// in. None where neither says anything; and none without settings of an operator where the schema
/// requires some that it has no default for.
pub(crate) fn passed(
    interpreter: &Interpreter,
    settings: Option<&Map<String, Value>>,
) -> Option<Arc<str>> {
    let schema = interpreter.description().settings_schema.as_deref();
    // Most schemas have no default: there is nothing to be read then.
    let schema = schema.filter(|it| it.contains("\"default\""));
    let schema: Option<Value> = schema.and_then(|it| serde_json::from_str(it).ok());
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

/// Checks settings for an interpreter outside of a catalog; answers with their text as it is passed to every
/// call, with the defaults of the schema. Takes up to a second or two for the largest.
///
/// # Errors
/// Problem of the settings, or of the schema.
pub fn checked_settings(
    interpreter: &Interpreter,
    settings: Option<&Map<String, Value>>,
) -> Result<Option<Arc<str>>, String> {
    settings.map_or(Ok(()), |settings| check(interpreter, settings))?;
    Ok(passed(interpreter, settings))
}

/// Settings are checked with the defaults filled in, as they are passed.
///
/// Nothing that a schema refers to is fetched, and patterns run on an engine that does not backtrack.
fn check(interpreter: &Interpreter, settings: &Map<String, Value>) -> Result<(), String> {
    let Some(schema) = &interpreter.description().settings_schema else {
        return Err(format!("{interpreter:?} takes no settings"));
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
    // Telling what is wrong costs more than finding that something is.
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

/// Refuses settings that are too large, or too large for their schema.
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
            "an array has more than {UNIQUE_ITEMS_MAX} elements, which is the limit where the schema asks for unique ones"
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
    fn unique_elements_are_asked_of_short_arrays_alone() {
        let cost = schema::Cost {
            steps: 1,
            asks_for_unique: true,
        };
        let of = |count| settings(&json!({"a": {"b": vec![1; count]}}));
        assert_eq!(weigh(cost, &of(UNIQUE_ITEMS_MAX)), Ok(()));
        weigh(cost, &of(UNIQUE_ITEMS_MAX + 1)).expect_err("each is compared with each");
    }
}
