//! Failed attempts to reach clusters.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kindsight_model::{ClusterName, ContextId};

use super::{Placement, Run, Sequence};
use crate::work::Job;

/// A job, the context that it works on, an app, and a cluster.
type Key = (Job, ContextId, Arc<str>, ClusterName);

/// The number of failed attempts in succession to send or remove resources. In memory: after a restart, the counts begin
/// again. One entry for each app in an unreachable cluster.
#[derive(Clone, Default)]
pub(super) struct Attempts(Arc<Mutex<BTreeMap<Key, u32>>>);

impl Attempts {
    fn counts(&self) -> MutexGuard<'_, BTreeMap<Key, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn retain(&self, is_kept: impl Fn(&Job, &ContextId) -> bool) {
        self.counts().retain(|(job, id, ..), _| is_kept(job, id));
    }
}

impl Sequence {
    /// Forgets the failed attempts and the times of a job.
    pub(super) fn forget(&self, job: &Job) {
        self.retain_memory(|of, _| of != job);
    }

    /// Forgets the failed attempts and the times of a job in other contexts than this one: a later action replaced these
    /// contexts.
    pub(super) fn forget_other_contexts(&self, job: &Job, context: &ContextId) {
        self.retain_memory(|of, id| of != job || id == context);
    }

    fn retain_memory(&self, is_kept: impl Fn(&Job, &ContextId) -> bool) {
        self.attempts.retain(&is_kept);
        self.timers.retain(&is_kept);
    }

    /// The number of failed attempts and times in memory.
    #[cfg(test)]
    pub(crate) fn remembered(&self) -> usize {
        self.attempts.counts().len() + self.timers.count()
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
        let context = self.work.context.clone();
        (self.job.clone(), context, app, target.cluster.clone())
    }
}
