//! The queue: the wanted and the acknowledged content of each item, and the items whose update waits.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use kindsight_model::{ClusterName, DigName};
use tokio::time::Instant;

use crate::client::Failure;
use crate::health::Health;
use crate::item::{Content, ItemKey};
use crate::ledger::Entry;
use crate::limits::{ITEMS_MAX, REFUSED_RETRY_MAX, RETRY_MIN};
use crate::plan::{Plan, Planned};

/// All items of the inventory.
#[derive(Default)]
pub(crate) struct Queue {
    items: BTreeMap<ItemKey, Item>,
    by_application: BTreeMap<DigName, BTreeSet<ItemKey>>,
    /// Waiting items in the order of their updates. The number keeps the order of equal times.
    due: BTreeMap<(Instant, u64), ItemKey>,
    sequence: u64,
    refused: usize,
    left_off: BTreeMap<DigName, usize>,
}

/// One item.
#[derive(Default)]
struct Item {
    /// The plans that contain it.
    planned: BTreeMap<DigName, Planned>,
    /// The entry of the ledger.
    entry: Option<Entry>,
    due: Option<(Instant, u64)>,
    /// The number of refusals in succession.
    refusals: u32,
}

/// The update of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Job {
    pub(crate) key: ItemKey,
    pub(crate) action: Action,
    /// The entry that the ledger has.
    pub(crate) entry: Option<Entry>,
}

/// The effect of an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    /// Writes the content of this entry. The entry is written when A&AI acknowledged the content.
    Write(Box<Entry>),
    Remove,
}

impl Item {
    /// The content that the plans determine together: of a VNF, the worst state.
    fn wanted(&self) -> Option<&Content> {
        let contents = self.planned.values().filter_map(|it| it.content.as_ref());
        contents.reduce(|one, other| match (one, other) {
            (Content::Vnf { state: first }, Content::Vnf { state: second }) if second > first => {
                other
            }
            _ => one,
        })
    }

    /// The next update; `None` if A&AI has the wanted content.
    fn action(&self) -> Option<Action> {
        let Some((application, first)) = self.planned.first_key_value() else {
            return self.entry.as_ref().map(|_| Action::Remove);
        };
        let content = self.wanted()?;
        let acknowledged = self.entry.as_ref().and_then(|it| it.content.as_ref());
        (acknowledged != Some(content)).then(|| {
            Action::Write(Box::new(Entry {
                application: application.clone(),
                cluster: first.cluster.clone(),
                content: Some(content.clone()),
            }))
        })
    }
}

impl Queue {
    /// Adds the entries of the ledger. They are kept until a plan of their application is set. An item whose first write
    /// was not acknowledged waits for the plan, too.
    pub(crate) fn restore(&mut self, entries: Vec<(ItemKey, Entry)>) {
        for (key, entry) in entries {
            let planned = Planned {
                cluster: entry.cluster.clone(),
                content: entry.content.clone(),
            };
            let application = entry.application.clone();
            let keys = self.by_application.entry(application.clone()).or_default();
            keys.insert(key.clone());
            let item = self.items.entry(key).or_default();
            item.planned.insert(application, planned);
            item.entry = Some(entry);
        }
    }

    /// The applications with items, and the applications whose items are left off.
    pub(crate) fn applications(&self) -> impl Iterator<Item = &DigName> {
        self.by_application.keys().chain(self.left_off.keys())
    }

    /// The applications whose items are left off although there is room now.
    pub(crate) fn waiting_for_room(&self) -> impl Iterator<Item = &DigName> {
        let is_full = self.items.len() >= ITEMS_MAX;
        self.left_off.keys().filter(move |_| !is_full)
    }

    /// The applications with items in a cluster.
    pub(crate) fn applications_in(&self, cluster: &ClusterName) -> Vec<DigName> {
        let is_in = |key: &ItemKey, name: &DigName| {
            let planned = self.items.get(key).and_then(|it| it.planned.get(name));
            planned.is_some_and(|planned| planned.cluster.as_ref() == Some(cluster))
        };
        let applications = self.by_application.iter();
        let applications =
            applications.filter(|(name, keys)| keys.iter().any(|key| is_in(key, name)));
        applications.map(|(name, _)| name.clone()).collect()
    }

