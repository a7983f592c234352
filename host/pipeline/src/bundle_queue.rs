//! Reports of monitors that wait to be stored beside their contexts.
//!
//! The pipeline judges and publishes a report at once, and this queue stores it afterwards: a store that is slow
//! or away delays no answer. The newest report on each app in a cluster waits.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use kindsight_appcontext::{AppContexts, Error, Recorded};
use kindsight_leases::Ownership;
use kindsight_model::{ClusterName, ContextId, DeploymentId};
use kindsight_store::{Error as StoreError, Revision, chain};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use self::contents::Contents;
use crate::background_thread::BackgroundThread;
use crate::run::RunError;
use crate::waiting_reports::ReportedApp;

mod contents;

pub use contents::{BUNDLES_WAITING_BYTES_MAX, BUNDLES_WAITING_MAX};

/// The longest that a notification waits for the write that may have caused it.
const OWN_WAIT: Duration = Duration::from_millis(50);

/// Time after a failed write until the next one.
const RETRY: Duration = Duration::from_secs(1);

/// The longest time for the last writes at the stop.
const LAST_WRITES: Duration = Duration::from_secs(1);

#[derive(Default)]
struct Shared {
    contents: Mutex<Contents>,
    arrived: Notify,
    written: Condvar,
    /// The clusters that this host owns; empty if it does not share clusters.
    ownership: OnceLock<Ownership>,
}

/// The reports that wait to be stored. Clones share them.
#[derive(Clone, Default)]
pub struct BundleQueue(Arc<Shared>);

impl BundleQueue {
    /// The number of reports that wait, at most [`BUNDLES_WAITING_MAX`], and their size in bytes. Read by metrics.
    pub fn waiting(&self) -> (usize, usize) {
        let contents = self.contents();
        (contents.waiting.len(), contents.waiting.bytes())
    }

    /// Stores only the reports of clusters that this host owns. The reports of other clusters wait.
    pub(crate) fn share_clusters(&self, ownership: Ownership) {
        // A second call would have no effect. There is only one.
        let _ = self.0.ownership.set(ownership);
    }

    /// Stores the reports that wait since the lease of their cluster ended, because this host owns the cluster again.
    pub(crate) fn resume(&self) {
        self.0.arrived.notify_one();
    }

    /// Forgets the reports of a cluster whose next source sends them again, here or on another host.
    pub(crate) fn forget(&self, cluster: &ClusterName) {
        self.contents().waiting.take(|app| app.cluster == *cluster);
    }

    /// The contexts for a report of a cluster. `None` if this host does not own the cluster. Their store refuses a write
    /// after the end of the ownership.
    fn contexts_of(&self, contexts: &AppContexts, cluster: &ClusterName) -> Option<AppContexts> {
        match self.0.ownership.get() {
            None => Some(contexts.clone()),
            Some(ownership) => ownership.store(cluster).map(AppContexts::new),
        }
    }

    /// Stores a report soon. It replaces an older report on the same app and cluster that waits.
    pub(crate) fn push(
        &self,
        deployment: DeploymentId,
        cluster: ClusterName,
        status_json: Arc<str>,
    ) {
        let app = ReportedApp {
            deployment,
            cluster,
        };
        self.contents().push(app, status_json);
        self.0.arrived.notify_one();
    }

    /// Returns whether this queue made a change of a context. If a write to the context is in progress, waits for
    /// it a moment. Called by the store reader's thread.
    pub(crate) fn is_own(&self, id: &ContextId, revision: Revision) -> bool {
        let contents = self.contents();
        let is_writing = |contents: &mut Contents| {
            !contents.own.contains(&revision) && contents.writing.as_ref() == Some(id)
        };
        let waited = self
            .0
            .written
            .wait_timeout_while(contents, OWN_WAIT, is_writing);
        let (mut contents, _) = waited.unwrap_or_else(PoisonError::into_inner);
        // Notifications arrive in the order of revisions: earlier revisions are not needed any more.
        contents.own = contents.own.split_off(&revision);
        contents.own.contains(&revision)
    }

    /// Forgets own changes: everything is read again.
    pub(crate) fn forget_own(&self) {
        self.contents().own.clear();
    }

    /// Stores the reports that wait. Returns false if the store cannot take them now: they wait on. Blocks.
    pub(crate) fn write_all(&self, contexts: &AppContexts) -> bool {
        loop {
            let contexts_of = |cluster: &ClusterName| self.contexts_of(contexts, cluster);
            let begun = self.contents().begin_write(contexts_of);
            let Some((app, waiting, contexts)) = begun else {
                return true;
            };
            let ReportedApp {
                deployment: DeploymentId { context, app: name },
                cluster,
            } = &app;
            let stored = contexts.record_bundle(context, name, cluster, &waiting.report);
            let mut contents = self.contents();
            contents.writing = None;
            let waits_on = match stored {
                Ok(Recorded::Written(revision)) => {
                    contents.note_own(revision);
                    false
                }
                // The next owner of the cluster stores its reports.
                Ok(Recorded::Unchanged | Recorded::NotFound)
                | Err(Error::Store(StoreError::LeaseLost { .. })) => false,
                Err(error) => waits_on(&app, &error),
            };
            if waits_on {
                contents.waiting.put_back(app, waiting);
            }
            contents.log_dropped();
            drop(contents);
            self.0.written.notify_all();
            if waits_on {
                return false;
            }
        }
    }

    /// Stores reports as they arrive until `shutdown`. Then stores the waiting reports, for a second at most.
    ///
    /// # Errors
    /// [`RunError`]: no further report is stored.
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
        if let Some(ended) = shutdown.run_until_cancelled(following).await {
            return ended;
        }
        // The thread first finishes a write that the stop found under way.
        let last = tokio::time::timeout(LAST_WRITES, write()).await;
        self.contents().log_not_stored();
        last.map_or(Ok(()), |written| written.map(drop))
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        // A change inserts and removes complete entries, also if it panics.
        let contents = self.0.contents.lock();
        contents.unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether a report that could not be stored waits on, and logs the reason.
fn waits_on(app: &ReportedApp, error: &Error) -> bool {
    let waits_on = matches!(
        error,
        Error::Store(
            StoreError::Unavailable { .. }
                | StoreError::OutcomeUnknown { .. }
                | StoreError::Full(_)
        )
    );
    let ReportedApp {
        deployment,
        cluster,
    } = app;
    if waits_on {
        tracing::warn!(%cluster, %deployment, error = chain(error), "report not stored yet; trying again");
    } else {
        tracing::error!(%cluster, %deployment, error = chain(error), "report not stored");
    }
    waits_on
}

#[cfg(test)]
mod tests;
