//! Examples an interpreter brings along.

use crate::bindings::exports::kindsight::interpreter::fixtures as wit;

/// An object and what is to be said of it; the host tries it before the component goes live.
#[derive(Debug, Clone)]
pub struct Fixture(pub(crate) wit::Fixture);

impl Fixture {
    /// What it shows, and the state that must come back.
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

    /// The whole object, as JSON text.
    #[must_use]
    pub fn object(mut self, json: &str) -> Self {
        json.clone_into(&mut self.0.object);
        self
    }

    /// The reason that must come back too.
    #[must_use]
    pub fn reason(mut self, reason: &str) -> Self {
        self.0.expected.reason = Some(reason.to_owned());
        self
    }

    /// Judged at this moment, in Unix milliseconds.
    #[must_use]
    pub fn now_ms(mut self, now_ms: i64) -> Self {
        self.0.now_ms = now_ms;
        self
    }

    /// Judged with these settings, a JSON object.
    #[must_use]
    pub fn settings(mut self, json: &str) -> Self {
        self.0.settings = Some(json.to_owned());
        self
    }

    /// A related object: `(group, version, kind)`, name, and the whole object as JSON text.
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
