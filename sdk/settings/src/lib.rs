//! The settings of interpreters: their schema, its defaults, and the check of values.
//!
//! ```text
//! settings-schema ─▶ SettingsSchema::parse (cost, keywords, defaults) ─▶ SettingsSchema
//! values of an operator or a fixture ─▶ SettingsSchema::passed (adds the defaults) ─▶ SettingsCheck::check
//! ```
//!
//! Both are untrusted: the author of a component wrote the schema, and a client sent the values.
//! [`SettingsSchema::parse`] limits the cost of the schema. [`SettingsCheck::check`] limits the
//! values accordingly. References to other documents are never fetched, and patterns run on an
//! engine without backtracking.
//!
//! Host and test harness use the same code, so a fixture gets the same settings in both.
#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod cost;
mod defaults;
mod fixture;
mod weight;

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};

use cost::Cost;

pub use fixture::{FixtureSettings, fixture_settings};

/// Maximum number of problems that are reported.
const PROBLEMS_MAX: usize = 8;
/// Maximum length of one reported problem, in bytes, because it may repeat a value of the settings.
const PROBLEM_BYTES_MAX: usize = 512;
/// Maximum size of a compiled pattern, in bytes: some thousand states.
const PATTERN_COMPILED_BYTES_MAX: usize = 64 * 1024;

/// The settings schema of an interpreter, which was checked.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingsSchema {
    schema: Value,
    cost: Cost,
}

impl SettingsSchema {
    /// Parses and checks the text of a schema: its cost, its keywords and patterns, and whether
    /// each default that is filled in fits the schema of its own member. Called when a component is
    /// loaded. Takes some milliseconds.
    ///
    /// # Errors
    /// The problems, for the author, as one sentence that begins with `its settings-schema`.
    pub fn parse(schema: &str) -> Result<Self, String> {
        let parsed = Self::parse_unnamed(schema);
        parsed.map_err(|why| format!("its settings-schema: {why}"))
    }

    fn parse_unnamed(schema: &str) -> Result<Self, String> {
        let schema: Value = serde_json::from_str(schema).map_err(|error| error.to_string())?;
        let cost = cost::cost(&schema)?;
        let parsed = Self { schema, cost };
        let check = parsed.checking()?;
        check.defaults()?;
        Ok(parsed)
    }

    /// The check of settings by this schema. Takes up to some milliseconds, so callers that check
    /// many settings keep the check.
    ///
    /// # Errors
    /// The problem of the schema. A schema that was parsed has none.
    pub fn checking(&self) -> Result<SettingsCheck<'_>, String> {
        let patterns = PatternOptions::regex()
            .size_limit(PATTERN_COMPILED_BYTES_MAX)
            .dfa_size_limit(PATTERN_COMPILED_BYTES_MAX);
        let validator = jsonschema::options()
            .with_pattern_options(patterns)
            .build(&self.schema);
        let validator = validator.map_err(|error| problem(&error, "the settings-schema"))?;
        Ok(SettingsCheck {
            schema: self,
            validator,
        })
    }

    /// The settings that calls receive: the given settings with the defaults of the schema. Returns
    /// `None` if there are neither settings nor defaults, and if there are no settings but the
    /// schema requires a member without a default.
    pub fn passed(&self, settings: Option<&Map<String, Value>>) -> Option<Map<String, Value>> {
        match settings {
            Some(settings) => {
                let mut settings = settings.clone();
                defaults::fill(&self.schema, &mut settings);
                Some(settings)
            }
            None => defaults::filled(&self.schema),
        }
    }
}

/// The check of settings by a schema.
pub struct SettingsCheck<'s> {
    schema: &'s SettingsSchema,
    validator: Validator,
}

impl SettingsCheck<'_> {
    /// Checks settings with the defaults of the schema, as every call receives them. Takes up to
    /// about two seconds for the largest settings.
    ///
    /// # Errors
    /// The problems, at most 8, each with its place.
    pub fn check(&self, settings: &Map<String, Value>) -> Result<(), String> {
        let settings = self.schema.passed(Some(settings)).unwrap_or_default();
        weight::weigh(self.schema.cost, &settings)?;
        let settings = Value::Object(settings);
        // Listing the problems costs more than checking whether there are any.
        if self.validator.is_valid(&settings) {
            return Ok(());
        }
        let problems = self.validator.iter_errors(&settings).take(PROBLEMS_MAX);
        let problems: Vec<String> = problems
            .map(|error| problem(&error, "the settings"))
            .collect();
        Err(problems.join("; "))
    }

    /// Checks the defaults that [`SettingsSchema::passed`] adds. Only the default itself counts: a
    /// required member without a default is for the operator to give.
    fn defaults(&self) -> Result<(), String> {
        let (settings, places) = defaults::all(&self.schema.schema);
        if places.is_empty() {
            return Ok(());
        }
        weight::weigh(self.schema.cost, &settings)?;
        let settings = Value::Object(settings);
        let errors = self.validator.iter_errors(&settings);
        let errors = errors.filter(|error| {
            let place = error.instance_path().to_string();
            places.iter().any(|default| is_within(&place, default))
        });
        let problems: Vec<String> = errors
            .take(PROBLEMS_MAX)
            .map(|error| {
                format!(
                    "a default does not fit: {}",
                    problem(&error, "the settings")
                )
            })
            .collect();
        if problems.is_empty() {
            Ok(())
        } else {
            Err(problems.join("; "))
        }
    }
}

/// Returns whether a JSON pointer refers to a place or to a part of it.
fn is_within(pointer: &str, place: &str) -> bool {
    let rest = pointer.strip_prefix(place);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A problem with its place. `whole` is the name of the document, for problems at its root.
fn problem(error: &ValidationError<'_>, whole: &str) -> String {
    let place = error.instance_path().to_string();
    clip(&if place.is_empty() {
        format!("{error} in {whole}")
    } else {
        format!("{error} at `{place}`")
    })
}

fn clip(text: &str) -> String {
    let end = text.floor_char_boundary(PROBLEM_BYTES_MAX);
    match text.get(..end) {
        Some(begin) if begin.len() < text.len() => format!("{begin}…"),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
