//! `[[interpreter]]` tables of the configuration file.

use std::str::FromStr;

use kindsight_model::InterpreterName;
use kindsight_server::SettingsByName;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Maximum number of tables: one for each name that a server can have.
const INTERPRETERS_MAX: usize = 1000;

/// One `[[interpreter]]` of the configuration file: the settings of an interpreter.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InterpreterTable {
    /// The name that the interpreter declares.
    name: InterpreterName,
    /// Its settings, without the defaults of its schema.
    settings: Map<String, Value>,
}

impl FromStr for InterpreterTable {
    type Err = String;

    /// Parses the JSON of a table.
    fn from_str(json: &str) -> Result<Self, String> {
        serde_json::from_str(json).map_err(|error| {
            let error = error.to_string();
            // The position in the JSON is not a position in the file.
            let text = error.split(" at line ").next().unwrap_or_default();
            format!("[[interpreter]]: {text}")
        })
    }
}

/// The settings of the tables, by name.
///
/// # Errors
/// A name has two tables, or there are too many tables.
pub(crate) fn interpreter_settings(tables: &[InterpreterTable]) -> anyhow::Result<SettingsByName> {
    anyhow::ensure!(
        tables.len() <= INTERPRETERS_MAX,
        "there are {} [[interpreter]] tables; at most {INTERPRETERS_MAX} are read",
        tables.len()
    );
    let mut settings = SettingsByName::new();
    for table in tables {
        let before = settings.insert(table.name.clone(), table.settings.clone());
        anyhow::ensure!(
            before.is_none(),
            "two [[interpreter]] tables have the name `{}`: remove one of them",
            table.name
        );
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(json: &str) -> Result<InterpreterTable, String> {
        json.parse()
    }

    #[test]
    fn a_table_has_the_settings_of_a_name() {
        let read = table(r#"{"name":"apps","settings":{"strict":true}}"#).unwrap();
        let settings = interpreter_settings(std::slice::from_ref(&read)).unwrap();
        let name: InterpreterName = "apps".parse().unwrap();
        assert_eq!(settings[&name]["strict"], true);
        let twice = interpreter_settings(&[read.clone(), read]).unwrap_err();
        let twice = twice.to_string();
        assert!(
            twice.contains("two [[interpreter]] tables have the name `apps`"),
            "{twice}"
        );
    }

    #[test]
    fn an_invalid_table_is_refused_with_its_problem() {
        for (json, part) in [
            (r#"{"settings":{}}"#, "missing field `name`"),
            (r#"{"name":"apps"}"#, "missing field `settings`"),
            (r#"{"name":"apps","settings":3}"#, "invalid type"),
            (r#"{"name":"a b","settings":{}}"#, "[[interpreter]]"),
            (
                r#"{"name":"apps","settings":{},"file":"a"}"#,
                "unknown field `file`",
            ),
        ] {
            let error = table(json).unwrap_err();
            assert!(
                error.contains(part) && error.contains("[[interpreter]]"),
                "{error}"
            );
        }
    }
}
