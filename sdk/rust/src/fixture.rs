//! Fixtures of an interpreter.

use kindsight_contract::json::write_string;
use kindsight_contract::time::rfc_3339;

/// An object and the expected verdict; the host checks it before the component goes live.
#[derive(Debug, Clone)]
pub struct Fixture {
    name: String,
    state: String,
    object: String,
    reason: Option<String>,
    now_ms: i64,
    settings: Option<String>,
}

impl Fixture {
    /// Creates a fixture with its name and the expected state.
    pub fn new(name: &str, state: &str) -> Self {
        Self {
            name: name.to_owned(),
            state: state.to_owned(),
            object: String::new(),
            reason: None,
            now_ms: 0,
            settings: None,
        }
    }

    /// Sets the whole object, as JSON text.
    #[must_use]
    pub fn object(mut self, json: &str) -> Self {
        json.clone_into(&mut self.object);
        self
    }

    /// Sets the expected reason.
    #[must_use]
    pub fn reason(mut self, reason: &str) -> Self {
        self.reason = Some(reason.to_owned());
        self
    }

    /// Sets the time of judging, in Unix milliseconds.
    #[must_use]
    pub fn now_ms(mut self, now_ms: i64) -> Self {
        self.now_ms = now_ms;
        self
    }

    /// Sets the settings, a JSON object.
    #[must_use]
    pub fn settings(mut self, json: &str) -> Self {
        self.settings = Some(json.to_owned());
        self
    }
}

/// The JSON text of the contract.
pub(crate) fn to_json(fixtures: &[Fixture]) -> String {
    let mut json = "[".to_owned();
    for (index, fixture) in fixtures.iter().enumerate() {
        json.push_str(if index > 0 {
            ",{\"name\":"
        } else {
            "{\"name\":"
        });
        write_string(&fixture.name, &mut json);
        json.push_str(",\"object\":");
        json.push_str(&fixture.object);
        if fixture.now_ms != 0 {
            json.push_str(",\"now\":");
            write_string(&rfc_3339(fixture.now_ms), &mut json);
        }
        if let Some(settings) = &fixture.settings {
            json.push_str(",\"settings\":");
            json.push_str(settings);
        }
        json.push_str(",\"expect\":{\"state\":");
        write_string(&fixture.state, &mut json);
        if let Some(reason) = &fixture.reason {
            json.push_str(",\"reason\":");
            write_string(reason, &mut json);
        }
        json.push_str("}}");
    }
    json.push(']');
    json
}
