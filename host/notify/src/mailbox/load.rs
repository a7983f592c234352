//! The mailbox of the previous process, from the store.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use kindsight_store::Entry;
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use super::Mailbox;
use crate::backoff::Backoff;
use crate::event::{Event, Known};
use crate::handle::Counts;
use crate::keys::{self, Keys};
use crate::limits::QUEUE_MAX;
use crate::queue::Queue;
use crate::receiver::Receiver;
use crate::unsaved::Unsaved;

impl Mailbox {
    /// The mailbox with the stored entries of its receiver, in the order of their keys. An entry that cannot be read is
    /// removed.
    pub(crate) fn load(
        receiver: Arc<Receiver>,
        counts: Arc<Counts>,
        entries: &[Entry],
        now: Instant,
        unsaved: &mut Unsaved,
    ) -> Self {
        let mut mailbox = Self {
            keys: Keys::of(&receiver.name),
            receiver,
            known: HashMap::new(),
            candidates: HashMap::new(),
            due: BTreeMap::new(),
            next_candidate: 0,
            queue: Queue::new(QUEUE_MAX),
            late: BTreeMap::new(),
            sequence: 0,
            dead: VecDeque::new(),
            scope: None,
            has_left_out: false,
            in_flight: None,
            attempted: None,
            attempts: 0,
            backoff: Backoff::default(),
            paused_until: None,
            is_single: false,
            repeated: VecDeque::new(),
            repeat_at: now,
            counts,
        };
        for entry in entries {
            mailbox.restore(entry, unsaved);
        }
        mailbox.follow_events(unsaved);
        mailbox.counts.set_waiting(mailbox.queue.len());
        mailbox
    }

    fn restore(&mut self, entry: &Entry, unsaved: &mut Unsaved) {
        let is_kept = match self.keys.read(&entry.key) {
            Some(keys::Entry::Dead(position)) => {
                self.dead.push_back(position);
                true
            }
            Some(keys::Entry::Event(position)) => match read::<Event>(entry) {
                Some(event) => {
                    self.sequence = self.sequence.max(event.sequence);
                    self.queue.restore(position, event)
                }
                None => false,
            },
            Some(keys::Entry::Known) => match read::<Known>(entry) {
                Some(known) if self.receiver.filter.contains(&known.subject) => {
                    self.sequence = self.sequence.max(known.sequence);
                    self.known.insert(known.subject.clone(), known);
                    true
                }
                _ => false,
            },
            Some(keys::Entry::Scope) => {
                self.scope = read(entry);
                self.scope.is_some()
            }
            None => true,
        };
        if !is_kept {
            unsaved.delete(entry.key.clone());
        }
    }

    /// Sets the new states of the waiting events as known states. A kill may precede the write of these states.
    fn follow_events(&mut self, unsaved: &mut Unsaved) {
        let events: Vec<Event> = self
            .queue
            .first(usize::MAX)
            .map(|(_, event)| event.clone())
            .collect();
        for event in events {
            let known = self.known.get(&event.subject);
            let is_newer = known.is_none_or(|known| known.sequence < event.sequence);
            if is_newer && self.receiver.filter.contains(&event.subject) {
                self.learn(event.subject, event.to, event.sequence, unsaved);
            }
        }
    }
}

fn read<T: DeserializeOwned>(entry: &Entry) -> Option<T> {
    let read = serde_json::from_slice(&entry.value);
    read.inspect_err(|error| {
        tracing::error!(key = entry.key, %error, "a stored notification cannot be read; it is removed");
    })
    .ok()
}
