//! The mailbox of one receiver: from observed states to events.

mod delivery;
mod load;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use kindsight_status::PhaseState;
use tokio::time::Instant;

use crate::backoff::Backoff;
use crate::event::{Event, Known, Observed};
use crate::handle::Counts;
use crate::keys::Keys;
use crate::limits::{QUEUE_MAX, SUBJECTS_MAX};
use crate::queue::{Queue, QueueChange};
use crate::receiver::Receiver;
use crate::subject::Subject;
use crate::unsaved::Unsaved;
use delivery::InFlight;

/// Number of sequence numbers for each millisecond of the clock. So the numbers grow across restarts, also if the store
/// was lost.
const SEQUENCES_PER_MS: u64 = 1024;

/// The state of a receiver, in the memory of the server that sends. Each change is added to an [`Unsaved`].
pub(crate) struct Mailbox {
    receiver: Arc<Receiver>,
    keys: Keys,
    known: HashMap<Subject, Known>,
    /// States that differ from the known ones and have not become events.
    candidates: HashMap<Subject, Candidate>,
    /// The subjects of the candidates, by the time when they become events.
    due: BTreeMap<(Instant, u64), Subject>,
    next_candidate: u64,
    queue: Queue,
    /// The subjects of the candidates that are due and have no room in the queue. A newer state replaces them.
    late: BTreeMap<(Instant, u64), Subject>,
    /// The last sequence number.
    sequence: u64,
    /// The positions of the dead letters, oldest first.
    dead: VecDeque<u64>,
    /// The stored digest of the filter.
    scope: Option<String>,
    /// True after a subject was not followed because of the limit.
    has_left_out: bool,
    in_flight: Option<InFlight>,
    /// The position of the first event of the last failed request.
    attempted: Option<u64>,
    /// Number of failed requests with this event as the first one.
    attempts: u32,
    backoff: Backoff,
    paused_until: Option<Instant>,
    /// True if the next request has one event only, because a request with several was refused.
    is_single: bool,
    /// Firing alerts that are repeated next.
    repeated: VecDeque<Subject>,
    repeat_at: Instant,
    counts: Arc<Counts>,
}

/// A state that differs from the known one.
#[derive(Debug)]
struct Candidate {
    to: Observed,
    due: (Instant, u64),
}

impl Mailbox {
    /// Compares all present states with the known ones, after the start. Subjects that the receiver did not follow
    /// before become known without an event, so that a new receiver gets no event about each subject.
    pub(crate) fn begin(
        &mut self,
        present: &[(Subject, Observed)],
        now: Instant,
        now_ms: i64,
        unsaved: &mut Unsaved,
    ) {
        let digest = self.receiver.filter.digest();
        let is_followed = self.scope.as_ref() == Some(&digest);
        let mut seen = HashSet::new();
        for (subject, observed) in present {
            if !self.receiver.filter.contains(subject) {
                continue;
            }
            seen.insert(subject);
            if is_followed || self.known.contains_key(subject) {
                self.observe(subject, observed, now);
            } else if self.has_room_for(subject) {
                self.learn(subject.clone(), observed.clone(), 0, unsaved);
            }
        }
        let gone = self.known.keys().filter(|known| !seen.contains(known));
        let gone: Vec<Subject> = gone.cloned().collect();
        for subject in gone {
            self.observe(&subject, &Observed::gone(now_ms), now);
        }
        if !is_followed {
            unsaved.put(self.keys.scope(), &digest);
            self.scope = Some(digest);
        }
    }

    /// Takes a state that was observed. It becomes an event if it differs from the known state for the hold time.
    pub(crate) fn observe(&mut self, subject: &Subject, observed: &Observed, now: Instant) {
        if !self.receiver.filter.contains(subject) {
            return;
        }
        let known = self.known.get(subject);
        let known = known.and_then(|known| known.observed.state.as_ref());
        if known == observed.state.as_ref() {
            let withdrawn = self.withdraw(subject);
            self.count_late(withdrawn.as_ref(), now);
            return;
        }
        if let Some(candidate) = self.candidates.get_mut(subject)
            && candidate.to.state == observed.state
        {
            candidate.to.reason.clone_from(&observed.reason);
            candidate.to.message.clone_from(&observed.message);
            return;
        }
        if !self.has_room_for(subject) {
            return;
        }
        let replaced = self.withdraw(subject);
        self.count_late(replaced.as_ref(), now);
        self.next_candidate += 1;
        let due = (now + self.receiver.hold, self.next_candidate);
        self.due.insert(due, subject.clone());
        let to = observed.clone();
        self.candidates
            .insert(subject.clone(), Candidate { to, due });
    }

