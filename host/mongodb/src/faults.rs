//! Faults of documents. Each fault is logged once.

use std::collections::BTreeMap;

use crate::limits::FAULTS_MAX;

/// The faults that were logged last, by the name of the subject or document.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    logged: BTreeMap<String, String>,
    more: usize,
}

/// The faults of one read.
#[derive(Debug, Default)]
pub(crate) struct FoundFaults {
    found: BTreeMap<String, String>,
    more: usize,
}

impl FoundFaults {
    /// Adds a fault. Faults beyond [`FAULTS_MAX`] are only counted.
    pub(crate) fn add(&mut self, name: String, reason: String) {
        if self.found.len() < FAULTS_MAX {
            self.found.insert(name, reason);
        } else {
            self.more = self.more.saturating_add(1);
        }
    }
}

impl Faults {
    /// Logs the faults that were not logged before. A fault that disappeared and occurs again is
    /// logged again.
    pub(crate) fn log(&mut self, now: FoundFaults) {
        for (name, reason) in &now.found {
            if self.logged.get(name) != Some(reason) {
                tracing::warn!(name, reason, "part of a state in MongoDB cannot be read");
            }
        }
        if now.more > 0 && self.more == 0 {
            let more = now.more;
            tracing::warn!(more, "parts of more states in MongoDB cannot be read");
        }
        self.logged = now.found;
        self.more = now.more;
    }
}
