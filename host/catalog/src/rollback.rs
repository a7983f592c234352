//! Rollbacks of one entry, by an operator or by the circuit breaker.

use kindsight_model::Source;

use crate::state::{Entry, Version};

/// A rollback of one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rollback {
    /// The version that was rolled back.
    pub(crate) from: (Source, Version),
    /// The version that judges then.
    pub(crate) to: (Source, Version),
}

impl Entry {
    /// Rolls back the version that judges: to the previous version of its source, or else to the
    /// version of a lower source. Returns `None` if there is neither. The entry must then not be
    /// used any more.
    pub(crate) fn roll_back(&mut self, why: &str) -> Option<Rollback> {
        let of = |entry: &Self| {
            let (source, version) = entry.effective()?;
            Some((source, version.clone()))
        };
        let from = of(self)?;
        self.sources.get_mut(&from.0)?.roll_back(why);
        let to = of(self)?;
        Some(Rollback { from, to })
    }
}
