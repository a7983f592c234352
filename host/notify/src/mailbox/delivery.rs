//! From events to requests, and from their results to the queue.

use tokio::time::Instant;

use super::Mailbox;
use crate::backoff::Backoff;
use crate::event::{Event, GivenUp, Known};
use crate::limits::{ALERTS_MAX, ATTEMPTS_MAX, DEAD_LETTERS_MAX, REPEAT, RETRY_AFTER_MAX};
use crate::message::{Message, events_max, is_problem, knows_ids};
use crate::receiver::Outcome;
use crate::unsaved::Unsaved;

/// The reason why an event is given up that an earlier process has begun to send.
const NOT_REPEATED: &str = "the server ended during a request with the event, so the receiver may have it; `at-most-once` does not repeat it";

/// The content of the running request.
#[derive(Debug)]
pub(super) enum InFlight {
    /// Events, by their positions.
    Events(Vec<u64>),
    /// Repeated alerts.
    Repeated,
}

impl Mailbox {
    /// The next request, if there is one and no request runs. Only called while all values are in the store. Without a
    /// request, `unsaved` may have a mark that must be stored first.
    pub(crate) fn next_request(
        &mut self,
        now: Instant,
        now_ms: i64,
        unsaved: &mut Unsaved,
    ) -> Option<Message> {
        if self.in_flight.is_some() || self.paused_until.is_some_and(|until| now < until) {
            return None;
        }
        if !knows_ids(self.receiver.format) {
            return self.next_marked(now_ms, unsaved);
        }
        self.next_events(now_ms)
            .or_else(|| self.next_repeated(now_ms))
    }

    /// Returns whether a request runs.
    pub(crate) fn is_sending(&self) -> bool {
        self.in_flight.is_some()
    }

    /// The time of the next event or request, if no change and no result precedes it.
    pub(crate) fn wake_at(&self) -> Option<Instant> {
        let due = self.due.first_key_value();
        let due = due.map(|((due, _), _)| *due);
        let repeat = Some(self.repeat_at).filter(|_| self.repeats());
        let has_events = self.queue.len() > 0;
        let paused = self.paused_until;
        let request = match (has_events, paused) {
            (true, until) => until,
            (false, Some(until)) => repeat.map(|at| at.max(until)),
            (false, None) => repeat,
        };
        let request = request.filter(|_| self.in_flight.is_none());
        due.into_iter().chain(request).min()
    }

    /// Takes the result of the running request.
    pub(crate) fn sent(&mut self, outcome: Outcome, now: Instant, unsaved: &mut Unsaved) {
        match self.in_flight.take() {
            Some(InFlight::Events(positions)) => {
                self.sent_events(&positions, outcome, now, unsaved);
            }
            Some(InFlight::Repeated) => match outcome {
                Outcome::Delivered => {
                    let sent = self.repeated.len().min(ALERTS_MAX);
                    self.repeated.drain(..sent);
                    self.succeeded();
                }
                Outcome::Refused(why) | Outcome::Uncertain(why) => self.failed(&why, None, now),
                Outcome::Failed(why, wait) => self.failed(&why, wait, now),
            },
            None => {}
        }
        self.counts.set_waiting(self.queue.len());
    }

    /// The request with the first events.
    fn next_events(&mut self, now_ms: i64) -> Option<Message> {
        let count = if self.is_single {
            1
        } else {
            events_max(self.receiver.format)
        };
        let first: Vec<(u64, &Event)> = self.queue.first(count).collect();
        let last = first.last()?.0;
        let events: Vec<&Event> = first.iter().map(|(_, event)| *event).collect();
        let message = self.receiver.message(&events, now_ms);
        let positions = first.iter().map(|(position, _)| *position).collect();
        self.queue.send(last);
        self.in_flight = Some(InFlight::Events(positions));
        Some(message)
    }

    /// The request with the first event, for a receiver that does not know ids. The event is marked in the store before the
    /// request, and loses the mark if the request certainly failed. So a process that finds the mark knows that the event
    /// may have arrived.
    fn next_marked(&mut self, now_ms: i64, unsaved: &mut Unsaved) -> Option<Message> {
        let (position, event) = self.queue.first(1).next()?;
        if !event.is_begun {
            for change in self.queue.begin(position) {
                self.store(change, unsaved);
            }
            return None;
        }
        let message = if self.queue.is_unsent(position) {
            self.receiver.message(&[event], now_ms)
        } else if self.receiver.at_most_once {
            self.give_up(&[position], NOT_REPEATED, unsaved);
            return None;
        } else {
            self.receiver.repetition(event, now_ms)
        };
        self.queue.send(position);
        self.in_flight = Some(InFlight::Events(vec![position]));
        Some(message)
    }

    /// Returns whether the format needs repetitions.
    fn repeats(&self) -> bool {
        events_max(self.receiver.format) > 1
    }

    /// Chooses the firing alerts that are repeated next, if it is time. A request follows a write, because a server
    /// that has lost the lease without noticing it must not repeat its old states.
    pub(super) fn choose_repeated(&mut self, now: Instant, unsaved: &mut Unsaved) {
        if !self.repeats() || !self.repeated.is_empty() || now < self.repeat_at {
            return;
        }
        self.repeat_at = now + REPEAT;
        let firing = self.known.values().filter(|known| self.is_firing(known));
        self.repeated = firing.map(|known| known.subject.clone()).collect();
        if !self.repeated.is_empty() {
            unsaved.put(self.keys.scope(), &self.scope);
        }
    }

