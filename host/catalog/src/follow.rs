//! The background tasks of the catalog: one follows other hosts, and one runs the circuit breaker.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_store::{Error, Revision, Watch, chain};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use crate::catalog::Catalog;

/// The period of the circuit breaker, which checks the faults of the last minute.
const BREAKER_PERIOD: Duration = Duration::from_secs(1);
/// The interval at which loading is repeated for versions that could not be loaded, because a fault
/// of the machine may be temporary. Each attempt may cost one minute of processor time.
const RETRY_UNAVAILABLE: Duration = Duration::from_mins(5);
/// The time after a fault of the store until it is watched again.
const RETRY: Duration = Duration::from_secs(1);

/// Follows the changes of other hosts with the same store, until `shutdown`.
///
/// # Errors
/// [`Panicked`]: changes are no longer followed.
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

/// A step of a task panicked. The log contains the place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a step of the catalog panicked; see the log")]
pub struct Panicked;

async fn follow_for_ever(catalog: Arc<Catalog>) -> Result<(), Panicked> {
    let mut reported = None;
    loop {
        let failure = match watch(&catalog) {
            // The present state is read first, because it may have changed before the watch began.
            Ok(watch) => match follow(&catalog).await? {
                None => follow_watch(&catalog, watch).await?,
                failure => failure,
            },
            Err(error) => Some(chain(&error)),
        };
        // Logged once, not at every attempt.
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

/// Follows each change of the watch. Returns the reason why the watch ended, or `None` if changes
/// were missed and the watch must be restarted.
async fn follow_watch(
    catalog: &Arc<Catalog>,
    mut watch: Watch,
) -> Result<Option<String>, Panicked> {
    loop {
        let Ok(change) = tokio::time::timeout(RETRY_UNAVAILABLE, watch.next()).await else {
            let catalog = Arc::clone(catalog);
            // The watch does not lose a change that is reported at this moment.
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

/// Follows once, on a thread that may block. Returns the failure, if there was one.
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
        // The circuit breaker may have to compile the previous version.
        let Some(checked) = shutdown.run_until_cancelled(checked).await else {
            return Ok(());
        };
        checked.map_err(|_| Panicked)?;
    }
}
