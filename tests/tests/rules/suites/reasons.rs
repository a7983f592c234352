//! Reasons of the verdicts that differ from the word of a suite.

use toml::{Table, Value};

use super::cases::Case;

/// A reason for several cases.
pub(super) struct Reason {
    suite: String,
    /// Ends of the names of the cases, or the whole name.
    ids: Vec<String>,
    /// The state of the verdicts; any other state is not explained.
    pub(super) says: String,
    /// Why the rule differs.
    pub(super) because: String,
}

impl Reason {
    /// # Panics
    /// If an entry lacks a member.
    pub(super) fn all() -> Vec<Self> {
        let table: Table = include_str!("reasons.toml").parse().expect("TOML");
        let entries = table.get("reason").and_then(Value::as_array).cloned();
        let entries = entries.unwrap_or_default().into_iter().map(|entry| {
            let text = |name: &str| entry[name].as_str().expect(name).to_owned();
            let ids = entry["ids"].as_array().expect("ids").iter();
            Self {
                suite: text("suite"),
                ids: ids
                    .map(|id| id.as_str().expect("an id").to_owned())
                    .collect(),
                says: text("says"),
                because: text("reason"),
            }
        });
        entries.collect()
    }

    /// Whether it explains this state of a case.
    pub(super) fn explains(&self, case: &Case, state: &str) -> bool {
        self.suite == case.suite
            && self.says == state
            && self.ids.iter().any(|id| case.id.ends_with(id.as_str()))
    }

    /// The names that no deviation has.
    pub(super) fn unneeded<'a>(&'a self, deviations: &[(&Case, String)]) -> Vec<&'a str> {
        let is_unneeded = |id: &&String| {
            !deviations.iter().any(|(case, state)| {
                self.suite == case.suite && self.says == *state && case.id.ends_with(id.as_str())
            })
        };
        self.ids
            .iter()
            .filter(is_unneeded)
            .map(String::as_str)
            .collect()
    }
}