    /// The request with the alerts that are repeated. No event waits.
    fn next_repeated(&mut self, now_ms: i64) -> Option<Message> {
        let next = self.repeated.iter().take(ALERTS_MAX);
        let known = next.filter_map(|subject| self.known.get(subject));
        let firing = known.filter(|known| self.is_firing(known));
        let events: Vec<Event> = firing.map(|known| self.repetition(known)).collect();
        if events.is_empty() {
            self.repeated.clear();
            return None;
        }
        let events: Vec<&Event> = events.iter().collect();
        let message = self.receiver.message(&events, now_ms);
        self.in_flight = Some(InFlight::Repeated);
        Some(message)
    }

    fn is_firing(&self, known: &Known) -> bool {
        let state = known.observed.state.as_ref();
        state.is_some_and(|state| is_problem(&self.receiver.phases, state.phase))
    }

    /// The last event of a subject again.
    fn repetition(&self, known: &Known) -> Event {
        let (subject, observed) = (known.subject.clone(), &known.observed);
        let (name, sequence) = (&self.receiver.name, known.sequence);
        Event::new(name, sequence, subject, Some(observed), observed.clone())
    }

    fn sent_events(
        &mut self,
        positions: &[u64],
        outcome: Outcome,
        now: Instant,
        unsaved: &mut Unsaved,
    ) {
        match outcome {
            Outcome::Delivered => {
                for position in positions {
                    self.queue.remove(*position);
                    unsaved.delete(self.keys.event(*position));
                    self.forget_dead(*position, unsaved);
                }
                self.counts.add_delivered(positions.len());
                self.try_late();
                self.succeeded();
            }
            Outcome::Refused(why) if positions.len() > 1 => {
                // The events that are not refused are delivered one by one.
                self.is_single = true;
                self.counts.add_failed(&why);
            }
            Outcome::Refused(why) => {
                self.count_attempt(positions);
                self.give_up(positions, &why, unsaved);
                self.failed(&why, None, now);
            }
            Outcome::Failed(why, wait) => {
                self.count_attempt(positions);
                if self.attempts >= ATTEMPTS_MAX {
                    self.give_up(positions, &why, unsaved);
                } else if let Some(change) = self.queue.unmark() {
                    self.store(change, unsaved);
                }
                self.failed(&why, wait, now);
            }
            Outcome::Uncertain(why) => {
                self.count_attempt(positions);
                self.queue.doubt();
                if self.attempts >= ATTEMPTS_MAX || self.receiver.at_most_once {
                    self.give_up(positions, &why, unsaved);
                }
                self.failed(&why, None, now);
            }
        }
    }

    /// Counts a failed request. A resend can put dead letters before the events of the running request, so the next request
    /// may begin with another event.
    fn count_attempt(&mut self, positions: &[u64]) {
        let first = positions.first().copied();
        if self.attempted != first {
            self.attempted = first;
            self.attempts = 0;
        }
        self.attempts += 1;
    }

    /// Removes the dead letter of an event that was sent again.
    fn forget_dead(&mut self, position: u64, unsaved: &mut Unsaved) {
        let before = self.dead.len();
        self.dead.retain(|dead| *dead != position);
        if self.dead.len() != before {
            unsaved.delete(self.keys.dead(position));
        }
    }

    fn succeeded(&mut self) {
        if self.counts.succeed() {
            tracing::info!(
                receiver = self.receiver.name,
                "the receiver accepts events again"
            );
        }
        self.attempts = 0;
        self.backoff = Backoff::default();
        self.paused_until = None;
        self.is_single = false;
    }

    /// Waits after a failed request. The log has one line for an outage.
    fn failed(&mut self, why: &str, wait: Option<std::time::Duration>, now: Instant) {
        if self.counts.add_failed(why) {
            tracing::warn!(
                receiver = self.receiver.name,
                why,
                "a notification was not accepted; trying again"
            );
        }
        self.repeated.clear();
        let wait = wait.unwrap_or_default().min(RETRY_AFTER_MAX);
        self.paused_until = Some(now + wait.max(self.backoff.next()));
    }

    /// Moves events to the dead letters.
    fn give_up(&mut self, positions: &[u64], why: &str, unsaved: &mut Unsaved) {
        for position in positions {
            let Some(event) = self.queue.remove(*position) else {
                continue;
            };
            tracing::error!(
                receiver = self.receiver.name,
                event = event.id,
                subject = %event.subject,
                why,
                "a notification was given up"
            );
            let given_up = GivenUp {
                event,
                attempts: self.attempts,
                error: why.to_owned(),
            };
            unsaved.put(self.keys.dead(*position), &given_up);
            unsaved.delete(self.keys.event(*position));
            self.dead.retain(|dead| dead != position);
            self.dead.push_back(*position);
            self.counts.add_dead_letter();
        }
        while self.dead.len() > DEAD_LETTERS_MAX {
            if let Some(oldest) = self.dead.pop_front() {
                unsaved.delete(self.keys.dead(oldest));
            }
        }
        self.attempts = 0;
        self.try_late();
    }
}
