//! The run of the pipeline: one step after the other, for as long as the server runs.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use kindsight_model::ClusterName;
use tokio::sync::mpsc::{self, Receiver};
use tokio::sync::{Notify, oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::Error;
use crate::application_state::ReportedObjects;
use crate::background_thread::on_background_thread;
use crate::event::QueuedEvent;
use crate::pipeline::Pipeline;

/// Maximum number of events handled before the next slice of a swap.
const EVENTS_PER_STEP_MAX: usize = 16;

/// Clusters about which queries cannot be answered yet.
pub type Unsynced = watch::Sender<BTreeSet<ClusterName>>;

/// Requests for everything that the clusters of a running pipeline reported. Each has the sender of its answer.
pub type ReportedRequests = mpsc::Sender<oneshot::Sender<Vec<ReportedObjects>>>;

/// A pipeline with its inputs.
pub struct PipelineRun {
    /// The pipeline.
    pub pipeline: Pipeline,
    /// Its events.
    pub events_rx: Receiver<QueuedEvent>,
    /// Notified after every swap of interpreters.
    pub swapped: Arc<Notify>,
    /// Askers for everything the clusters reported; see [`ReportedRequests`].
    pub reported_rx: Receiver<oneshot::Sender<Vec<ReportedObjects>>>,
    /// Clusters about which queries cannot be answered yet. The run removes each cluster that is ready.
    pub unsynced: Arc<Unsynced>,
    /// Receives the origin of each handled event (`cluster`, `store`, `states`, `upstream` or `marker`), and the time from the
    /// moment at which its sender had it ready until it was handled. Called by the pipeline's thread.
    pub handled: Arc<dyn Fn(&'static str, Duration) + Send + Sync>,
    /// The time, in Unix milliseconds.
    pub clock: fn() -> i64,
}

/// The reason why a run ended before `shutdown`.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The run could not begin.
    #[error(transparent)]
    Start(#[from] Error),
    /// A step panicked.
    #[error("a step of the pipeline panicked; the log says where")]
    Panicked,
}

impl PipelineRun {
    /// Handles events, follows swaps of interpreters, and rechecks verdicts that are due, until `shutdown`. Steps
    /// block, so they have a thread of their own. Reports are stored on another thread.
    ///
    /// # Errors
    /// [`RunError`]: no stored data is lost, but no change is followed any more.
    pub async fn run(self, shutdown: CancellationToken) -> Result<(), RunError> {
        let bundles = self.pipeline.bundles().clone();
        let contexts = self.pipeline.contexts().clone();
        let storing = CancellationToken::new();
        let mut stored = pin!(bundles.run(contexts, storing.clone()));
        tokio::select! {
            done = on_background_thread("pipeline", || self.steps(shutdown)) => {
                done.map_err(Error::from)?.ok_or(RunError::Panicked)?;
                // The reports of the last step are stored too.
                storing.cancel();
                stored.await
            }
            ended = &mut stored => ended,
        }
    }

    /// Runs one step after the other until `shutdown`. Steps block.
    async fn steps(mut self, shutdown: CancellationToken) {
        let clock = self.clock;
        let mut recheck_at_ms: Option<i64> = Some(clock());
        loop {
            let wait = recheck_at_ms.map_or(Duration::MAX, |at| {
                Duration::from_millis(u64::try_from(at.saturating_sub(clock())).unwrap_or(0))
            });
            let is_pending = self.pipeline.swap_pending();
            let first = tokio::select! {
                // In this order: an event never waits for more than one slice, and no slice for more
                // than one step of events.
                biased;
                () = shutdown.cancelled() => return,
                Some(asker) = self.reported_rx.recv() => {
                    // The asker may have been dropped.
                    let _ = asker.send(self.pipeline.reported_objects());
                    continue;
                }
                // Without sources there are no events, but stored verdicts may be due for a recheck.
                Some(event) = self.events_rx.recv() => Some(event),
                () = std::future::ready(()), if is_pending => None,
                () = self.swapped.notified() => None,
                () = tokio::time::sleep(wait) => None,
            };
            recheck_at_ms = self.step(first);
            let now_ms = clock();
            self.unsynced.send_if_modified(|unsynced| {
                let before = unsynced.len();
                unsynced.retain(|cluster| !self.pipeline.is_ready(cluster, now_ms));
                unsynced.len() < before
            });
        }
    }

    /// Handles an event, the events that wait behind it, one slice of a swap, and the changes that time causes.
    /// Returns the time of the next change that time causes, in Unix milliseconds.
    fn step(&mut self, first: Option<QueuedEvent>) -> Option<i64> {
        let rest = std::iter::from_fn(|| self.events_rx.try_recv().ok());
        let events = first.into_iter().chain(rest).take(EVENTS_PER_STEP_MAX);
        for QueuedEvent { event, queued_at } in events {
            let origin = event.origin();
            self.pipeline.handle(event, (self.clock)());
            (self.handled)(origin, queued_at.elapsed());
        }
        self.pipeline.follow_swap((self.clock)());
        self.pipeline.recheck(self.clock)
    }
}