    /// The plan of an application that was set last, or its entries of the ledger.
    pub(crate) fn held(&self, name: &DigName) -> Plan {
        let keys = self.by_application.get(name).into_iter().flatten();
        let held = keys.filter_map(|key| {
            let planned = self.items.get(key)?.planned.get(name)?;
            Some((key.clone(), planned.clone()))
        });
        held.collect()
    }

    /// Sets the plan of an application. Items that changed are due at once.
    pub(crate) fn set(&mut self, name: &DigName, plan: Plan, now: Instant) {
        let before = self.by_application.remove(name).unwrap_or_default();
        let mut keys = BTreeSet::new();
        for key in before.iter().filter(|key| !plan.contains_key(*key)) {
            if let Some(item) = self.items.get_mut(key) {
                item.planned.remove(name);
            }
            self.schedule(key, now);
        }
        let mut left_off = 0;
        for (key, planned) in plan {
            if !self.items.contains_key(&key) && self.items.len() >= ITEMS_MAX {
                left_off += 1;
                continue;
            }
            let item = self.items.entry(key.clone()).or_default();
            let is_changed = item.planned.get(name) != Some(&planned);
            item.planned.insert(name.clone(), planned);
            if is_changed {
                self.schedule(&key, now);
            }
            keys.insert(key);
        }
        if !keys.is_empty() {
            self.by_application.insert(name.clone(), keys);
        }
        if left_off > 0 {
            self.left_off.insert(name.clone(), left_off);
        } else {
            self.left_off.remove(name);
        }
    }

    /// Puts an item into the order of updates if it needs an update, and forgets it if it needs none any more. An item
    /// that waits because of other content keeps its place, so that frequent changes do not delay it.
    fn schedule(&mut self, key: &ItemKey, at: Instant) {
        let Some(item) = self.items.get_mut(key) else {
            return;
        };
        let is_needed = item.action().is_some();
        if let Some(due) = item.due {
            if is_needed && due.0 <= at {
                return;
            }
            self.due.remove(&due);
            item.due = None;
        }
        if is_needed {
            self.sequence += 1;
            item.due = Some((at, self.sequence));
            self.due.insert((at, self.sequence), key.clone());
            return;
        }
        self.refused -= usize::from(item.refusals > 0);
        item.refusals = 0;
        if item.planned.is_empty() && item.entry.is_none() {
            self.items.remove(key);
        }
    }

    /// The time of the next update.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.due.keys().next().map(|(at, _)| *at)
    }

    /// Takes the next update that is due.
    pub(crate) fn take(&mut self, now: Instant) -> Option<Job> {
        let ((at, _), _) = self.due.first_key_value()?;
        if *at > now {
            return None;
        }
        let (_, key) = self.due.pop_first()?;
        let item = self.items.get_mut(&key)?;
        item.due = None;
        Some(Job {
            action: item.action()?,
            entry: item.entry.clone(),
            key,
        })
    }

    /// Notes the entry that the ledger has after an update, and its result. After an outage, the item is due at once,
    /// because the caller waits.
    pub(crate) fn done(
        &mut self,
        key: &ItemKey,
        entry: Option<Entry>,
        result: &Result<(), Failure>,
        now: Instant,
    ) {
        if entry.is_none() && !self.items.contains_key(key) {
            return;
        }
        // No plan may have the item any more. If the ledger has it, it is removed next.
        let item = self.items.entry(key.clone()).or_default();
        item.entry = entry;
        let was_refused = item.refusals > 0;
        let at = match result {
            Ok(()) => {
                self.refused -= usize::from(was_refused);
                item.refusals = 0;
                now
            }
            Err(Failure::Away { .. }) => now,
            Err(Failure::Refused(_)) => {
                self.refused += usize::from(!was_refused);
                item.refusals = item.refusals.saturating_add(1);
                now + refused_wait(item.refusals)
            }
        };
        self.schedule(key, at);
    }

    /// Passes the sizes to the metrics.
    pub(crate) fn report(&self, health: &Health) {
        let left_off = self.left_off.values().sum();
        health.set_sizes(self.items.len(), self.due.len(), self.refused, left_off);
        if self.refused == 0 {
            health.forget_refusal();
        }
    }
}

/// The wait after a number of refusals: doubled with each, up to a maximum.
fn refused_wait(refusals: u32) -> Duration {
    let doubled = RETRY_MIN.saturating_mul(2_u32.saturating_pow(refusals.saturating_sub(1)));
    doubled.min(REFUSED_RETRY_MAX)
}

#[cfg(test)]
mod tests;
