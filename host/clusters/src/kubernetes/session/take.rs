//! The news of watches, taken into the inventory.

use std::time::Duration;

use tokio::time::Instant;

use super::{Session, SessionEnd};
use crate::kubernetes::connection::ApiError;
use crate::kubernetes::kind_watch::{News, WatchNews};

/// Time from the news of a Kind that came or went until the Kinds are asked for: servers tell late.
const DISCOVER_AFTER: Duration = Duration::from_secs(1);

/// Kinds whose objects are Kinds.
const KINDS_OF_KINDS: [&str; 2] = ["CustomResourceDefinition", "APIService"];

impl Session {
    /// Takes in what a watch tells.
    pub(super) fn take(&mut self, news: WatchNews) -> Result<(), SessionEnd> {
        let WatchNews { watch, what } = news;
        let Some(state) = self.watches.get_mut(watch) else {
            // Of a Kind that is not served any more.
            return Ok(());
        };
        if KINDS_OF_KINDS.contains(&&*state.kind.gvk.kind)
            && matches!(what, News::Applied(_) | News::Deleted(_))
        {
            self.discover_at = self.discover_at.min(Instant::now() + DISCOVER_AFTER);
        }
        let pass = state.pass;
        match what {
            News::ListBegins(detail) => state.begin(detail),
            News::Listed(objects) => {
                for object in objects {
                    self.inventory.apply(watch, pass, object);
                }
            }
            News::ListEnds => {
                state.end();
                self.inventory.sweep(watch, pass);
            }
            News::Applied(object) => self.inventory.apply(watch, pass, *object),
            News::Deleted(object) => self.inventory.remove(watch, &object),
            News::Following => state.follow(),
            News::Failed(error @ ApiError::Unauthorized(_)) => {
                return Err(SessionEnd::Failed(error.to_string()));
            }
            News::Failed(error) => {
                if matches!(error, ApiError::NotFound(_)) {
                    // The Kind may have gone with its definition.
                    let soon = Instant::now() + DISCOVER_AFTER;
                    self.discover_at = self.discover_at.min(soon);
                }
                let told = error.to_string();
                if state.fail(error) {
                    tracing::debug!(cluster = %self.cluster.name, kind = %state.kind.gvk, told, "watch failed");
                }
            }
        }
        for wanted in self.inventory.take_wanted() {
            if let Some(state) = self.watches.get_mut(wanted) {
                state.ask_whole();
            }
        }
        Ok(())
    }
}
