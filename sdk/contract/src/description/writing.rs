//! Writes a description as JSON.

use super::{Description, HandledKind, Reason, State};
use crate::json::ObjectWriter;
use crate::relation::{self, RelatedRule};

impl Description {
    /// Writes the JSON text that [`Self::parse`] reads. Members with their default value are
    /// omitted.
    ///
    /// The text of `settings_schema` is inserted unchanged. If it is not JSON, the result is not
    /// JSON either.
    pub fn to_json(&self) -> String {
        let mut json = String::new();
        let mut object = ObjectWriter::begin(&mut json);
        object.text("name", &self.name);
        object.text("version", &self.version);
        object.text("summary", &self.summary);
        object.texts("requires", &self.requires);
        object.list("kinds", &self.kinds, write_kind);
        object.list("states", &self.states, write_state);
        object.list("reasons", &self.reasons, write_reason);
        if let Some(schema) = &self.settings_schema {
            object.key("settings-schema").push_str(schema);
        }
        object.end();
        json
    }
}

fn write_kind(kind: &HandledKind, to: &mut String) {
    let mut object = ObjectWriter::begin(to);
    relation::write_pattern(&kind.pattern, &mut object);
    if let Some(when) = &kind.when {
        object.text("when", when);
    }
    object.texts("fields", &kind.fields);
    if kind.uses_now {
        object.key("uses-now").push_str("true");
    }
    object.list("related", &kind.related, RelatedRule::write);
    object.end();
}

fn write_state(state: &State, to: &mut String) {
    let mut object = ObjectWriter::begin(to);
    object.text("name", &state.name);
    object.text("phase", state.phase.as_str());
    object.text("summary", &state.summary);
    if state.is_final {
        object.key("final").push_str("true");
    }
    object.end();
}

fn write_reason(reason: &Reason, to: &mut String) {
    let mut object = ObjectWriter::begin(to);
    object.text("name", &reason.name);
    object.text("summary", &reason.summary);
    if let Some(url) = &reason.help_url {
        object.text("help-url", url);
    }
    object.end();
}
