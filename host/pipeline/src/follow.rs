//! Following of the store: its changes become events of the pipeline.

use std::time::Duration;

use kindsight_appcontext::{AppContextChanges, AppContextWatch, AppContexts, Error, Records};
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
    records: Records,
    after: Revision,
    events_tx: Sender<Event>,
    shutdown: CancellationToken,
) {
    let of_contexts = Followed {
        watch: |after| contexts.watch(after),
        latest: || contexts.list().map(|list| list.revision),
    };
    let of_records = Followed {
        watch: |after| records.watch(after),
        latest: || records.clusters().map(|list| list.revision),
    };
    let followed = async {
        tokio::join!(
            of_contexts.until_closed(after, &events_tx),
            of_records.until_closed(after, &events_tx),
        )
    };
    // Cancelled, or the channel is closed: nothing left to do in both cases.
    let _ = shutdown.run_until_cancelled(followed).await;
}

/// What is followed: the contexts or the records.
struct Followed<W, L> {
    watch: W,
    /// Reads the revision to watch after, once changes were missed.
    latest: L,
}

impl<W, L> Followed<W, L>
where
    W: Fn(Revision) -> Result<AppContextWatch, Error>,
    L: Fn() -> Result<Revision, Error>,
{
    async fn until_closed(
        &self,
        after: Revision,
        events_tx: &Sender<Event>,
    ) -> Result<(), SendError<Event>> {
        let mut watch = (self.watch)(after);
        loop {
            let mut current = match watch {
                Ok(current) => current,
                Err(error) => {
                    if !is_compacted(&error) {
                        tracing::error!(error = %chain(&error), "the store is not watched; trying again");
                        tokio::time::sleep(RETRY).await;
                    }
                    // The revision first: what changes after it is told beside what is read again.
                    watch = (self.latest)().and_then(&self.watch);
                    if watch.is_ok() {
                        events_tx.send(Event::Resync).await?;
                    }
                    continue;
                }
            };
            let error = forward(&mut current, events_tx).await?;
            watch = Err(error);
        }
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
