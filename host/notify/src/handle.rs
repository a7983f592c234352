//! The answers about receivers, and commands for them.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use kindsight_api::notify::{
    DeadLetter, NotifyReceiver, NotifyReceiverList, NotifyRefusal, NotifyResend, NotifyTest,
};
use kindsight_model::SubjectSet;
use kindsight_store::{Store, chain};
use tokio::sync::mpsc;

use crate::event::{Event, GivenUp};
use crate::keys::{self, Keys};
use crate::limits::COMMAND_WAIT;
use crate::receiver::Receiver;

/// The counts of one receiver since the start, for answers and metrics.
#[derive(Debug, Default)]
pub struct Counts {
    waiting: AtomicUsize,
    delivered: AtomicU64,
    failed: AtomicU64,
    merged: AtomicU64,
    dead_letters: AtomicU64,
    /// The failure of the last request.
    error: Mutex<Option<String>>,
}

impl Counts {
    /// Events that wait for delivery by this server.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Events that were delivered.
    pub fn delivered(&self) -> u64 {
        self.delivered.load(Ordering::Relaxed)
    }

    /// Requests that failed.
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// Events that were merged into later events.
    pub fn merged(&self) -> u64 {
        self.merged.load(Ordering::Relaxed)
    }

    /// Events that were given up.
    pub fn dead_letters(&self) -> u64 {
        self.dead_letters.load(Ordering::Relaxed)
    }

    pub(crate) fn set_waiting(&self, count: usize) {
        self.waiting.store(count, Ordering::Relaxed);
    }