    /// Makes events of the states that have held for the hold time, as far as the queue has room.
    pub(crate) fn add_due(&mut self, now: Instant, now_ms: i64, unsaved: &mut Unsaved) {
        while let Some((due, subject)) = self.due.first_key_value()
            && due.0 <= now
        {
            let subject = subject.clone();
            let Some(candidate) = self.withdraw(&subject) else {
                break;
            };
            let known = self.known.get(&subject);
            let observed = known.map(|known| &known.observed);
            let from = observed.and_then(|observed| observed.state.as_ref());
            if !self.is_sent(from, candidate.to.state.as_ref()) {
                let sequence = known.map_or(0, |known| known.sequence);
                self.learn(subject, candidate.to, sequence, unsaved);
                continue;
            }
            let of_time = u64::try_from(now_ms).unwrap_or_default() * SEQUENCES_PER_MS;
            let sequence = of_time.max(self.sequence + 1);
            let name = &self.receiver.name;
            let to = candidate.to.clone();
            let event = Event::new(name, sequence, subject.clone(), observed, to);
            if let Ok(pushed) = self.queue.push(event) {
                self.sequence = sequence;
                self.counts.add_merged(pushed.merged);
                for change in pushed.changes {
                    self.store(change, unsaved);
                }
                self.learn(subject, candidate.to, sequence, unsaved);
            } else {
                self.late.insert(candidate.due, subject.clone());
                self.candidates.insert(subject, candidate);
            }
        }
        self.counts.set_waiting(self.queue.len());
        self.choose_repeated(now, unsaved);
    }

    /// Returns whether the receiver wants a transition.
    fn is_sent(&self, from: Option<&PhaseState>, to: Option<&PhaseState>) -> bool {
        let phases = &self.receiver.phases;
        let mut both = [from, to].into_iter().flatten();
        phases.is_empty() || both.any(|state| phases.contains(&state.phase))
    }

    /// Sets the known state of a subject.
    fn learn(
        &mut self,
        subject: Subject,
        observed: Observed,
        sequence: u64,
        unsaved: &mut Unsaved,
    ) {
        let key = self.keys.known(&subject);
        if observed.state.is_none() {
            unsaved.delete(key);
            self.known.remove(&subject);
            return;
        }
        let known = Known {
            subject: subject.clone(),
            observed,
            sequence,
        };
        unsaved.put(key, &known);
        self.known.insert(subject, known);
    }

    /// Removes a candidate.
    fn withdraw(&mut self, subject: &Subject) -> Option<Candidate> {
        let candidate = self.candidates.remove(subject)?;
        self.due.remove(&candidate.due);
        self.late.remove(&candidate.due);
        Some(candidate)
    }

    /// Counts a candidate that was withdrawn although it held for the hold time, because the queue had no room.
    fn count_late(&self, withdrawn: Option<&Candidate>, now: Instant) {
        if withdrawn.is_some_and(|candidate| candidate.due.0 <= now) {
            self.counts.add_merged(1);
        }
    }

    /// Tries late candidates again, as many as the queue has room for.
    fn try_late(&mut self) {
        let room = QUEUE_MAX.saturating_sub(self.queue.len());
        for _ in 0..room {
            let Some((due, subject)) = self.late.pop_first() else {
                break;
            };
            self.due.insert(due, subject);
        }
    }

    fn has_room_for(&mut self, subject: &Subject) -> bool {
        let is_followed = self.known.contains_key(subject) || self.candidates.contains_key(subject);
        if is_followed || self.known.len() + self.candidates.len() < SUBJECTS_MAX {
            return true;
        }
        if !self.has_left_out {
            self.has_left_out = true;
            let receiver = &*self.receiver.name;
            tracing::warn!(
                receiver,
                "more than {SUBJECTS_MAX} subjects match the patterns of the receiver; further subjects are not followed"
            );
        }
        false
    }

    /// Adds dead letters to the queue again, at their positions and with their ids. They remain dead letters until the
    /// receiver accepts them. Returns the number of added events; further events have no room.
    pub(crate) fn resend(&mut self, letters: Vec<(u64, Event)>, unsaved: &mut Unsaved) -> usize {
        let mut added = 0;
        for (position, event) in letters {
            let is_dead = self.dead.contains(&position);
            if !is_dead || self.queue.get(position).is_some() {
                continue;
            }
            let event = Event {
                is_begun: false,
                ..event
            };
            if !self.queue.put_back(position, event) {
                break;
            }
            self.store(QueueChange::Put(position), unsaved);
            added += 1;
        }
        self.counts.set_waiting(self.queue.len());
        added
    }

    /// Adds a change of the queue to the changes for the store.
    fn store(&self, change: QueueChange, unsaved: &mut Unsaved) {
        match change {
            QueueChange::Put(position) => {
                if let Some(event) = self.queue.get(position) {
                    unsaved.put(self.keys.event(position), event);
                }
            }
            QueueChange::Removed(position) => unsaved.delete(self.keys.event(position)),
        }
    }
}
