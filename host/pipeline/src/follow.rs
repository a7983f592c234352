//! Following of the stores: the store reader applies their changes, and passes them to the pipeline.

use std::sync::Arc;
use std::time::Duration;

use kindsight_appcontext::{AppContextChanges, AppContextWatch, Error as ContextError};
use kindsight_store::{Connection, Error as StoreError, chain};
use tokio::sync::mpsc::Sender;
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::Error;
use crate::background_thread::BackgroundThread;
use crate::event::{Event, QueuedEvent};
use crate::run::RunError;
use crate::store_reader::{StoreChanges, StoreReader};

/// The time after a fault of a store until it is watched again.
const RETRY: Duration = Duration::from_secs(1);

/// The stores of a pipeline.
pub struct Stores {
    /// The reader that loaded them.
    pub reader: StoreReader,
    /// The connection to the store of the contexts.
    pub connection: watch::Receiver<Connection>,
    /// The time, in Unix milliseconds.
    pub clock: fn() -> i64,
}

/// Sends the changes of contexts and records after the load, and of the connection to the store of contexts, until
/// `shutdown` or until `events_tx` is closed.
///
/// A thread of its own applies the changes. While the pipeline handles the last [`Event::Stores`], further changes
/// are collected. After missed changes, everything is read again and compared.
///
/// # Errors
/// [`RunError`]: no further change is followed.
pub async fn follow(
    stores: Stores,
    events_tx: Sender<QueuedEvent>,
    shutdown: CancellationToken,
) -> Result<(), RunError> {
    let Stores {
        reader,
        connection,
        clock,
    } = stores;
    let thread = BackgroundThread::start("store reader").map_err(Error::from)?;
    let follower = Follower {
        contexts: Part::new("AppContexts", reader.watch_contexts()),
        records: Part::new("records", reader.watch_records()),
        connection: ConnectionChanges {
            connection,
            sent: Connection::Connected,
        },
        thread,
        clock,
        events_tx,
    };
    let following = follower.run(reader);
    shutdown
        .run_until_cancelled(following)
        .await
        .unwrap_or(Ok(()))
}

struct Follower {
    contexts: Part,
    records: Part,
    connection: ConnectionChanges,
    thread: BackgroundThread,
    clock: fn() -> i64,
    events_tx: Sender<QueuedEvent>,
}

impl Follower {
    async fn run(mut self, mut reader: StoreReader) -> Result<(), RunError> {
        let in_flight = Arc::new(Semaphore::new(1));
        loop {
            self.wait(reader.due_ms()).await;
            // Waits until the pipeline has handled the last changes.
            let Ok(permit) = Arc::clone(&in_flight).acquire_owned().await else {
                return Ok(());
            };
            let step = self.collect();
            let now_ms = (self.clock)();
            let done = self.thread.run(move || step.run(reader, now_ms));
            let done = done.await.ok_or(RunError::Panicked)?;
            reader = done.reader;
            self.contexts.restarted(done.contexts);
            self.records.restarted(done.records);
            if !done.changes.is_empty() {
                let event = Event::Stores(done.changes.permitted_by(permit));
                if self.events_tx.send(event.into()).await.is_err() {
                    return Ok(());
                }
            }
        }
    }

    /// Waits for a change, or until the reader reads again what it could not read.
    async fn wait(&mut self, due_ms: Option<i64>) {
        let due = due_ms.map_or(Duration::MAX, |at| {
            let wait = at.saturating_sub((self.clock)());
            Duration::from_millis(u64::try_from(wait).unwrap_or_default())
        });
        tokio::select! {
            () = self.contexts.wait() => {}
            () = self.records.wait() => {}
            () = self.connection.wait() => {}
            () = tokio::time::sleep(due) => {}
        }
    }

    /// Takes all changes that arrived.
    fn collect(&mut self) -> Step {
        self.contexts.collect();
        self.records.collect();
        Step {
            contexts: std::mem::take(&mut self.contexts.changes),
            records: std::mem::take(&mut self.records.changes),
            restarts_contexts: self.contexts.must_restart(),
            restarts_records: self.records.must_restart(),
            connection: self.connection.take(),
        }
    }
}

