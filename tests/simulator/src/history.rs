//! Versions of the objects of one cluster, as a store with several versions keeps them.
//!
//! Only changed objects have an entry. An object without an entry has its first version. Versions before the
//! compacted version are forgotten, except for the last version of each object.

use std::collections::{BTreeMap, VecDeque};

use tokio::sync::watch;

use crate::kinds::{Content, KINDS, KindId};
use crate::objects;
use crate::seed::Seed;

/// Version of the first objects. Their versions are lower than [`START`].
const FIRST: u64 = 100;
/// Number of different versions of objects that never changed.
const FIRST_SPREAD: u64 = 800;
/// Version of a cluster without changes.
const START: u64 = 1000;
/// Maximum number of events of a cluster. Half of them are compacted if there are more.
const EVENTS_MAX: usize = 20_000;

/// An object of a cluster: its Kind, and its number in the order of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ObjectId {
    pub(crate) kind: KindId,
    pub(crate) number: u32,
}

/// The state of an object between two changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct State {
    /// Version of the last change.
    pub(crate) version: u64,
    /// Number of changes of this object.
    pub(crate) revision: u32,
    /// Number of objects that had this name before.
    pub(crate) incarnation: u16,
    pub(crate) is_deleted: bool,
}

/// A change of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Its status changed.
    Status,
    Deleted,
    /// An object with the same name was created.
    Created,
}

/// The type of an event of a watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventType {
    Added,
    Modified,
    Deleted,
}

/// One change, as a watch reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) kind: EventType,
    pub(crate) number: u32,
    pub(crate) state: State,
}

/// A version that is older than the oldest kept event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Compacted;

/// The changes of one Kind.
#[derive(Debug, Default)]
struct KindHistory {
    /// States of changed objects, oldest first.
    changed: BTreeMap<u32, Vec<State>>,
    /// Versions and objects of the kept events, oldest first.
    events: VecDeque<(u64, u32)>,
    /// The version of the last event, for the watches. None before the first watch.
    newest: Option<watch::Sender<u64>>,
}

/// All versions of the objects of one cluster.
#[derive(Debug)]
pub(crate) struct History {
    seed: Seed,
    now: u64,
    compacted: u64,
    events: usize,
    by_kind: Vec<KindHistory>,
}

impl History {
    pub(crate) fn new(seed: Seed) -> Self {
        Self {
            seed,
            now: START,
            compacted: START,
            events: 0,
            by_kind: KINDS.iter().map(|_| KindHistory::default()).collect(),
        }
    }

    /// The version of the last change.
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// The oldest version whose successors are known.
    pub(crate) fn compacted(&self) -> u64 {
        self.compacted
    }

    /// The state of an object at a version; none if it did not exist then.
    pub(crate) fn at(&self, id: ObjectId, version: u64) -> Option<State> {
        if id.number >= objects::count(&self.seed, id.kind) {
            return None;
        }
        self.last(id, version).filter(|state| !state.is_deleted)
    }

    /// Changes an object. Returns the version of the change; none if the change is impossible.
    pub(crate) fn change(&mut self, id: ObjectId, change: Change) -> Option<u64> {
        if id.number >= objects::count(&self.seed, id.kind) {
            return None;
        }
        let before = self.last(id, self.now)?;
        if before.is_deleted != (change == Change::Created) {
            return None;
        }
        self.now += 1;
        let state = State {
            version: self.now,
            revision: match change {
                Change::Status => before.revision + 1,
                Change::Deleted => before.revision,
                Change::Created => 0,
            },
            incarnation: before.incarnation + u16::from(change == Change::Created),
            is_deleted: change == Change::Deleted,
        };
        let history = self.by_kind.get_mut(id.kind.0)?;
        history.changed.entry(id.number).or_default().push(state);
        history.events.push_back((self.now, id.number));
        if let Some(newest) = &history.newest {
            newest.send_replace(self.now);
        }
        self.events += 1;
        if self.events > EVENTS_MAX {
            self.compact(self.now - (EVENTS_MAX / 2) as u64);
        }
        Some(self.now)
    }

    /// At most `max` events of a Kind after a version, oldest first.
    pub(crate) fn events_after(
        &self,
        kind: KindId,
        version: u64,
        max: usize,
    ) -> Result<Vec<Event>, Compacted> {
        if version < self.compacted {
            return Err(Compacted);
        }
        let Some(history) = self.kind(kind) else {
            return Ok(Vec::new());
        };
        let begin = history.events.partition_point(|(at, _)| *at <= version);
        let after = history.events.iter().skip(begin).take(max);
        let events = after.filter_map(|(at, number)| self.event(kind, *at, *number));
        Ok(events.collect())
    }

