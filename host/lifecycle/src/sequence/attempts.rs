//! Failed attempts to reach clusters.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kindsight_model::{ClusterName, ContextId};

use super::{Placement, Run};

/// A context, an app, and a cluster.
type Key = (ContextId, Arc<str>, ClusterName);

/// The number of failed attempts in succession to send or remove resources. In memory: after a restart, the counts begin
/// again. One entry for each app in an unreachable cluster.
#[derive(Clone, Default)]
pub(super) struct Attempts(Arc<Mutex<BTreeMap<Key, u32>>>);

impl Attempts {
    fn counts(&self) -> MutexGuard<'_, BTreeMap<Key, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets the attempts of a completed context.
    pub(super) fn forget(&self, context: &ContextId) {
        self.counts().retain(|(id, ..), _| id != context);
    }
}

impl Run<'_> {
    /// Counts a failed attempt. Returns whether it was the last permitted one.
    pub(super) fn attempt_failed(&self, placement: &Placement) -> bool {
        let Some(retries_max) = self.of.retries_max else {
            return false;
        };
        let mut counts = self.of.attempts.counts();
        let failed = counts.entry(self.attempts_of(placement)).or_default();
        *failed = failed.saturating_add(1);
        *failed > retries_max
    }

    /// Begins the count again.
    pub(super) fn attempt_succeeded(&self, placement: &Placement) {
        if self.of.retries_max.is_some() {
            let key = self.attempts_of(placement);
            self.of.attempts.counts().remove(&key);
        }
    }

    fn attempts_of(&self, placement: &Placement) -> Key {
        let target = &placement.target;
        let app = Arc::clone(&target.deployment.app);
        (self.work.context.clone(), app, target.cluster.clone())
    }
}
