//! The settings of a fixture, as a real call would receive them.

use serde_json::{Map, Value};

use crate::SettingsCheck;

/// The settings of one fixture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FixtureSettings {
    /// The text of the JSON object that the call receives, or `None` for a call without settings.
    Passed(Option<String>),
    /// The schema refuses the settings, so no interpreter is called with them. Contains the
    /// problem, for the author.
    Refused(String),
}

/// The settings of a fixture: its own settings with the defaults of the schema. `check` is `None`
/// if the interpreter declares no schema. Called for each fixture when a component is loaded, and
/// in tests of authors.
pub fn fixture_settings(
    check: Option<&SettingsCheck<'_>>,
    settings: Option<&str>,
) -> FixtureSettings {
    let parsed = match settings.map(serde_json::from_str::<Map<String, Value>>) {
        Some(Err(error)) => return FixtureSettings::Refused(format!("its settings: {error}")),
        Some(Ok(parsed)) => Some(parsed),
        None => None,
    };
    let Some(check) = check else {
        return match parsed {
            None => FixtureSettings::Passed(None),
            Some(_) => FixtureSettings::Refused(
                "it has settings, but the description declares no `settings-schema`".to_owned(),
            ),
        };
    };
    if let Some(Err(why)) = parsed.as_ref().map(|settings| check.check(settings)) {
        let why = format!("its settings do not fit the settings-schema: {why}");
        return FixtureSettings::Refused(why);
    }
    let passed = check.schema.passed(parsed.as_ref());
    FixtureSettings::Passed(passed.map(|passed| Value::Object(passed).to_string()))
}