/// The changes that the reader applies in one step.
struct Step {
    contexts: Vec<AppContextChanges>,
    records: Vec<AppContextChanges>,
    /// Changes of contexts were missed.
    restarts_contexts: bool,
    /// Changes of records were missed.
    restarts_records: bool,
    connection: Option<Connection>,
}

type Watched = Result<AppContextWatch, ContextError>;

/// A step that is done.
struct Done {
    reader: StoreReader,
    changes: StoreChanges,
    contexts: Option<Watched>,
    records: Option<Watched>,
}

impl Step {
    /// Blocks while the stores are read.
    fn run(self, mut reader: StoreReader, now_ms: i64) -> Done {
        for changes in &self.contexts {
            reader.take_contexts(changes);
        }
        for changes in &self.records {
            reader.take_records(changes, now_ms);
        }
        if let Some(connection) = self.connection {
            reader.connect(connection, now_ms);
        }
        let contexts = self.restarts_contexts;
        let contexts = contexts.then(|| reader.restart_contexts(now_ms));
        let records = self.restarts_records;
        let records = records.then(|| reader.restart_records(now_ms));
        Done {
            changes: reader.changes(now_ms),
            reader,
            contexts,
            records,
        }
    }
}

/// A part of the stores with a watch of its own.
struct Part {
    name: &'static str,
    watch: Watch,
    changes: Vec<AppContextChanges>,
}

enum Watch {
    Watching(AppContextWatch),
    /// Changes were missed. A new watch begins at this time.
    Lost(Instant),
}

impl Part {
    fn new(name: &'static str, watched: Watched) -> Self {
        let mut part = Self {
            name,
            watch: Watch::Lost(Instant::now()),
            changes: Vec::new(),
        };
        part.restarted(Some(watched));
        part
    }

    /// Waits for a change, or until a new watch is to begin. Cancelling loses no change.
    async fn wait(&mut self) {
        let next = match &mut self.watch {
            Watch::Watching(watch) => watch.next().await,
            Watch::Lost(until) => return sleep_until(*until).await,
        };
        match next {
            Ok(changes) => self.changes.push(changes),
            Err(error) => self.lost(&error),
        }
    }

    /// Takes the changes that arrived.
    fn collect(&mut self) {
        while let Watch::Watching(watch) = &mut self.watch {
            match watch.try_next() {
                Ok(Some(changes)) => self.changes.push(changes),
                Ok(None) => return,
                Err(error) => self.lost(&error),
            }
        }
    }

    fn must_restart(&self) -> bool {
        matches!(self.watch, Watch::Lost(until) if until <= Instant::now())
    }

    /// Continues with a new watch, if one was begun.
    fn restarted(&mut self, watched: Option<Watched>) {
        match watched {
            Some(Ok(watch)) => self.watch = Watch::Watching(watch),
            Some(Err(error)) => self.lost(&error),
            None => {}
        }
    }

    fn lost(&mut self, error: &ContextError) {
        let mut until = Instant::now();
        if !is_compacted(error) {
            let what = self.name;
            tracing::error!(what, error = %chain(error), "the store is not watched; trying again");
            until += RETRY;
        }
        self.watch = Watch::Lost(until);
    }
}

/// Changes of the connection to the store of contexts.
struct ConnectionChanges {
    connection: watch::Receiver<Connection>,
    /// The last connection that the reader has.
    sent: Connection,
}

impl ConnectionChanges {
    async fn wait(&mut self) {
        while *self.connection.borrow_and_update() == self.sent {
            if self.connection.changed().await.is_err() {
                // The store ended, which its watches report too.
                std::future::pending::<()>().await;
            }
        }
    }

    fn take(&mut self) -> Option<Connection> {
        let now = self.connection.borrow_and_update().clone();
        let is_new = now != self.sent;
        self.sent.clone_from(&now);
        is_new.then_some(now)
    }
}

fn is_compacted(error: &ContextError) -> bool {
    matches!(error, ContextError::Store(StoreError::Compacted { .. }))
}
