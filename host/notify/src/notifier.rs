//! The task that sends notifications.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kindsight_model::ClusterName;
use kindsight_outgoing::Destinations;
use kindsight_read_model::ReadModel;
use kindsight_store::{Entry, Error, Lease, Leased, Store, chain};
use tokio::sync::{mpsc, watch};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::handle::{Counts, Notifications, Resend};
use crate::keys::{PREFIX, receiver_of};
use crate::limits::{COMMANDS_MAX, LEASE_RETRY, RECEIVERS_MAX};
use crate::mailbox::Mailbox;
use crate::receiver::Receiver;
use crate::sender::{Sender, Sent};
use crate::settings::{ReceiverSettings, SettingsError};
use crate::unsaved::Unsaved;
use crate::worker::{End, Worker};

/// The name of the lease of the server that sends.
const LEASE: &str = "notify";

/// The receivers of a server, before the task begins.
pub struct Notifier {
    notifications: Notifications,
    read_model: ReadModel,
    /// The clusters that were not listed yet.
    unsynced: watch::Receiver<BTreeSet<ClusterName>>,
    senders: Vec<Sender>,
    results: mpsc::Receiver<Sent>,
    commands: mpsc::Receiver<Resend>,
    /// The number of leases so far.
    term: u64,
    /// The time, in Unix milliseconds.
    clock: fn() -> i64,
}

impl Notifier {
    /// Makes the receivers ready, and starts a thread for each. Reads the files of keys and TLS.
    ///
    /// `store` keeps the events. Nothing is sent while a cluster is in `unsynced`, because its applications are not known
    /// yet.
    ///
    /// # Errors
    /// See [`SettingsError`].
    pub fn new(
        mut settings: Vec<ReceiverSettings>,
        destinations: &Arc<Destinations>,
        store: Arc<dyn Store>,
        read_model: ReadModel,
        unsynced: watch::Receiver<BTreeSet<ClusterName>>,
        clock: fn() -> i64,
    ) -> Result<Self, SettingsError> {
        if settings.len() > RECEIVERS_MAX {
            return Err(SettingsError::TooMany(settings.len()));
        }
        settings.sort_by(|one, other| one.name.cmp(&other.name));
        let twice = settings
            .windows(2)
            .find(|pair| matches!(pair, [one, other] if one.name == other.name));
        if let Some([one, _]) = twice {
            return Err(SettingsError::Twice(one.name.clone()));
        }
        let mut receivers = Vec::new();
        for of_receiver in settings {
            let receiver = Arc::new(Receiver::new(of_receiver, destinations, clock)?);
            receivers.push((receiver, Arc::<Counts>::default()));
        }
        // Each receiver has at most one result at a time.
        let (sent, results) = mpsc::channel(RECEIVERS_MAX);
        let (command, commands) = mpsc::channel(COMMANDS_MAX);
        let senders = receivers
            .iter()
            .enumerate()
            .map(|(number, (receiver, _))| Sender::start(number, receiver, sent.clone()));
        Ok(Self {
            senders: senders.collect::<Result<_, _>>()?,
            notifications: Notifications {
                receivers: receivers.into(),
                store,
                sends: Arc::new(AtomicBool::new(false)),
                commands: command,
            },
            read_model,
            unsynced,
            results,
            commands,
            term: 0,
            clock,
        })
    }

    /// The receivers, for the REST API and for metrics.
    pub fn notifications(&self) -> Notifications {
        self.notifications.clone()
    }

    /// Sends notifications while this server has the lease, until `shutdown`. Failures of the store are logged, and tried
    /// again.
    ///
    /// # Errors
    /// None.
    pub async fn run(mut self, shutdown: CancellationToken) -> Result<(), Infallible> {
        let synced = self.unsynced.wait_for(BTreeSet::is_empty);
        // The sender of the clusters lives as long as the server.
        let _ = shutdown.run_until_cancelled(synced).await;
        while !shutdown.is_cancelled() && self.work(&shutdown).await != End::Stopped {
            self.notifications.sends.store(false, Ordering::Relaxed);
            // None at the stop.
            let _ = shutdown.run_until_cancelled(sleep(LEASE_RETRY)).await;
        }
        shutdown.cancelled().await;
        Ok(())
    }

    /// Takes the lease and sends until the lease ends, or until `shutdown`.
    async fn work(&mut self, shutdown: &CancellationToken) -> End {
        let store = Arc::clone(&self.notifications.store);
        let (lease, entries) = match spawn_blocking(move || begin(&store)).await {
            Ok(Ok(Some(begun))) => begun,
            Ok(Ok(None)) => return End::Elsewhere,
            Ok(Err(error)) => {
                let error = chain(&error);
                tracing::warn!(error, "notifications could not be loaded; trying again");
                return End::Elsewhere;
            }
            // A panic would happen again.
            Err(_) => return End::Stopped,
        };
        self.term += 1;
        let mut unsaved = Unsaved::default();
        let mailboxes = self.mailboxes(&entries, &mut unsaved);
        drop(entries);
        let worker = Worker {
            store: lease.fenced(&self.notifications.store),
            mailboxes,
            unsaved,
            batches: std::collections::VecDeque::new(),
            senders: &self.senders,
            results: &mut self.results,
            commands: &mut self.commands,
            read_model: &self.read_model,
            clock: self.clock,
            term: self.term,
            sends: &self.notifications.sends,
        };
        let end = worker.run(shutdown).await;
        drop(lease);
        end
    }

    /// The mailboxes from the stored entries. Removes the entries of receivers that are not configured any more.
    fn mailboxes(&self, entries: &[Entry], unsaved: &mut Unsaved) -> Vec<Mailbox> {
        let mut by_receiver: BTreeMap<&str, &[Entry]> = BTreeMap::new();
        for of_one in
            entries.chunk_by(|one, other| receiver_of(&one.key) == receiver_of(&other.key))
        {
            let name = of_one.first().and_then(|entry| receiver_of(&entry.key));
            by_receiver.insert(name.unwrap_or_default(), of_one);
        }
        let receivers = self.notifications.receivers.iter();
        let mailboxes = receivers.map(|(receiver, counts)| {
            let entries = by_receiver.remove(&*receiver.name).unwrap_or_default();
            let (receiver, counts) = (Arc::clone(receiver), Arc::clone(counts));
            Mailbox::load(receiver, counts, entries, Instant::now(), unsaved)
        });
        let mailboxes = mailboxes.collect();
        for (name, entries) in by_receiver {
            let count = entries.len();
            tracing::info!(
                receiver = name,
                count,
                "the stored notifications of a receiver that is not configured are removed"
            );
            for entry in entries {
                unsaved.delete(entry.key.clone());
            }
        }
        mailboxes
    }
}

/// Takes the lease and reads all stored entries; `None` if another server has the lease.
fn begin(store: &Arc<dyn Store>) -> Result<Option<(Lease, Vec<Entry>)>, Error> {
    match store.lease(LEASE)? {
        Leased::Held => Ok(None),
        Leased::Granted(lease) => Ok(Some((lease, store.range(PREFIX)?.entries))),
    }
}
