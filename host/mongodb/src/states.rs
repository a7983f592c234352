//! The known states, and their differences from the states of one read.

use std::collections::{BTreeMap, BTreeSet};

use kindsight_model::{RecordSubject, StateInfo, StatesNews};

use crate::limits::CHANGES_MAX;

/// States by their subjects.
pub(crate) type States = BTreeMap<RecordSubject, StateInfo>;

/// The states that were sent last.
#[derive(Debug, Default)]
pub(crate) struct KnownStates {
    /// `None` before the first read.
    states: Option<States>,
}

impl KnownStates {
    /// Returns whether everything was read at least once.
    pub(crate) fn is_known(&self) -> bool {
        self.states.is_some()
    }

    /// Stores the states that were read, and returns the differences. The states of `unreadable`
    /// subjects are kept.
    pub(crate) fn take(
        &mut self,
        mut read: States,
        unreadable: &BTreeSet<RecordSubject>,
    ) -> Vec<StatesNews> {
        let Some(known) = &mut self.states else {
            self.states = Some(read.clone());
            return vec![StatesNews::All(read)];
        };
        for subject in unreadable {
            if let Some(state) = known.get(subject) {
                read.entry(subject.clone()).or_insert_with(|| state.clone());
            }
        }
        let gone = known.keys().filter(|subject| !read.contains_key(*subject));
        let gone = gone.map(|subject| StatesNews::Changed(subject.clone(), None));
        let changed = read
            .iter()
            .filter(|(subject, state)| known.get(*subject) != Some(*state));
        let changed = changed
            .map(|(subject, state)| StatesNews::Changed(subject.clone(), Some(state.clone())));
        let mut news: Vec<StatesNews> = gone
            .chain(changed)
            .take(CHANGES_MAX.saturating_add(1))
            .collect();
        if news.len() > CHANGES_MAX {
            news = vec![StatesNews::All(read.clone())];
        }
        *known = read;
        news
    }
}
