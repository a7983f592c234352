//! The events that wait for one receiver, in order.

use std::collections::{BTreeMap, HashMap};

use crate::event::Event;
use crate::subject::Subject;

/// The events by their positions. The events of a subject are in the order of their sequence numbers.
#[derive(Debug)]
pub(crate) struct Queue {
    events: BTreeMap<u64, Event>,
    /// The positions of each subject, ascending.
    positions: HashMap<Subject, Vec<u64>>,
    /// Events up to this position were in a request that may have arrived. They are not merged.
    sent: Option<u64>,
    /// The position of the event with a mark [`Event::is_begun`] of this process, if the receiver certainly does not have
    /// the event. At most one event has such a mark.
    unsent: Option<u64>,
    max: usize,
}

/// A change of the queue that must be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueueChange {
    Put(u64),
    Removed(u64),
}

/// The result of adding an event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Pushed {
    pub(crate) changes: Vec<QueueChange>,
    /// Number of events that were merged into later ones.
    pub(crate) merged: u64,
}

impl Queue {
    /// An empty queue for at most `max` events.
    pub(crate) fn new(max: usize) -> Self {
        Self {
            events: BTreeMap::new(),
            positions: HashMap::new(),
            sent: None,
            unsent: None,
            max,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    /// Inserts an event that was removed, at its earlier position. False if the queue is full.
    pub(crate) fn put_back(&mut self, position: u64, event: Event) -> bool {
        let has_room = self.events.len() < self.max;
        if has_room {
            self.insert(position, event);
        }
        has_room
    }

    /// Marks an event: a request with it may begin. Another event loses its mark if no request with it began, because a
    /// resend has put this event before it.
    pub(crate) fn begin(&mut self, position: u64) -> Vec<QueueChange> {
        let mut changes: Vec<QueueChange> = self.unmark().into_iter().collect();
        if let Some(event) = self.events.get_mut(&position) {
            event.is_begun = true;
            self.unsent = Some(position);
            changes.push(QueueChange::Put(position));
        }
        changes
    }

    /// Removes the mark of this process, because the receiver certainly does not have the event. The mark of an event that
    /// the receiver may have remains.
    pub(crate) fn unmark(&mut self) -> Option<QueueChange> {
        let position = self.unsent.take()?;
        let event = self.events.get_mut(&position)?;
        event.is_begun = false;
        Some(QueueChange::Put(position))
    }

    /// Returns whether the receiver certainly does not have this marked event.
    pub(crate) fn is_unsent(&self, position: u64) -> bool {
        self.unsent == Some(position)
    }

    /// Notes that the receiver may have the marked event, because the request with the event had no answer.
    pub(crate) fn doubt(&mut self) {
        self.unsent = None;
    }

    pub(crate) fn get(&self, position: u64) -> Option<&Event> {
        self.events.get(&position)
    }

    /// The first events, with their positions.
    pub(crate) fn first(&self, count: usize) -> impl Iterator<Item = (u64, &Event)> {
        self.events
            .iter()
            .take(count)
            .map(|(position, event)| (*position, event))
    }

    /// Notes that the events up to a position are sent.
    pub(crate) fn send(&mut self, position: u64) {
        self.sent = self.sent.max(Some(position));
    }

    /// Removes an event.
    pub(crate) fn remove(&mut self, position: u64) -> Option<Event> {
        let event = self.events.remove(&position)?;
        self.unsent = self.unsent.filter(|unsent| *unsent != position);
        if let Some(positions) = self.positions.get_mut(&event.subject) {
            positions.retain(|other| *other != position);
            if positions.is_empty() {
                self.positions.remove(&event.subject);
            }
        }
        Some(event)
    }

    /// Inserts an event that was stored, at its position. False if a later event of its subject precedes it: the later
    /// event contains this event, and the caller removes this event from the store. Called in the order of the positions.
    pub(crate) fn restore(&mut self, position: u64, event: Event) -> bool {
        let positions = self.positions.get(&event.subject);
        let last = positions.and_then(|positions| self.events.get(positions.last()?));
        if last.is_some_and(|last| last.sequence >= event.sequence) {
            return false;
        }
        self.insert(position, event);
        true
    }

    /// Adds an event. If the queue is full, the events of its subject, or else of all subjects, are merged.
    ///
    /// # Errors
    /// The event, if the queue is full of events that cannot be merged. The caller tries again when an event was
    /// removed.
    pub(crate) fn push(&mut self, event: Event) -> Result<Pushed, Box<Event>> {
        let mut changes = Vec::new();
        let mut merged = 0;
        if self.events.len() >= self.max {
            let subject = event.subject.clone();
            if !self.mergeable(&subject).is_empty() {
                let merged = self.merge(&subject, Some(event), &mut changes);
                return Ok(Pushed { changes, merged });
            }
            merged = self.compact(&mut changes);
        }
        if self.events.len() >= self.max {
            return Err(Box::new(event));
        }
        let position = event.sequence;
        self.insert(position, event);
        changes.push(QueueChange::Put(position));
        Ok(Pushed { changes, merged })
    }

    /// Merges the events of each subject. Returns the number of events that were merged into later ones.
    fn compact(&mut self, changes: &mut Vec<QueueChange>) -> u64 {
        if self.positions.len() == self.events.len() {
            return 0;
        }
        let crowded = self
            .positions
            .iter()
            .filter(|(_, positions)| positions.len() > 1);
        let crowded: Vec<Subject> = crowded.map(|(subject, _)| subject.clone()).collect();
        let merged = crowded
            .iter()
            .map(|subject| self.merge(subject, None, changes));
        merged.sum()
    }

    /// The positions of the events of a subject that were not sent.
    fn mergeable(&self, subject: &Subject) -> Vec<u64> {
        let positions = self.positions.get(subject).into_iter().flatten().copied();
        positions
            .filter(|position| self.sent.is_none_or(|sent| *position > sent))
            .collect()
    }

    /// Merges the events of a subject that were not sent, and a newer one, at the position of the earliest.
    fn merge(
        &mut self,
        subject: &Subject,
        newer: Option<Event>,
        changes: &mut Vec<QueueChange>,
    ) -> u64 {
        let positions = self.mergeable(subject);
        let Some(first) = positions.first().copied() else {
            return 0;
        };
        let known: Vec<Event> = positions
            .iter()
            .filter_map(|position| self.remove(*position))
            .collect();
        let events = known.into_iter().chain(newer);
        let mut count: u64 = 0;
        let merged = events.inspect(|_| count += 1).reduce(Event::merged_into);
        if let Some(merged) = merged {
            self.insert(first, merged);
        }
        changes.push(QueueChange::Put(first));
        let later = positions.iter().skip(1);
        changes.extend(later.map(|position| QueueChange::Removed(*position)));
        count.saturating_sub(1)
    }

    fn insert(&mut self, position: u64, event: Event) {
        let positions = self.positions.entry(event.subject.clone()).or_default();
        let at = positions.partition_point(|other| *other < position);
        positions.insert(at, position);
        self.events.insert(position, event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Observed;

    fn event(sequence: u64, cluster: &str) -> Event {
        let subject = Subject::Connection(format!("p+{cluster}").parse().unwrap());
        let to = Observed {
            state: None,
            at_ms: i64::try_from(sequence).unwrap(),
            reason: "".into(),
            message: "".into(),
        };
        let mut event = Event::new("r", sequence, subject, None, to);
        event.from_at_ms = Some(event.to.at_ms - 1);
        event
    }

    fn queued(queue: &Queue) -> Vec<(u64, u64, u64)> {
        let events = queue.first(usize::MAX);
        events
            .map(|(position, event)| (position, event.sequence, event.merged))
            .collect()
    }

    #[test]
    fn events_of_a_subject_are_merged_only_when_the_queue_is_full() {
        let mut queue = Queue::new(3);
        for sequence in 1..=3 {
            let pushed = queue.push(event(sequence, "a")).unwrap();
            assert_eq!(pushed.merged, 0);
        }
        let pushed = queue.push(event(4, "a")).unwrap();
        assert_eq!(pushed.merged, 3);
        let expected = [
            QueueChange::Put(1),
            QueueChange::Removed(2),
            QueueChange::Removed(3),
        ];
        assert_eq!(pushed.changes, expected);
        assert_eq!(queued(&queue), [(1, 4, 3)]);
        let merged = queue.get(1).unwrap();
        assert_eq!((merged.from_at_ms, merged.to.at_ms), (Some(0), 4));
    }

    #[test]
    fn a_full_queue_merges_the_events_of_other_subjects() {
        let mut queue = Queue::new(3);
        for (sequence, cluster) in [(1, "a"), (2, "b"), (3, "a")] {
            queue.push(event(sequence, cluster)).unwrap();
        }
        let pushed = queue.push(event(4, "c")).unwrap();
        assert_eq!(pushed.merged, 1);
        assert_eq!(queued(&queue), [(1, 3, 1), (2, 2, 0), (4, 4, 0)]);
        let refused = queue.push(event(5, "d")).unwrap_err();
        assert_eq!(refused.sequence, 5);
        assert_eq!(queue.len(), 3);
        queue.remove(1).unwrap();
        queue.push(*refused).unwrap();
        assert_eq!(queued(&queue), [(2, 2, 0), (4, 4, 0), (5, 5, 0)]);
    }

    #[test]
    fn an_event_that_was_sent_is_not_merged() {
        let mut queue = Queue::new(2);
        queue.push(event(1, "a")).unwrap();
        queue.send(1);
        queue.push(event(2, "a")).unwrap();
        queue.push(event(3, "a")).unwrap();
        assert_eq!(queued(&queue), [(1, 1, 0), (2, 3, 1)]);
        queue.send(2);
        assert!(queue.push(event(4, "a")).is_err());
    }

    #[test]
    fn a_stored_event_that_was_merged_is_not_restored() {
        let mut queue = Queue::new(10);
        assert!(queue.restore(1, event(4, "a")));
        assert!(!queue.restore(2, event(2, "a")), "4 contains it");
        assert!(queue.restore(3, event(3, "b")));
        assert!(queue.restore(5, event(5, "a")));
        assert_eq!(queued(&queue), [(1, 4, 0), (3, 3, 0), (5, 5, 0)]);
    }
}
