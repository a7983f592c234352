//! Reports of monitors that wait to be stored beside their contexts.
//!
//! A report is judged and shown at once, and stored behind the answer: a store that is slow or away holds up
//! nobody. Of each app in a cluster the newest report waits.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kindsight_appcontext::{AppContexts, Error, Recorded};
use kindsight_model::{ClusterName, ContextId, DeploymentId};
use kindsight_store::{Error as StoreError, Revision, chain};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use self::state::{Place, State, Waiting};
use crate::background_thread::BackgroundThread;
use crate::run::RunError;

mod state;

pub use state::{BUNDLES_WAITING_BYTES_MAX, BUNDLES_WAITING_MAX};

/// The longest that a notification waits for the write that may have caused it.
const OWN_WAIT: Duration = Duration::from_millis(50);

/// Time after a failed write until the next one.
const RETRY: Duration = Duration::from_secs(1);

/// The longest time for the last writes at the stop.
const LAST_WRITES: Duration = Duration::from_secs(1);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    arrived: Notify,
    written: Condvar,
}

/// The reports that wait to be stored. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct BundleQueue(Arc<Shared>);

impl BundleQueue {
    /// Stores a report soon; one of the same app and cluster that waits is replaced.
    pub(crate) fn push(
        &self,
        deployment: DeploymentId,
        cluster: ClusterName,
        status_json: Arc<str>,
    ) {
        let mut state = self.state();
        state.push(
            Place {
                deployment,
                cluster,
            },
            status_json,
        );
        drop(state);
        self.0.arrived.notify_one();
    }

    /// Returns whether a change of a context is an own one. Waits a moment where that is being decided.
    pub(crate) fn is_own(&self, id: &ContextId, revision: Revision) -> bool {
        let state = self.state();
        let is_writing = |state: &mut State| {
            !state.own.contains(&revision) && state.writing.as_ref() == Some(id)
        };
        let waited = self
            .0
            .written
            .wait_timeout_while(state, OWN_WAIT, is_writing);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        // Revisions come in order: there are no more notifications of earlier ones.
        state.own = state.own.split_off(&revision);
        state.own.contains(&revision)
    }

    /// Forgets own changes: everything is read again.
    pub(crate) fn forget_own(&self) {
        self.state().own.clear();
    }

    /// Stores what waits. Returns whether all of it was; what the store cannot take now waits on. Blocks.
    pub(crate) fn write_all(&self, contexts: &AppContexts) -> bool {
        while let Some((place, waiting)) = self.take_first() {
            let Place {
                deployment: DeploymentId { context, app },
                cluster,
            } = &place;
            let stored = contexts.record_bundle(context, app, cluster, &waiting.status_json);
            let mut state = self.state();
            state.writing = None;
            let is_kept = match stored {
                Ok(Recorded::Written(revision)) => {
                    state.note_own(revision);
                    false
                }
                Ok(Recorded::Unchanged | Recorded::NotFound) => false,
                Err(error) => is_to_wait(&place, &error),
            };
            if is_kept {
                state.put_back(place, waiting);
            } else if state.waiting.is_empty() && state.dropped > 0 {
                let dropped = std::mem::take(&mut state.dropped);
                tracing::warn!(
                    dropped,
                    "reports that wait were stored, but for the oldest; their apps show older ones after a restart"
                );
            }
            drop(state);
            self.0.written.notify_all();
            if is_kept {
                return false;
            }
        }
        true
    }

    /// Stores reports as they come until `shutdown`, and then what is left, for a second at most.
    ///
    /// # Errors
    /// [`RunError`]: nothing is stored any more.
    pub(crate) async fn run(
        self,
        contexts: AppContexts,
        shutdown: CancellationToken,
    ) -> Result<(), RunError> {
        let thread = BackgroundThread::start("reports").map_err(crate::Error::from)?;
        let write = async || {
            let (queue, contexts) = (self.clone(), contexts.clone());
            let written = thread.run(move || queue.write_all(&contexts)).await;
            written.ok_or(RunError::Panicked)
        };
        let following = async {
            loop {
                self.0.arrived.notified().await;
                while !write().await? {
                    tokio::time::sleep(RETRY).await;
                }
            }
        };
        match shutdown.run_until_cancelled(following).await {
            Some(ended) => ended,
            None => match tokio::time::timeout(LAST_WRITES, write()).await {
                Ok(Err(error)) => Err(error),
                Ok(Ok(_)) | Err(_) => Ok(()),
            },
        }
    }

    fn take_first(&self) -> Option<(Place, Waiting)> {
        let mut state = self.state();
        let (_, place) = state.order.pop_first()?;
        let waiting = state.waiting.remove(&place)?;
        state.bytes = state.bytes.saturating_sub(waiting.status_json.len());
        state.writing = Some(place.deployment.context.clone());
        Some((place, waiting))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A change that panicked left whole entries or none.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether a report that could not be stored waits on, and tells why.
fn is_to_wait(place: &Place, error: &Error) -> bool {
    let waits = matches!(
        error,
        Error::Store(
            StoreError::Unavailable { .. }
                | StoreError::OutcomeUnknown { .. }
                | StoreError::Full(_)
        )
    );
    let (deployment, cluster) = (&place.deployment, &place.cluster);
    if waits {
        tracing::warn!(%cluster, %deployment, error = chain(error), "report not stored yet; trying again");
    } else {
        tracing::error!(%cluster, %deployment, error = chain(error), "report not stored");
    }
    waits
}

#[cfg(test)]
mod tests;
