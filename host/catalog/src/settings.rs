//! Validation of settings by the schema their interpreter declares.

use kindsight_interpreter::Interpreter;
use serde_json::{Map, Value};

/// Problems that are reported; an operator mends those first.
const PROBLEMS_MAX: usize = 8;
/// Bytes of settings, as they are passed to every call.
const SETTINGS_BYTES_MAX: usize = 64 * 1024;

/// Checks `settings` for this interpreter; the error lists what is wrong.
///
/// Schemas come from whoever wrote the component: nothing they refer to is fetched, and patterns run
/// on an engine that does not backtrack.
pub(crate) fn check(
    interpreter: &Interpreter,
    settings: &Map<String, Value>,
) -> Result<(), String> {
    let Some(schema) = &interpreter.description().settings_schema else {
        return Err(format!("{interpreter:?} takes no settings"));
    };
    let bytes = serde_json::to_string(settings).map_or(usize::MAX, |text| text.len());
    if bytes > SETTINGS_BYTES_MAX {
        return Err(format!(
            "settings of {bytes} bytes are over the limit of {SETTINGS_BYTES_MAX} bytes"
        ));
    }
    let schema: Value = serde_json::from_str(schema).map_err(|error| error.to_string())?;
    let validator = jsonschema::options()
        .with_pattern_options(jsonschema::PatternOptions::regex())
        .build(&schema)
        .map_err(|error| format!("the schema of {interpreter:?} cannot be used: {error}"))?;
    let settings = Value::Object(settings.clone());
    let problems: Vec<String> = validator
        .iter_errors(&settings)
        .take(PROBLEMS_MAX)
        .map(|error| format!("{error} at `{}`", error.instance_path()))
        .collect();
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems.join("; "))
    }
}
