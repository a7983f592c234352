//! States that are known, and how they differ from those of one read.

use std::collections::{BTreeMap, BTreeSet};

use kindsight_model::{RecordSubject, StateInfo, StatesNews};

use crate::limits::CHANGES_MAX;

/// States by their subjects.
pub(crate) type States = BTreeMap<RecordSubject, StateInfo>;

/// The states that were told last.
#[derive(Debug, Default)]
pub(crate) struct KnownStates {
    /// None before the first read.
    states: Option<States>,
}

impl KnownStates {
    /// Returns whether everything was read once.
    pub(crate) fn is_known(&self) -> bool {
        self.states.is_some()
    }

    /// Takes over what was read, and returns the news in it. Those of `unreadable` stay as they were.
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
        let gone = known.keys().filter(|it| !read.contains_key(*it));
        let gone = gone.map(|it| StatesNews::Changed(it.clone(), None));
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
