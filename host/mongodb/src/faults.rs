//! Faults of documents, each told once.

use std::collections::BTreeMap;

use crate::limits::FAULTS_MAX;

/// The faults that were told last, by the name of what they are of.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    told: BTreeMap<String, String>,
    more: usize,
}

/// The faults of one read.
#[derive(Debug, Default)]
pub(crate) struct FoundFaults {
    found: BTreeMap<String, String>,
    more: usize,
}

impl FoundFaults {
    /// Adds a fault. Beyond [`FAULTS_MAX`] it is only counted.
    pub(crate) fn add(&mut self, name: String, reason: String) {
        if self.found.len() < FAULTS_MAX {
            self.found.insert(name, reason);
        } else {
            self.more = self.more.saturating_add(1);
        }
    }
}

impl Faults {
    /// Logs the faults that were not told yet. One that went and comes again is told again.
    pub(crate) fn tell(&mut self, now: FoundFaults) {
        for (name, reason) in &now.found {
            if self.told.get(name) != Some(reason) {
                tracing::warn!(name, reason, "a state in MongoDB is not wholly readable");
            }
        }
        if now.more > 0 && self.more == 0 {
            let more = now.more;
            tracing::warn!(more, "further states in MongoDB are not wholly readable");
        }
        self.told = now.found;
        self.more = now.more;
    }
}
