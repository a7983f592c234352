//! Changes of a list of applications.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_api::applications::Application;
use kindsight_api::status::CompositeApp;
use kindsight_api::watch::{ApplicationsChange, GoneApplication};
use kindsight_model::DigName;

use crate::applications::{Applications, Listed};
use crate::store::StoreAway;
use crate::subject::Subject;

impl Applications {
    /// The change from an earlier answer to the same query; `None` if both answers are equal.
    ///
    /// An application that did not change costs two comparisons of pointers.
    pub fn change_since<'a>(&'a self, before: &'a Self) -> Option<ApplicationsChange<'a>> {
        let known: BTreeMap<&DigName, &Listed> = before.listed().collect();
        let mut change = ApplicationsChange {
            store: self.store.as_ref().map(StoreAway::shown),
            state_store: self.state_store.as_ref().map(StoreAway::shown),
            ..ApplicationsChange::default()
        };
        let mut there = BTreeSet::new();
        for (name, listed) in self.listed() {
            there.insert(name);
            let known = known.get(name).copied();
            if known.is_some_and(|known| known.subject.shares_all_with(&listed.subject)) {
                continue;
            }
            let was = known.and_then(|known| before.selected(known));
            match self.selected(listed) {
                is if is == was => {}
                Some(application) => change.applications.push(application),
                None => change.gone.extend(was.map(gone)),
            }
        }
        let left = before.listed().filter(|(name, _)| !there.contains(name));
        let left = left.filter_map(|(_, listed)| before.selected(listed));
        change.gone.extend(left.map(gone));
        let is_same = change.gone.is_empty()
            && change.applications.is_empty()
            && self.store == before.store
            && self.state_store == before.state_store;
        (!is_same).then_some(change)
    }
}

impl Subject {
    /// Returns whether both were read from the same state.
    fn shares_all_with(&self, other: &Self) -> bool {
        let is_same_context = match (&self.context, &other.context) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        is_same_context
            && self.instance == other.instance
            && (Arc::ptr_eq(&self.record, &other.record) || self.is_found())
    }
}

fn gone(application: Application<'_>) -> GoneApplication<'_> {
    GoneApplication {
        app: CompositeApp {
            profile: None,
            ..application.app
        },
        name: application.name,
    }
}
