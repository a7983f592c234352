//! Background tasks of the catalog: following other hosts, and the circuit breaker.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_store::{Error, Revision, Watch, chain};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use crate::catalog::Catalog;

/// The period of the circuit breaker, which looks at the faults of the last minute.
const BREAKER_PERIOD: Duration = Duration::from_secs(1);
/// The time after which what could not be loaded is tried again: a fault of the machine may have passed.
/// Each try may cost half a minute of processor time.
const RETRY_UNAVAILABLE: Duration = Duration::from_mins(5);
/// The time after a fault of the store until it is watched again.
const RETRY: Duration = Duration::from_secs(1);

/// Follows the changes that other hosts over the same store make, until `shutdown`.
///
/// # Errors
/// [`Panicked`]: nothing is followed any more.
pub async fn follow_hosts(
    catalog: Arc<Catalog>,
    shutdown: CancellationToken,
) -> Result<(), Panicked> {
    let following = follow_for_ever(catalog);
    shutdown
        .run_until_cancelled(following)
        .await
        .unwrap_or(Ok(()))
}

/// A step of a task panicked; the log says where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a step of the catalog panicked; the log says where")]
pub struct Panicked;

async fn follow_for_ever(catalog: Arc<Catalog>) -> Result<(), Panicked> {
    let mut reported = None;
    loop {
        let failure = match watch(&catalog) {
            // The state as it is now first: it may have changed before the watch began.
            Ok(watch) => match follow(&catalog).await? {
                None => follow_watch(&catalog, watch).await?,
                failure => failure,
            },
            Err(error) => Some(chain(&error)),
        };
        // Logged once, not at every try.
        if failure.is_some() && failure != reported {
            let error = failure.as_deref();
            tracing::error!(
                error,
                "changes of the interpreters by other hosts are not followed; trying again"
            );
        }
        if failure.is_some() {
            tokio::time::sleep(RETRY).await;
        }
        reported = failure;
    }
}

fn watch(catalog: &Catalog) -> Result<Watch, Error> {
    let after: Revision = catalog.store.revision()?;
    catalog.store.watch(after)
}

/// Follows each change of the watch; answers with the reason why it ended, none where changes were
/// missed and it is begun anew.
async fn follow_watch(
    catalog: &Arc<Catalog>,
    mut watch: Watch,
) -> Result<Option<String>, Panicked> {
    loop {
        let Ok(change) = tokio::time::timeout(RETRY_UNAVAILABLE, watch.next()).await else {
            let catalog = Arc::clone(catalog);
            // A change that was told of at this very moment is not missed.
            let tried = spawn_blocking(move || {
                catalog.follow()?;
                catalog.retry_unavailable()
            });
            if let Err(error) = tried.await.map_err(|_| Panicked)? {
                return Ok(Some(chain(&error)));
            }
            continue;
        };
        match change {
            Ok(_) => {}
            Err(Error::Compacted { .. }) => return Ok(None),
            Err(error) => return Ok(Some(chain(&error))),
        }
        let failure = follow(catalog).await?;
        if failure.is_some() {
            return Ok(failure);
        }
    }
}

/// Follows once, on a thread that may block; answers with the failure, if any.
async fn follow(catalog: &Arc<Catalog>) -> Result<Option<String>, Panicked> {
    let catalog = Arc::clone(catalog);
    let followed = spawn_blocking(move || catalog.follow().err().map(|error| chain(&error)));
    followed.await.map_err(|_| Panicked)
}

/// Checks the circuit breaker every second, until `shutdown`.
///
/// # Errors
/// [`Panicked`]: faulty interpreters stay live.
pub async fn run_breaker(
    catalog: Arc<Catalog>,
    shutdown: CancellationToken,
) -> Result<(), Panicked> {
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            () = tokio::time::sleep(BREAKER_PERIOD) => {}
        }
        let catalog = Arc::clone(&catalog);
        let checked = spawn_blocking(move || catalog.check_breaker(Instant::now()));
        // A trip may have to compile the version before.
        let Some(checked) = shutdown.run_until_cancelled(checked).await else {
            return Ok(());
        };
        checked.map_err(|_| Panicked)?;
    }
}
