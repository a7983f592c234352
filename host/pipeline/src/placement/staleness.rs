//! Staleness of a report, by its causes.

/// The causes for which a report may be out of date.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Staleness {
    /// The report comes from the store: the cluster has not reported since the start.
    is_remembered: bool,
    /// Since when the cluster cannot be reached.
    unreachable_since_ms: Option<i64>,
    /// Since when the cluster does not report on this app any more; for what the store remembers,
    /// since the start.
    silent_since_ms: Option<i64>,
}

impl Staleness {
    /// Since when the report may be out of date, whatever the cause.
    pub(super) fn since_ms(self) -> Option<i64> {
        let causes = [self.unreachable_since_ms, self.silent_since_ms];
        causes.into_iter().flatten().min()
    }

    /// Whether the report comes from the store.
    pub(super) fn is_remembered(self) -> bool {
        self.is_remembered
    }

    /// The report comes from the store. A cause that is known stays.
    pub(super) fn remember(&mut self) {
        self.is_remembered = true;
    }

    /// The cluster cannot be reached. Answers whether that is new.
    pub(super) fn unreachable(&mut self, now_ms: i64) -> bool {
        begin(&mut self.unreachable_since_ms, now_ms)
    }

    /// The cluster does not report on this app any more. Answers whether that is new.
    pub(super) fn silent(&mut self, now_ms: i64) -> bool {
        begin(&mut self.silent_since_ms, now_ms)
    }

    /// Everything the cluster has was reported. Answers whether that changes anything.
    pub(super) fn synced(&mut self, now_ms: i64) -> bool {
        let was_unreachable = self.unreachable_since_ms.take().is_some();
        let fell_silent = self.is_remembered && self.silent(now_ms);
        was_unreachable || fell_silent
    }
}

/// Notes since when something is so; answers whether it was not so before.
fn begin(since_ms: &mut Option<i64>, now_ms: i64) -> bool {
    let is_new = since_ms.is_none();
    since_ms.get_or_insert(now_ms);
    is_new
}
