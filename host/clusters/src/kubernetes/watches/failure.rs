//! Failures and refusals of a watch.

use tokio::time::Instant;

use super::{LOST, WatchState};
use crate::kubernetes::connection::ApiError;

impl WatchState {
    /// Notes that the watch failed. Returns whether the failure is new. A lost connection does not replace another
    /// failure: the events since that failure are unknown.
    pub(in crate::kubernetes) fn fail(&mut self, error: ApiError) -> bool {
        let is_new = self.failure.as_ref() != Some(&error);
        let is_unserved = matches!(error, ApiError::NotFound(_));
        let since = self.unserved_since.unwrap_or_else(Instant::now);
        self.unserved_since = is_unserved.then_some(since);
        self.refusal = None;
        if !self.is_disconnected() {
            if self.failure.is_some() && matches!(error, ApiError::Unreachable(_)) {
                return false;
            }
            self.kept_until = Some(Instant::now() + LOST);
        }
        self.failure = Some(error);
        is_new
    }

    /// Notes a refusal that no repeated request has confirmed yet. The watch keeps its previous state.
    pub(in crate::kubernetes) fn refuse(&mut self, error: ApiError) {
        self.refusal = Some(error);
    }
}
