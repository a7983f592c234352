//! The connection to the store of contexts.

use kindsight_model::ContextId;
use kindsight_status::{Staleness, StoreAway};
use kindsight_store::{Connection, chain};

use super::Pipeline;
use crate::placement::Placement;

/// Time after which a store that could not be read is read again, in milliseconds.
const READ_AGAIN_MS: i64 = 1000;

/// Time after which contexts are read again that could not be read while the store answered, in milliseconds:
/// most of them stay as they are until somebody mends them.
const UNREAD_AGAIN_MS: i64 = 60_000;

/// The line of the log about contexts that are read again later.
pub(super) const NOT_READ_AGAIN: &str =
    "the AppContexts cannot be read again; their last known state stays";

impl Pipeline {
    /// Handles that the store of contexts is away, or is reached again. What is known from it alone is stale
    /// meanwhile.
    pub(super) fn store_connection(&mut self, connection: &Connection, now_ms: i64) {
        match connection {
            Connection::Away { since_ms, reason } => {
                let since_ms = i64::try_from(*since_ms).unwrap_or(now_ms);
                self.store_is_away(since_ms, reason, now_ms);
            }
            Connection::Connected => self.store_is_back(now_ms),
        }
    }

    fn store_is_away(&mut self, since_ms: i64, reason: &str, now_ms: i64) {
        self.read_again_at_ms = None;
        tracing::warn!(
            reason,
            "the store of AppContexts is away; what was last read from it is shown"
        );
        let away = Staleness {
            since_ms,
            reason: format!("the store of AppContexts is away: {reason}").into(),
        };
        self.publisher.read_model().publish_store(Some(StoreAway {
            since_ms,
            reason: reason.into(),
        }));
        for (key, state) in &mut self.states {
            if key.context().is_some() && state.change_every(|it| it.store_away(&away)) {
                self.publisher.publish(key, state.view(key), now_ms);
            }
        }
        self.store_away = Some(away);
    }

    /// Reads what changed meanwhile before anything counts as current again.
    pub(super) fn store_is_back(&mut self, now_ms: i64) {
        self.read_again_at_ms = None;
        let Some(away) = self.store_away.take() else {
            return;
        };
        if let Err(error) = self.read_again(now_ms) {
            tracing::error!(error = chain(&error), "{NOT_READ_AGAIN}");
            self.store_away = Some(away);
            self.read_again_at_ms = Some(now_ms.saturating_add(READ_AGAIN_MS));
            return;
        }
        tracing::info!("the store of AppContexts is reached again");
        for (key, state) in &mut self.states {
            if key.context().is_some() && state.change_every(Placement::store_back) {
                self.publisher.publish(key, state.view(key), now_ms);
            }
        }
        self.publisher.read_model().publish_store(None);
    }

    /// Handles that a change could not be read from a store of contexts that is not told to be away: it counts
    /// as away until everything was read again.
    pub(super) fn store_unread(&mut self, reason: &str, now_ms: i64) {
        if self.store_away.is_none() {
            self.store_is_away(now_ms, reason, now_ms);
            self.read_again_at_ms = Some(now_ms.saturating_add(READ_AGAIN_MS));
        }
    }

    /// Notes a context that could not be read while the store answered.
    pub(super) fn context_unread(&mut self, id: &ContextId, now_ms: i64) {
        self.unread.insert(id.clone());
        let at = now_ms.saturating_add(UNREAD_AGAIN_MS);
        self.unread_again_at_ms.get_or_insert(at);
    }

    /// Handles that changes of records could not be read.
    pub(super) fn records_unread(&mut self, now_ms: i64) {
        self.records_again_at_ms = Some(now_ms.saturating_add(READ_AGAIN_MS));
    }

    /// Reads the stores again that could not be read and are due.
    pub(super) fn read_what_was_missed(&mut self, now_ms: i64) {
        if self.read_again_at_ms.is_some_and(|at| at <= now_ms) {
            self.store_is_back(now_ms);
        }
        let records = self.records_due_ms();
        if records.is_some_and(|at| at <= now_ms) {
            self.resync_records(now_ms);
        }
        if self.unread_due_ms().is_some_and(|at| at <= now_ms) {
            self.unread_again_at_ms = None;
            for id in std::mem::take(&mut self.unread) {
                self.refresh(&id, now_ms);
            }
        }
    }

    /// The time of the next such reading, in Unix milliseconds.
    pub(super) fn read_next_ms(&self) -> Option<i64> {
        let times = self.read_again_at_ms.into_iter();
        let times = times.chain(self.records_due_ms());
        times.chain(self.unread_due_ms()).min()
    }

    /// The time at which contexts are read again that could not be read. All are once the store is back.
    fn unread_due_ms(&self) -> Option<i64> {
        let at = self.unread_again_at_ms;
        at.filter(|_| self.store_away.is_none() && !self.unread.is_empty())
    }

    /// The time at which records are read again. Both may be in one store, so they wait while that is away: a
    /// read that gets no answer holds up everything else.
    fn records_due_ms(&self) -> Option<i64> {
        self.records_again_at_ms
            .filter(|_| self.store_away.is_none())
    }
}
