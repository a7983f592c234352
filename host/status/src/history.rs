//! Histories: the transitions of each application, bounded.

mod answer;
mod bounded;
mod query;
mod replicated;
mod shared;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use kindsight_model::{ClusterName, ContextId, DigName};

use crate::transition::Transition;
pub(crate) use bounded::Bounded;

pub use answer::{HistoryAnswer, SelectedTransitions};
pub use bounded::{TRANSITIONS_OF_APPLICATION_MAX, TRANSITIONS_OF_RESOURCE_MAX};
pub use query::{HISTORY_LIMIT, HISTORY_LIMIT_MAX, HistoryQuery};
pub use replicated::{HistoryChange, HistoryPosition};

/// Maximum size of all transitions together, in bytes. The oldest transitions are dropped first.
pub const TRANSITIONS_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Identity of a recorded or found application.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ApplicationKey {
    /// A recorded application, by its `AppContext`.
    Context(ContextId),
    /// An application that was found in the clusters.
    Found(DigName),
}

impl ApplicationKey {
    /// The id of the context; `None` for a found application.
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

/// A transition with its id. Ids grow with time, across all applications.
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
///
/// `kindsight-read-model` keeps them beside the snapshot.
#[derive(Debug)]
pub struct Histories {
    of: HashMap<ApplicationKey, Bounded>,
    /// The oldest transition of each history, by its id, with the application. The first entry is the oldest
    /// transition of all.
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
    pub fn record(&mut self, of: &ApplicationKey, transitions: Vec<Transition>) {
        for transition in transitions {
            let id = self.next_id;
            self.next_id += 1;
            let transition = Arc::new(transition);
            self.change(of, |history| history.push(Recorded { id, transition }));
        }
        self.limit();
    }

    /// Restores the history of an application from before the start, unless the application already has one.
    pub fn restore(&mut self, of: &ApplicationKey, history: ApplicationHistory) {
        let ids = history.transitions.iter().map(|recorded| recorded.id);
        self.next_id = ids
            .map(|id| id.saturating_add(1))
            .fold(self.next_id, u64::max);
        self.change(of, |bounded| bounded.restore(history));
        self.limit();
    }

    /// Drops the histories of all other applications.
    pub fn retain(&mut self, is_kept: impl Fn(&ApplicationKey) -> bool) {
        let others = self.of.keys().filter(|application| !is_kept(application));
        let others: Vec<ApplicationKey> = others.cloned().collect();
        for of in &others {
            self.forget(of);
        }
    }

    /// Size of all transitions together, in bytes; at most [`TRANSITIONS_BYTES_MAX`].
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Drops the oldest transitions until the size is within the limit.
    fn limit(&mut self) {
        while self.bytes > self.bytes_max
            && let Some((_, of)) = self.oldest.first_key_value()
        {
            let of = of.clone();
            self.change(&of, Bounded::drop_oldest);
        }
    }

    /// Drops the transitions of an application.
    pub fn forget(&mut self, of: &ApplicationKey) {
        self.change(of, Bounded::clear);
        self.of.remove(of);
    }

    /// Drops the transitions of an application's resources in a cluster.
    pub fn forget_cluster(&mut self, of: &ApplicationKey, cluster: &ClusterName) {
        if self.of.contains_key(of) {
            self.change(of, |history| history.forget_cluster(cluster));
        }
    }

    /// A copy of the history of an application.
    pub fn history(&self, of: &ApplicationKey) -> Option<ApplicationHistory> {
        self.of(of).map(Bounded::snapshot)
    }

    /// The last transition of an application's own state.
    pub(crate) fn last_of_application(&self, of: &ApplicationKey) -> Option<Arc<Transition>> {
        self.of(of)?.application().cloned()
    }

    fn of(&self, of: &ApplicationKey) -> Option<&Bounded> {
        self.of.get(of)
    }

    /// Changes one history, and updates the totals.
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
