//! Outages of the stores, and reading again after them.

use kindsight_store::{Connection, chain};

use super::{READ_AGAIN_MS, StoreReader};
use crate::Error;

impl StoreReader {
    /// Handles a change of the connection to the store of contexts. After an outage, everything is read again
    /// before the store counts as connected.
    pub(crate) fn connect(&mut self, connection: Connection, now_ms: i64) {
        match connection {
            Connection::Away { .. } => {
                self.contexts_again_at_ms = None;
                self.is_away = true;
                self.changes.connection = Some(connection);
            }
            Connection::Connected if self.is_away => self.reconnect(now_ms),
            Connection::Connected => {}
        }
    }

    pub(super) fn reconnect(&mut self, now_ms: i64) {
        self.contexts_again_at_ms = None;
        if let Err(error) = self.read_contexts(now_ms) {
            not_read_again(&error);
            self.contexts_again_at_ms = Some(now_ms.saturating_add(READ_AGAIN_MS));
            return;
        }
        self.is_away = false;
        self.changes.connection = Some(Connection::Connected);
    }

    /// Handles missed changes of contexts.
    pub(crate) fn resync_contexts(&mut self, now_ms: i64) {
        if let Err(error) = self.read_contexts(now_ms) {
            not_read_again(&error);
            self.lose_store(chain(&error), now_ms);
        }
    }

    /// Handles that the store could not be read although it is connected: it counts as away until everything was
    /// read again.
    pub(super) fn lose_store(&mut self, reason: String, now_ms: i64) {
        if !self.is_away {
            self.is_away = true;
            self.contexts_again_at_ms = Some(now_ms.saturating_add(READ_AGAIN_MS));
            let since_ms = u64::try_from(now_ms).unwrap_or_default();
            self.changes.connection = Some(Connection::Away { since_ms, reason });
        }
    }

    /// When a store is read again that could not be read, in Unix milliseconds.
    pub(crate) fn due_ms(&self) -> Option<i64> {
        let times = self.contexts_again_at_ms.into_iter();
        let times = times.chain(self.records_due_ms());
        times.chain(self.unread_due_ms()).min()
    }

    /// When contexts are read again. All are read again when the store is back.
    pub(super) fn unread_due_ms(&self) -> Option<i64> {
        let at = self.unread_again_at_ms;
        at.filter(|_| !self.is_away && !self.unread.is_empty())
    }

    /// When records are read again. Both may be in one store, so they wait while that store is away: a read without
    /// an answer delays everything else.
    pub(super) fn records_due_ms(&self) -> Option<i64> {
        self.records_again_at_ms.filter(|_| !self.is_away)
    }
}

fn not_read_again(error: &Error) {
    tracing::error!(
        error = chain(error),
        "the AppContexts cannot be read again; their last known state stays"
    );
}