    pub(crate) fn add_delivered(&self, count: usize) {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        self.delivered.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn add_merged(&self, count: u64) {
        self.merged.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn add_dead_letter(&self) {
        self.dead_letters.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a failed request. Returns whether the request before succeeded.
    pub(crate) fn add_failed(&self, why: &str) -> bool {
        self.failed.fetch_add(1, Ordering::Relaxed);
        self.error().replace(why.to_owned()).is_none()
    }

    /// Notes a successful request. Returns whether the request before failed.
    pub(crate) fn succeed(&self) -> bool {
        self.error().take().is_some()
    }

    fn error(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A command for the worker: dead letters of a receiver become events again.
pub(crate) struct Resend {
    /// The number of the receiver.
    pub(crate) receiver: usize,
    /// The events with their positions.
    pub(crate) letters: Vec<(u64, Event)>,
    /// Gets the number of events that have room in the queue.
    pub(crate) answer: SyncSender<usize>,
}

/// The receivers of a server, for the REST API and for metrics. Clones share the receivers.
#[derive(Clone)]
pub struct Notifications {
    pub(crate) receivers: Arc<[(Arc<Receiver>, Arc<Counts>)]>,
    pub(crate) store: Arc<dyn Store>,
    /// True while this server has the lease and knows the present states.
    pub(crate) sends: Arc<AtomicBool>,
    pub(crate) commands: mpsc::Sender<Resend>,
}

impl Notifications {
    /// The receivers with their queues and dead letters in the store, for a reader who may see these subjects. A dead
    /// letter about another subject is left out. Blocks until the store answers.
    ///
    /// # Errors
    /// [`NotifyRefusal::Unavailable`] if the store does not answer.
    pub fn list(&self, visible: &SubjectSet) -> Result<NotifyReceiverList, NotifyRefusal> {
        let receivers = self.receivers.iter();
        let receivers =
            receivers.map(|(receiver, counts)| self.receiver(receiver, counts, visible));
        let receivers = receivers.collect::<kindsight_store::Result<Vec<_>>>();
        let receivers = receivers.map_err(|error| NotifyRefusal::Unavailable(chain(&error)))?;
        Ok(NotifyReceiverList { receivers })
    }

    /// Sends a test event to a receiver, also from a server that does not send. Blocks until the receiver answers, at
    /// most for its timeout. The event does not pass the queue, and it is not tried again.
    ///
    /// # Errors
    /// [`NotifyRefusal::NotFound`].
    pub fn test(&self, name: &str) -> Result<NotifyTest, NotifyRefusal> {
        let (_, receiver) = self.named(name)?;
        Ok(receiver.test())
    }

    /// Adds the dead letters of a receiver to its queue again. They keep their ids, and remain dead letters until the
    /// receiver accepts them. Blocks until the store and the worker answer.
    ///
    /// # Errors
    /// [`NotifyRefusal::NotFound`]; [`NotifyRefusal::NotSender`] if another server sends; [`NotifyRefusal::Unavailable`].
    pub fn resend(&self, name: &str) -> Result<NotifyResend, NotifyRefusal> {
        let (number, receiver) = self.named(name)?;
        if !self.sends.load(Ordering::Relaxed) {
            let why =
                "this server does not send: ask the server with `sends: true` in `GET /v2/notify`";
            return Err(NotifyRefusal::NotSender(why.to_owned()));
        }
        let keys = Keys::of(&receiver.name);
        let stored = self.store.range(&keys.dead_letters());
        let stored = stored.map_err(|error| NotifyRefusal::Unavailable(chain(&error)))?;
        let letters = stored.entries.iter().filter_map(|entry| {
            let Some(keys::Entry::Dead(position)) = keys.read(&entry.key) else {
                return None;
            };
            let letter = serde_json::from_slice::<GivenUp>(&entry.value).ok()?;
            Some((position, letter.event))
        });
        let letters: Vec<(u64, Event)> = letters.collect();
        let dead_letters = letters.len();
        let (answer, answers) = sync_channel(1);
        let command = Resend {
            receiver: number,
            letters,
            answer,
        };
        let busy = || {
            let why = "the sender of notifications does not answer";
            NotifyRefusal::Unavailable(why.to_owned())
        };
        self.commands.try_send(command).map_err(|_| busy())?;
        let queued = answers.recv_timeout(COMMAND_WAIT).map_err(|_| busy())?;
        Ok(NotifyResend {
            dead_letters,
            queued,
        })
    }

    /// The receiver with a name, and its number.
    fn named(&self, name: &str) -> Result<(usize, &Receiver), NotifyRefusal> {
        let receivers = self.receivers.iter().map(|(receiver, _)| &**receiver);
        let mut numbered = receivers.clone().enumerate();
        numbered
            .find(|(_, receiver)| receiver.name == name)
            .ok_or_else(|| {
                let known: Vec<String> = receivers
                    .map(|receiver| format!("`{}`", receiver.name))
                    .collect();
                NotifyRefusal::NotFound(format!("the receivers are {}", known.join(", ")))
            })
    }

    /// The counts of each receiver by its name.
    pub fn counts(&self) -> impl Iterator<Item = (&str, &Counts)> {
        self.receivers
            .iter()
            .map(|(receiver, counts)| (&*receiver.name, &**counts))
    }

    fn receiver(
        &self,
        receiver: &Receiver,
        counts: &Counts,
        visible: &SubjectSet,
    ) -> kindsight_store::Result<NotifyReceiver> {
        let keys = Keys::of(&receiver.name);
        let sends = self.sends.load(Ordering::Relaxed);
        // The store may still have events that were delivered half a second ago.
        let waiting = if sends {
            counts.waiting()
        } else {
            self.store.keys(&keys.events())?.keys.len()
        };
        let dead = self.store.range(&keys.dead_letters())?.entries;
        let dead = dead
            .iter()
            .filter_map(|entry| serde_json::from_slice::<GivenUp>(&entry.value).ok())
            .filter(|given_up| given_up.event.subject.is_in(visible));
        Ok(NotifyReceiver {
            name: receiver.name.clone(),
            format: receiver.format,
            transitions: receiver.filter.subjects.clone(),
            sends,
            waiting,
            delivered: counts.delivered(),
            failed: counts.failed(),
            merged: counts.merged(),
            error: counts.error().clone(),
            dead_letters: dead.map(dead_letter).collect(),
        })
    }
}

fn dead_letter(given_up: GivenUp) -> DeadLetter {
    let GivenUp {
        event,
        attempts,
        error,
    } = given_up;
    DeadLetter {
        id: event.id,
        subject: event.subject.to_string(),
        phase: event.to.state.map(|state| state.phase),
        at: jiff::Timestamp::from_millisecond(event.to.at_ms).ok(),
        attempts,
        error,
    }
}
