//! Staleness of a report, by its causes.

/// The causes for which a report may be out of date.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Staleness {
    /// The report comes from the store: the cluster has not reported since the start.
    is_remembered: bool,
    /// Time since when the cluster cannot be reached, in Unix milliseconds.
    unreachable_since_ms: Option<i64>,
    /// Time since when the cluster no longer reports on this app, in Unix milliseconds; for a report from
    /// the store, the first listing after the start.
    silent_since_ms: Option<i64>,
}

impl Staleness {
    /// Time since when the report may be out of date for any cause, in Unix milliseconds.
    pub(super) fn since_ms(self) -> Option<i64> {
        let causes = [self.unreachable_since_ms, self.silent_since_ms];
        causes.into_iter().flatten().min()
    }

    /// Returns whether the report comes from the store.
    pub(super) fn is_remembered(self) -> bool {
        self.is_remembered
    }

    /// Marks the report as one from the store. Known causes stay.
    pub(super) fn remember(&mut self) {
        self.is_remembered = true;
    }

    /// Marks the cluster as unreachable. Returns whether that is new.
    pub(super) fn unreachable(&mut self, now_ms: i64) -> bool {
        begin(&mut self.unreachable_since_ms, now_ms)
    }

    /// Marks the cluster as no longer reporting on this app. Returns whether that is new.
    pub(super) fn silent(&mut self, now_ms: i64) -> bool {
        begin(&mut self.silent_since_ms, now_ms)
    }

    /// Marks the cluster as listed in full. Returns whether that changes anything.
    pub(super) fn synced(&mut self, now_ms: i64) -> bool {
        let was_unreachable = self.unreachable_since_ms.take().is_some();
        let fell_silent = self.is_remembered && self.silent(now_ms);
        was_unreachable || fell_silent
    }
}

/// Sets the begin of a cause unless it is set. Returns whether it was not.
fn begin(since_ms: &mut Option<i64>, now_ms: i64) -> bool {
    let is_new = since_ms.is_none();
    since_ms.get_or_insert(now_ms);
    is_new
}
