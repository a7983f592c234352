//! Following of the stores: their changes become events of the pipeline.

use std::time::Duration;

use kindsight_appcontext::{AppContextChanges, AppContextWatch, AppContexts, Error, Records};
use kindsight_store::{Connection, Error as StoreError, Revision, chain};
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::SendError;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::event::Event;
use crate::pipeline::Loaded;

/// The time after a fault of a store until it is watched again.
const RETRY: Duration = Duration::from_secs(1);

/// The stores of a pipeline, which may be one.
pub struct Stores {
    /// The contexts.
    pub contexts: AppContexts,
    /// The connection to the store of the contexts.
    pub connection: watch::Receiver<Connection>,
    /// The records.
    pub records: Records,
}

/// Sends an event for every context and record that changes after what was `loaded`, and when the store of
/// the contexts is away or reached again, until `shutdown` or until `events_tx` is closed.
///
/// Where changes were missed it sends [`Event::Resync`] or [`Event::ResyncRecords`] and goes on from a
/// revision before it.
pub async fn follow(
    stores: Stores,
    loaded: Loaded,
    events_tx: Sender<Event>,
    shutdown: CancellationToken,
) {
    let Stores {
        contexts,
        connection,
        records,
    } = stores;
    let following = async {
        tokio::try_join!(
            follow_part(Part::Contexts(contexts), loaded.contexts, &events_tx),
            follow_part(Part::Records(records), loaded.records, &events_tx),
            follow_connection(connection, &events_tx),
        )
    };
    // Cancelled, or the channel is closed: nothing left to do in both cases.
    let _ = shutdown.run_until_cancelled(following).await;
}

type Closed = SendError<Event>;

/// A part of what is stored that is watched for itself.
#[derive(Clone)]
enum Part {
    Contexts(AppContexts),
    Records(Records),
}

impl Part {
    fn watch(&self, after: Revision) -> Result<AppContextWatch, Error> {
        match self {
            Self::Contexts(contexts) => contexts.watch(after),
            Self::Records(records) => records.watch(after),
        }
    }

    /// Watches from now on. Blocks.
    fn watch_anew(&self) -> Result<AppContextWatch, Error> {
        let revision = match self {
            Self::Contexts(contexts) => contexts.list()?.revision,
            Self::Records(records) => records.digs()?.revision,
        };
        self.watch(revision)
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Contexts(_) => "AppContexts",
            Self::Records(_) => "records",
        }
    }

    /// The event of changes that were missed.
    fn missed(&self) -> Event {
        match self {
            Self::Contexts(_) => Event::Resync,
            Self::Records(_) => Event::ResyncRecords,
        }
    }
}

async fn follow_part(part: Part, after: Revision, events_tx: &Sender<Event>) -> Result<(), Closed> {
    let mut watch = part.watch(after);
    loop {
        let mut current = match watch {
            Ok(current) => current,
            Err(error) => {
                if !is_compacted(&error) {
                    let what = part.name();
                    tracing::error!(what, error = %chain(&error), "the store is not watched; trying again");
                    tokio::time::sleep(RETRY).await;
                }
                let anew = part.clone();
                let begun = tokio::task::spawn_blocking(move || anew.watch_anew()).await;
                watch = begun.unwrap_or(Err(StoreError::Closed.into()));
                if watch.is_ok() {
                    // What changes after the watch began is told beside what is read again.
                    events_tx.send(part.missed()).await?;
                }
                continue;
            }
        };
        let error = forward(&mut current, events_tx).await?;
        watch = Err(error);
    }
}

/// Sends events until the watch ends; returns the reason.
async fn forward(watch: &mut AppContextWatch, events_tx: &Sender<Event>) -> Result<Error, Closed> {
    loop {
        let changes = match watch.next().await {
            Ok(changes) => changes,
            Err(error) => return Ok(error),
        };
        for event in events(changes) {
            events_tx.send(event).await?;
        }
    }
}

fn events(changes: AppContextChanges) -> impl Iterator<Item = Event> {
    let AppContextChanges {
        revision,
        contexts,
        digs,
        clusters,
    } = changes;
    let contexts = contexts.into_iter();
    let contexts = contexts.map(move |id| Event::Context { id, revision });
    let digs = digs.into_iter().map(Event::DigRecord);
    contexts
        .chain(digs)
        .chain(clusters.into_iter().map(Event::ClusterRecord))
}

/// Tells when the store of the contexts is away, and when it is reached again.
async fn follow_connection(
    mut connection: watch::Receiver<Connection>,
    events_tx: &Sender<Event>,
) -> Result<(), Closed> {
    let mut told = Connection::Connected;
    loop {
        let now = connection.borrow_and_update().clone();
        if now != told {
            events_tx.send(Event::Store(now.clone())).await?;
            told = now;
        }
        if connection.changed().await.is_err() {
            // The store ended, which its watches tell too.
            std::future::pending::<()>().await;
        }
    }
}

fn is_compacted(error: &Error) -> bool {
    matches!(error, Error::Store(StoreError::Compacted { .. }))
}