    /// The version of the last event of a Kind, followed.
    pub(crate) fn newest(&mut self, kind: KindId) -> watch::Receiver<u64> {
        let now = self.now;
        let newest = &mut self.by_kind[kind.0].newest;
        let newest = newest.get_or_insert_with(|| watch::channel(now).0);
        newest.subscribe()
    }

    /// Forgets the events up to a version.
    pub(crate) fn compact(&mut self, version: u64) {
        self.compacted = self.compacted.max(version.min(self.now));
        let compacted = self.compacted;
        self.events = 0;
        for history in &mut self.by_kind {
            let old = history.events.partition_point(|(at, _)| *at <= compacted);
            for (_, number) in history.events.drain(..old) {
                if let Some(states) = history.changed.get_mut(&number) {
                    let old = states.partition_point(|state| state.version <= compacted);
                    states.drain(..old.saturating_sub(1));
                }
            }
            self.events += history.events.len();
        }
    }

    fn kind(&self, kind: KindId) -> Option<&KindHistory> {
        self.by_kind.get(kind.0)
    }

    fn event(&self, kind: KindId, version: u64, number: u32) -> Option<Event> {
        let id = ObjectId { kind, number };
        let state = self.last(id, version)?;
        let before = self.last(id, version - 1)?;
        let kind = match (before.is_deleted, state.is_deleted) {
            (_, true) => EventType::Deleted,
            (true, false) => EventType::Added,
            (false, false) => EventType::Modified,
        };
        Some(Event {
            kind,
            number,
            state,
        })
    }

    /// The last state up to a version, also of a deleted object.
    fn last(&self, id: ObjectId, version: u64) -> Option<State> {
        let changed = self.kind(id.kind)?.changed.get(&id.number);
        let states = changed.map_or(&[][..], Vec::as_slice);
        let upto = states.partition_point(|state| state.version <= version);
        let state = upto.checked_sub(1).and_then(|last| states.get(last));
        Some(state.copied().unwrap_or(State {
            version: FIRST + u64::from(id.number) % FIRST_SPREAD,
            revision: 0,
            incarnation: 0,
            is_deleted: false,
        }))
    }
}

/// The Kinds of objects whose status changes.
pub(crate) const CHANGING: [Content; 2] = [Content::Deployments, Content::Pods];

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(number: u32) -> ObjectId {
        let kind = KindId::of(Content::Pods);
        ObjectId { kind, number }
    }

    #[test]
    fn an_object_has_its_state_at_each_kept_version() {
        let mut history = History::new(Seed::new(0, 2));
        let first = history.now();
        let changed = history.change(pod(1), Change::Status).unwrap();
        let deleted = history.change(pod(1), Change::Deleted).unwrap();
        let created = history.change(pod(1), Change::Created).unwrap();
        let revision = |version| history.at(pod(1), version).map(|state| state.revision);
        assert_eq!(revision(first), Some(0));
        assert_eq!(revision(changed), Some(1));
        assert_eq!(revision(deleted), None);
        assert_eq!(revision(created), Some(0));
        let events = history.events_after(pod(0).kind, first, 10).unwrap();
        let types: Vec<EventType> = events.iter().map(|event| event.kind).collect();
        assert_eq!(
            types,
            [EventType::Modified, EventType::Deleted, EventType::Added]
        );
        assert_eq!(history.at(pod(4), created), None, "there are four Pods");
    }

    #[test]
    fn a_compacted_version_has_no_events_and_objects_keep_their_last_state() {
        let mut history = History::new(Seed::new(0, 2));
        let first = history.now();
        for _ in 0..5 {
            history.change(pod(2), Change::Status);
        }
        history.compact(history.now() - 1);
        assert_eq!(history.events_after(pod(0).kind, first, 10), Err(Compacted));
        let kept = history.events_after(pod(0).kind, history.compacted(), 10);
        assert_eq!(kept.map(|events| events.len()), Ok(1));
        let state = history.at(pod(2), history.now()).unwrap();
        assert_eq!((state.revision, state.version), (5, first + 5));
    }

    #[test]
    fn a_change_that_is_impossible_has_no_version() {
        let mut history = History::new(Seed::new(0, 1));
        assert_eq!(history.change(pod(0), Change::Created), None);
        assert_eq!(history.change(pod(9), Change::Status), None);
        assert!(history.change(pod(0), Change::Deleted).is_some());
        assert_eq!(history.change(pod(0), Change::Status), None);
    }
}
