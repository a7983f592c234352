//! Histories: the transitions of each application, bounded.

mod answer;
mod bounded;
mod query;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use kindsight_model::{ClusterName, ContextId, DigName};

use crate::transition::Transition;
pub(crate) use bounded::Bounded;

pub use answer::HistoryAnswer;
pub use bounded::{TRANSITIONS_OF_APPLICATION_MAX, TRANSITIONS_OF_RESOURCE_MAX};
pub use query::{HISTORY_LIMIT, HISTORY_LIMIT_MAX, HistoryQuery};

/// Maximum size of all transitions together, in bytes; of more, the oldest is dropped.
pub const TRANSITIONS_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Identity of an application: as it was recorded, or as it was found.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ApplicationKey {
    /// One that is recorded, as an `AppContext`.
    Context(ContextId),
    /// One that was found in the clusters.
    Found(DigName),
}

impl ApplicationKey {
    /// The id of the context; none of an application that was found.
    pub fn context(&self) -> Option<&ContextId> {
        match self {
            Self::Context(id) => Some(id),
            Self::Found(_) => None,
        }
    }
}

impl fmt::Display for ApplicationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Context(id) => f.write_str(id.as_str()),
            Self::Found(name) => name.fmt(f),
        }
    }
}

/// A transition with its id, which grows with time over all applications.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The id.
    pub id: u64,
    /// The transition.
    pub transition: Arc<Transition>,
}

/// The history of one application.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApplicationHistory {
    /// Its transitions, oldest first.
    pub transitions: Vec<Recorded>,
    /// Number of transitions that were dropped.
    pub dropped: u64,
}

/// The transitions of all applications.
#[derive(Debug)]
pub(crate) struct Histories {
    of: HashMap<ApplicationKey, Bounded>,
    /// The application of the first transition of each history: the first of these is the oldest of all.
    oldest: BTreeMap<u64, ApplicationKey>,
    bytes: usize,
    bytes_max: usize,
    next_id: u64,
}

impl Default for Histories {
    fn default() -> Self {
        Self::limited(TRANSITIONS_BYTES_MAX)
    }
}

impl Histories {
    fn limited(bytes_max: usize) -> Self {
        Self {
            of: HashMap::new(),
            oldest: BTreeMap::new(),
            bytes: 0,
            bytes_max,
            next_id: 1,
        }
    }

    /// Adds transitions of an application, in their order.
    pub(crate) fn record(&mut self, of: &ApplicationKey, transitions: Vec<Transition>) {
        for transition in transitions {
            let id = self.next_id;
            self.next_id += 1;
            let transition = Arc::new(transition);
            self.change(of, |history| history.push(Recorded { id, transition }));
        }
        self.limit();
    }

    /// Adds the history of before the start, to that of an application that has none yet.
    pub(crate) fn restore(&mut self, of: &ApplicationKey, history: ApplicationHistory) {
        let ids = history.transitions.iter().map(|it| it.id);
        self.next_id = ids
            .map(|id| id.saturating_add(1))
            .fold(self.next_id, u64::max);
        self.change(of, |bounded| bounded.restore(history));
        self.limit();
    }

    /// Forgets the histories of all other applications.
    pub(crate) fn retain(&mut self, is_kept: impl Fn(&ApplicationKey) -> bool) {
        let others = self.of.keys().filter(|it| !is_kept(it));
        let others: Vec<ApplicationKey> = others.cloned().collect();
        for of in &others {
            self.forget(of);
        }
    }

    /// Drops the oldest of all, where they are too much.
    fn limit(&mut self) {
        while self.bytes > self.bytes_max
            && let Some((_, of)) = self.oldest.first_key_value()
        {
            let of = of.clone();
            self.change(&of, Bounded::drop_oldest);
        }
    }

    /// Forgets the transitions of an application.
    pub(crate) fn forget(&mut self, of: &ApplicationKey) {
        self.change(of, Bounded::clear);
        self.of.remove(of);
    }

    /// Forgets the transitions of resources in a cluster.
    pub(crate) fn forget_cluster(&mut self, of: &ApplicationKey, cluster: &ClusterName) {
        if self.of.contains_key(of) {
            self.change(of, |history| history.forget_cluster(cluster));
        }
    }

    /// The history of an application.
    pub(crate) fn of(&self, of: &ApplicationKey) -> Option<&Bounded> {
        self.of.get(of)
    }

    /// Changes one history, and counts what that changes of all.
    fn change(&mut self, of: &ApplicationKey, change: impl FnOnce(&mut Bounded)) {
        if !self.of.contains_key(of) {
            self.of.insert(of.clone(), Bounded::default());
        }
        let Some(history) = self.of.get_mut(of) else {
            return;
        };
        let (bytes, oldest) = (history.bytes(), history.oldest());
        change(history);
        self.bytes = self.bytes.saturating_sub(bytes) + history.bytes();
        if oldest != history.oldest() {
            if let Some(oldest) = oldest {
                self.oldest.remove(&oldest);
            }
            if let Some(oldest) = history.oldest() {
                self.oldest.insert(oldest, of.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests;
