//! Following of the store: its changes become events of the pipeline.

use std::time::Duration;

use kindsight_appcontext::{AppContextChanges, AppContextWatch, AppContexts, Error};
use kindsight_store::{Error as StoreError, Revision, chain};
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::SendError;
use tokio_util::sync::CancellationToken;

use crate::event::Event;

/// The time after a fault of the store until it is watched again.
const RETRY: Duration = Duration::from_secs(1);

/// Sends an event for every context and record that changes after the revision `after`, until
/// `shutdown` or until `events_tx` is closed.
///
/// Where changes were missed it sends [`Event::Resync`] and goes on from a revision before it.
pub async fn follow(
    contexts: AppContexts,
    after: Revision,
    events_tx: Sender<Event>,
    shutdown: CancellationToken,
) {
    // Cancelled, or the channel is closed: nothing left to do in both cases.
    let _ = shutdown
        .run_until_cancelled(follow_until_closed(contexts, after, events_tx))
        .await;
}

async fn follow_until_closed(
    contexts: AppContexts,
    after: Revision,
    events_tx: Sender<Event>,
) -> Result<(), SendError<Event>> {
    let mut watch = contexts.watch(after);
    loop {
        let mut current = match watch {
            Ok(current) => current,
            Err(error) => {
                if !is_compacted(&error) {
                    tracing::error!(error = %chain(&error), "the store is not watched; trying again");
                    tokio::time::sleep(RETRY).await;
                }
                // The revision first: what changes after it is told beside what is read again.
                watch = contexts
                    .list()
                    .and_then(|list| contexts.watch(list.revision));
                if watch.is_ok() {
                    events_tx.send(Event::Resync).await?;
                }
                continue;
            }
        };
        let error = forward(&mut current, &events_tx).await?;
        watch = Err(error);
    }
}

/// Sends events until the watch ends; returns the reason.
async fn forward(
    watch: &mut AppContextWatch,
    events_tx: &Sender<Event>,
) -> Result<Error, SendError<Event>> {
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

fn is_compacted(error: &Error) -> bool {
    matches!(error, Error::Store(StoreError::Compacted { .. }))
}
