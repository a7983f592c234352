//! The work of the server that sends: one loop over changes, times and results.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kindsight_read_model::{ChangedSubjects, ReadModel, Subscription};
use kindsight_store::{Batch, Error, Store, chain};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::handle::Resend;
use crate::limits::{GATHER, LEASE_RETRY, REMOVAL_DELAY, STOP_WAIT};
use crate::mailbox::Mailbox;
use crate::observer::Observer;
use crate::receiver::Outcome;
use crate::sender::{Sender, Sent};
use crate::unsaved::Unsaved;

/// The reason why the work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Another server has the lease.
    Elsewhere,
    /// The server stops.
    Stopped,
}

/// The work with one lease.
pub(crate) struct Worker<'n> {
    /// The store, as long as the lease holds.
    pub(crate) store: Arc<dyn Store>,
    pub(crate) mailboxes: Vec<Mailbox>,
    pub(crate) unsaved: Unsaved,
    /// Batches that were not written because the store failed.
    pub(crate) batches: VecDeque<Batch>,
    pub(crate) senders: &'n [Sender],
    pub(crate) results: &'n mut mpsc::Receiver<Sent>,
    pub(crate) commands: &'n mut mpsc::Receiver<Resend>,
    pub(crate) read_model: &'n ReadModel,
    pub(crate) clock: fn() -> i64,
    /// The number of the lease.
    pub(crate) term: u64,
    /// Set once the present states are known.
    pub(crate) sends: &'n AtomicBool,
}

/// The next changes, with the subscription that reported them.
type Next = Pin<Box<dyn Future<Output = (Subscription, Option<ChangedSubjects>)> + Send>>;

/// Waits for changes. The future must not be dropped before it is ready, so it owns the subscription.
fn next(mut subscription: Subscription) -> Next {
    Box::pin(async move {
        let changed = subscription.gathered(GATHER).await;
        (subscription, changed)
    })
}

impl Worker<'_> {
    /// Works until the lease ends, or until `shutdown`.
    pub(crate) async fn run(mut self, shutdown: &CancellationToken) -> End {
        let (mut observer, subscription) = Observer::new(self.read_model, self.clock);
        let present = observer.observe(ChangedSubjects::All).await;
        let (now, now_ms) = (Instant::now(), (self.clock)());
        for mailbox in &mut self.mailboxes {
            mailbox.begin(&present, now, now_ms, &mut self.unsaved);
        }
        drop(present);
        let mut changes = next(subscription);
        // Set after a failure of the store.
        let mut retry_at = None;
        loop {
            let (now, now_ms) = (Instant::now(), (self.clock)());
            for mailbox in &mut self.mailboxes {
                mailbox.add_due(now, now_ms, &mut self.unsaved);
            }
            if retry_at.is_none_or(|at| at <= now) {
                retry_at = match self.save(now).await {
                    Ok(()) => {
                        self.sends.store(true, Ordering::Relaxed);
                        None
                    }
                    Err(Error::LeaseLost { .. }) => return End::Elsewhere,
                    Err(error) => {
                        let error = chain(&error);
                        tracing::warn!(error, "notifications could not be stored; trying again");
                        Some(Instant::now() + LEASE_RETRY)
                    }
                };
            }
            self.begin_requests(now, now_ms);
            let wake = self.wake_at(retry_at);
            let waiting = async {
                match wake {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = shutdown.cancelled() => {
                    self.finish().await;
                    return End::Stopped;
                }
                (subscription, changed) = &mut changes => {
                    let Some(changed) = changed else {
                        return End::Stopped;
                    };
                    changes = next(subscription);
                    let observed = observer.observe(changed).await;
                    let now = Instant::now();
                    for mailbox in &mut self.mailboxes {
                        for (subject, state) in &observed {
                            mailbox.observe(subject, state, now);
                        }
                    }
                }
                Some(sent) = self.results.recv() => self.sent(sent),
                Some(command) = self.commands.recv() => self.resend(command),
                () = waiting => {}
            }
        }
    }

    fn sent(&mut self, sent: Sent) {
        let mailbox = self.mailboxes.get_mut(sent.receiver);
        if let Some(mailbox) = mailbox.filter(|_| sent.term == self.term) {
            mailbox.sent(sent.outcome, Instant::now(), &mut self.unsaved);
        }
    }

    fn resend(&mut self, command: Resend) {
        let mailbox = self.mailboxes.get_mut(command.receiver);
        let added = mailbox.map(|mailbox| mailbox.resend(command.letters, &mut self.unsaved));
        // The caller may have stopped waiting.
        let _ = command.answer.try_send(added.unwrap_or_default());
    }

    /// Waits a moment for the running requests, and writes all changes. An event whose result is missing is sent again
    /// after the next start.
    async fn finish(&mut self) {
        let end = Instant::now() + STOP_WAIT;
        while self.mailboxes.iter().any(Mailbox::is_sending) {
            match timeout_at(end, self.results.recv()).await {
                Ok(Some(sent)) => self.sent(sent),
                _ => break,
            }
        }
        if let Err(error) = self.save(end + REMOVAL_DELAY).await {
            let error = chain(&error);
            tracing::warn!(error, "notifications could not be stored at the stop");
        }
    }

    /// Begins the requests of the receivers without one, if everything that they carry is in the store.
    fn begin_requests(&mut self, now: Instant, now_ms: i64) {
        if !self.batches.is_empty() || self.unsaved.has_values() {
            return;
        }
        for (mailbox, sender) in self.mailboxes.iter_mut().zip(self.senders) {
            if let Some(message) = mailbox.next_request(now, now_ms, &mut self.unsaved)
                && !sender.begin(self.term, message)
            {
                let why = "an earlier request has not ended".to_owned();
                let outcome = Outcome::Failed(why, None);
                mailbox.sent(outcome, now, &mut self.unsaved);
            }
        }
    }

    /// The time of the next step without a change or a result.
    fn wake_at(&self, retry_at: Option<Instant>) -> Option<Instant> {
        let save = match retry_at {
            Some(at) => Some(at),
            None => self.unsaved.due(),
        };
        let mailboxes = self.mailboxes.iter().filter_map(Mailbox::wake_at);
        // Requests wait for the store.
        let is_saved = retry_at.is_none();
        mailboxes.filter(|_| is_saved).chain(save).min()
    }

    /// Writes the changes that are due, in order. A batch is written again after a failure, also if it may have been
    /// applied: it sets the same values.
    async fn save(&mut self, now: Instant) -> Result<(), Error> {
        if self.batches.is_empty() && self.unsaved.due().is_none_or(|due| now < due) {
            return Ok(());
        }
        let batches = self.unsaved.take(&*self.store);
        self.batches.extend(batches);
        let (store, mut batches) = (Arc::clone(&self.store), std::mem::take(&mut self.batches));
        let saved = spawn_blocking(move || {
            while let Some(batch) = batches.front() {
                if let Err(error) = store.apply(batch) {
                    return (batches, Err(error));
                }
                batches.pop_front();
            }
            (batches, Ok(()))
        });
        match saved.await {
            Ok((rest, saved)) => {
                self.batches = rest;
                saved
            }
            Err(error) => Err(Error::Backend(Box::new(error))),
        }
    }
}
