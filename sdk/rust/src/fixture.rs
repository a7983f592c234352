//! Fixtures of an interpreter.

use crate::bindings::exports::kindsight::interpreter::fixtures as wit;

/// An object and the expected verdict; the host checks it before the component goes live.
#[derive(Debug, Clone)]
pub struct Fixture(pub(crate) wit::Fixture);

impl Fixture {
    /// Creates a fixture with its name and the expected state.
    pub fn new(name: &str, state: &str) -> Self {
        Self(wit::Fixture {
            name: name.to_owned(),
            object: String::new(),
            related: Vec::new(),
            now_ms: 0,
            settings: None,
            expected: wit::Expectation {
                state: state.to_owned(),
                reason: None,
            },
        })
    }

    /// Sets the whole object, as JSON text.
    #[must_use]
    pub fn object(mut self, json: &str) -> Self {
        json.clone_into(&mut self.0.object);
        self
    }

    /// Sets the expected reason.
    #[must_use]
    pub fn reason(mut self, reason: &str) -> Self {
        self.0.expected.reason = Some(reason.to_owned());
        self
    }

    /// Sets the time of judging, in Unix milliseconds.
    #[must_use]
    pub fn now_ms(mut self, now_ms: i64) -> Self {
        self.0.now_ms = now_ms;
        self
    }

    /// Sets the settings, a JSON object.
    #[must_use]
    pub fn settings(mut self, json: &str) -> Self {
        self.0.settings = Some(json.to_owned());
        self
    }

    /// Adds a related object: `(group, version, kind)`, name, and the whole object as JSON text.
    #[must_use]
    pub fn related(mut self, gvk: (&str, &str, &str), name: &str, json: &str) -> Self {
        self.0.related.push(wit::RelatedObject {
            group: gvk.0.to_owned(),
            version: gvk.1.to_owned(),
            kind: gvk.2.to_owned(),
            namespace: String::new(),
            name: name.to_owned(),
            object: json.to_owned(),
        });
        self
    }
}
