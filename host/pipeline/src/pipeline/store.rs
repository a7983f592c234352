//! The connection to the store of contexts.

use kindsight_status::{ApplicationKey, Staleness, StoreAway};

use super::Pipeline;
use crate::placement::Change;

impl Pipeline {
    /// Handles that the store of contexts is away. Data that only the store has is stale during the outage.
    pub(super) fn store_is_away(&mut self, since_ms: i64, reason: &str, now_ms: i64) {
        tracing::warn!(
            reason,
            "the store of AppContexts is away; what was last read from it is shown"
        );
        let away = Staleness {
            since_ms,
            reason: format!("the store of AppContexts is away: {reason}").into(),
        };
        self.publisher.publish_store(Some(StoreAway {
            since_ms,
            reason: reason.into(),
        }));
        self.change_recorded(|| Change::Store(Some(&away)), now_ms);
        self.store_away = Some(away);
    }

    /// Handles that the store of contexts is connected again, and that all its changes were handled.
    pub(super) fn store_is_back(&mut self, now_ms: i64) {
        if self.store_away.take().is_none() {
            return;
        }
        tracing::info!("the store of AppContexts is reached again");
        self.change_recorded(|| Change::Store(None), now_ms);
        self.publisher.publish_store(None);
    }

    /// Applies a change to every placement of a recorded application.
    fn change_recorded<'c>(&mut self, change: impl Fn() -> Change<'c>, now_ms: i64) {
        let keys = self.applications.keys();
        let keys = keys.filter(|key| key.context().is_some());
        for key in keys.cloned().collect::<Vec<ApplicationKey>>() {
            self.change_application(&key, |_| true, &change, now_ms);
        }
    }
}
