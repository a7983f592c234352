//! All applications of the pipeline, with the times at which they change by themselves.

use std::collections::HashMap;

use kindsight_status::ApplicationKey;

use crate::application_state::ApplicationState;
use crate::due_queue::DueQueue;
use crate::shared::Shared;

/// All applications, by their keys.
#[derive(Default)]
pub(crate) struct Applications {
    by_key: HashMap<ApplicationKey, ApplicationState>,
    /// By the time at which verdicts are due for a recheck.
    rechecks: DueQueue,
    /// By the time at which an object is forgotten, or counts as gone.
    expiries: DueQueue,
}

impl Applications {
    pub(crate) fn get(&self, key: &ApplicationKey) -> Option<&ApplicationState> {
        self.by_key.get(key)
    }

    pub(crate) fn contains(&self, key: &ApplicationKey) -> bool {
        self.by_key.contains_key(key)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&ApplicationKey, &ApplicationState)> {
        self.by_key.iter()
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &ApplicationKey> {
        self.by_key.keys()
    }

    pub(crate) fn insert(
        &mut self,
        key: &ApplicationKey,
        state: ApplicationState,
        shared: &Shared,
    ) {
        self.by_key.insert(key.clone(), state);
        self.note_due(key, shared);
    }

    pub(crate) fn remove(&mut self, key: &ApplicationKey) -> Option<ApplicationState> {
        self.rechecks.set(key, None);
        self.expiries.set(key, None);
        self.by_key.remove(key)
    }

    /// Changes an application. None if it is not known.
    pub(crate) fn update<R>(
        &mut self,
        key: &ApplicationKey,
        shared: &Shared,
        change: impl FnOnce(&mut ApplicationState) -> R,
    ) -> Option<R> {
        let result = change(self.by_key.get_mut(key)?);
        self.note_due(key, shared);
        Some(result)
    }

    /// The applications whose verdicts are due for a recheck, in the order of their times.
    pub(crate) fn due_for_recheck(&self, now_ms: i64) -> Vec<ApplicationKey> {
        self.rechecks.due(now_ms)
    }

    /// The applications with an object that is due to be forgotten, or to count as gone.
    pub(crate) fn expired(&self, now_ms: i64) -> Vec<ApplicationKey> {
        self.expiries.due(now_ms)
    }

    /// When the first verdict is due for a recheck, in Unix milliseconds.
    pub(crate) fn recheck_at_ms(&self) -> Option<i64> {
        self.rechecks.next_ms()
    }

    /// When the first object is due to be forgotten, or to count as gone, in Unix milliseconds.
    pub(crate) fn expires_at_ms(&self) -> Option<i64> {
        self.expiries.next_ms()
    }

    fn note_due(&mut self, key: &ApplicationKey, shared: &Shared) {
        let state = self.by_key.get(key);
        let recheck_at_ms = state.and_then(ApplicationState::recheck_at_ms);
        let expires_at_ms = state.and_then(|state| state.expires_at_ms(shared.timeouts));
        self.rechecks.set(key, recheck_at_ms);
        self.expiries.set(key, expires_at_ms);
    }
}
