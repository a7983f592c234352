//! All applications of the pipeline, with the times at which they change by themselves.

use std::collections::HashMap;

use kindsight_status::ApplicationKey;

use crate::application_state::{ApplicationState, DueTimes};
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
        self.note_due(key, state.due(shared.timeouts));
        self.by_key.insert(key.clone(), state);
    }

    pub(crate) fn remove(&mut self, key: &ApplicationKey) -> Option<ApplicationState> {
        self.note_due(key, DueTimes::default());
        self.by_key.remove(key)
    }

    /// Changes an application. None if it is not known.
    pub(crate) fn update<R>(
        &mut self,
        key: &ApplicationKey,
        shared: &Shared,
        change: impl FnOnce(&mut ApplicationState) -> R,
    ) -> Option<R> {
        let state = self.by_key.get_mut(key)?;
        let result = change(state);
        let due = state.due(shared.timeouts);
        self.note_due(key, due);
        Some(result)
    }

    /// Notes the number of the last report on an application. Returns the number of the report before. None if the
    /// application is not known.
    pub(crate) fn note_report(&mut self, key: &ApplicationKey, number: u64) -> Option<u64> {
        let state = self.by_key.get_mut(key)?;
        Some(std::mem::replace(&mut state.last_report, number))
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

    fn note_due(&mut self, key: &ApplicationKey, due: DueTimes) {
        self.rechecks.set(key, due.recheck_at_ms);
        self.expiries.set(key, due.expires_at_ms);
    }
}
