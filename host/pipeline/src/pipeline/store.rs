//! The connection to the store of contexts.

use kindsight_status::{Staleness, StoreAway};
use kindsight_store::Connection;

use super::Pipeline;
use crate::placement::Placement;

/// Time after which a store that could not be read is read again, in milliseconds.
const READ_AGAIN_MS: i64 = 1000;

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
        if !self.read_again(now_ms) {
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
}
