//! The history of one application.

use std::collections::VecDeque;
use std::sync::Arc;

use kindsight_model::ClusterName;

use super::{ApplicationHistory, Recorded};
use crate::map::{Map, map_for};
use crate::transition::{ResourceId, Transition};

/// Maximum number of transitions of one resource, and of an application's own state. The oldest transitions
/// are dropped first.
pub const TRANSITIONS_OF_RESOURCE_MAX: usize = 20;

/// Maximum number of transitions of one application and all its resources. The oldest transitions are dropped
/// first.
pub const TRANSITIONS_OF_APPLICATION_MAX: usize = 2000;

/// The transitions of one application, oldest first.
#[derive(Debug)]
pub(crate) struct Bounded {
    transitions: VecDeque<Recorded>,
    /// Number of transitions by resource. The key `None` counts transitions of the application's own state.
    counts: Map<Option<Arc<ResourceId>>, usize>,
    /// The last transition of the application's own state, also after the history has dropped it.
    application: Option<Arc<Transition>>,
    dropped: u64,
    /// Time of the newest transition that was dropped as the oldest of all.
    dropped_until_ms: i64,
    bytes: usize,
}

impl Default for Bounded {
    fn default() -> Self {
        Self {
            transitions: VecDeque::new(),
            counts: map_for(0),
            application: None,
            dropped: 0,
            dropped_until_ms: i64::MIN,
            bytes: 0,
        }
    }
}

impl Bounded {
    /// Adds the newest transition, and drops old ones over the limits.
    pub(super) fn push(&mut self, recorded: Recorded) {
        let of = recorded.transition.resource.clone();
        if of.is_none() {
            self.application = Some(Arc::clone(&recorded.transition));
        }
        self.bytes += recorded.transition.bytes();
        self.transitions.push_back(recorded);
        let count = self.counts.entry(of.clone()).or_default();
        *count += 1;
        if *count > TRANSITIONS_OF_RESOURCE_MAX {
            let mut all = self.transitions.iter();
            let oldest = all.position(|recorded| recorded.transition.resource == of);
            self.drop_at(oldest.unwrap_or_default());
        }
        if self.transitions.len() > TRANSITIONS_OF_APPLICATION_MAX {
            self.drop_oldest();
        }
    }

    /// Adds the history from before the start.
    pub(super) fn restore(&mut self, history: ApplicationHistory) {
        self.dropped = self.dropped.saturating_add(history.dropped);
        for recorded in history.transitions {
            self.push(recorded);
        }
    }

    /// Replaces the history by its join with the history of another host. `last` is the last transition of the
    /// application's own state.
    pub(super) fn rejoin(&mut self, history: ApplicationHistory, last: Option<Arc<Transition>>) {
        *self = Self {
            application: last,
            dropped_until_ms: self.dropped_until_ms,
            ..Self::default()
        };
        self.restore(history);
    }

    /// Returns whether this history has dropped a transition of this time because it was too old. Two hosts with full
    /// histories would otherwise exchange such transitions without an end.
    pub(super) fn is_too_old(&self, at_ms: i64) -> bool {
        at_ms <= self.dropped_until_ms
    }

    /// A copy of the history.
    pub(crate) fn snapshot(&self) -> ApplicationHistory {
        ApplicationHistory {
            transitions: self.transitions.iter().cloned().collect(),
            dropped: self.dropped,
        }
    }

    /// Drops the oldest transition.
    pub(super) fn drop_oldest(&mut self) {
        if let Some(oldest) = self.transitions.front() {
            self.dropped_until_ms = self.dropped_until_ms.max(oldest.transition.at_ms);
        }
        self.drop_at(0);
    }

    fn drop_at(&mut self, at: usize) {
        if let Some(dropped) = self.transitions.remove(at) {
            self.dropped += 1;
            self.uncount(&dropped);
        }
    }

    fn uncount(&mut self, gone: &Recorded) {
        self.bytes = self.bytes.saturating_sub(gone.transition.bytes());
        if let Some(count) = self.counts.get_mut(&gone.transition.resource) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.counts.remove(&gone.transition.resource);
            }
        }
    }

    /// Drops all transitions.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Removes the transitions of resources in a cluster. They do not count as dropped.
    pub(super) fn forget_cluster(&mut self, cluster: &ClusterName) {
        let is_there = |recorded: &Recorded| {
            let resource = recorded.transition.resource.as_ref();
            resource.is_some_and(|resource| resource.cluster == *cluster)
        };
        let transitions = std::mem::take(&mut self.transitions);
        let (gone, kept): (VecDeque<_>, VecDeque<_>) = transitions.into_iter().partition(is_there);
        self.transitions = kept;
        for gone in gone {
            self.uncount(&gone);
        }
    }

    /// Sets the last transition of the application's own state of a history without transitions.
    pub(super) fn set_application(&mut self, last: Option<Arc<Transition>>) {
        self.application = last;
    }

    /// The transitions, oldest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Recorded> + ExactSizeIterator {
        self.transitions.iter()
    }

    /// The last transition of the application's own state.
    pub(crate) fn application(&self) -> Option<&Arc<Transition>> {
        self.application.as_ref()
    }

    /// Number of transitions that were dropped.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The memory that the transitions take, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The id of the oldest transition.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.transitions.front().map(|it| it.id)
    }
}
