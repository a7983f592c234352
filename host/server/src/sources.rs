//! Sources of clusters, which are started, changed and ended by the configuration.

use std::collections::BTreeMap;
use std::convert::Infallible;

use kindsight_clusters::{ClusterEvent, ClusterSource, Needs};
use kindsight_model::ClusterName;
use kindsight_pipeline::{Event, QueuedEvent};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::settings::ClusterChanges;
use crate::source_threads::SourceThreads;
use crate::tasks::Tasks;

/// The running sources, each in its own task.
pub(crate) struct Sources {
    tasks: Tasks,
    events_tx: mpsc::Sender<QueuedEvent>,
    needs: Needs,
    threads: SourceThreads,
    running: BTreeMap<ClusterName, Running>,
}

/// A running source.
struct Running {
    configured: watch::Sender<ClusterSource>,
    stop: CancellationToken,
    /// Cancelled when the source has ended. It sends no event afterwards.
    ended: CancellationToken,
}

/// The pipeline takes no more events.
#[derive(Debug)]
pub(crate) struct Closed;

impl Sources {
    /// Creates the value without sources.
    pub(crate) fn new(
        tasks: &Tasks,
        events_tx: mpsc::Sender<QueuedEvent>,
        needs: Needs,
        threads: SourceThreads,
    ) -> Self {
        Self {
            tasks: tasks.clone(),
            events_tx,
            needs,
            threads,
            running: BTreeMap::new(),
        }
    }

    /// The sender of events to the pipeline.
    pub(crate) fn events(&self) -> mpsc::Sender<QueuedEvent> {
        self.events_tx.clone()
    }

    /// Starts a source. No running source may have its name.
    pub(crate) fn begin(&mut self, source: ClusterSource) {
        let name = source.name().clone();
        let stop = self.tasks.shutdown().child_token();
        let ended = CancellationToken::new();
        let (configured, configured_rx) = watch::channel(source.clone());
        let (events_tx, needs) = (self.events_tx.clone(), self.needs.clone());
        let (stopped, end) = (stop.clone(), ended.clone());
        let executor = self.threads.next();
        let on = executor.handle();
        let run = async move {
            let (_end, _executor) = (end.drop_guard(), executor);
            Box::pin(source.run(configured_rx, events_tx, needs, stopped)).await;
            Ok::<_, Infallible>(())
        };
        self.tasks.spawn_on(&on, &stop, "source of a cluster", run);
        let running = Running {
            configured,
            stop,
            ended,
        };
        self.running.insert(name, running);
    }

    /// Follows the valid lists of the configuration until the stop.
    pub(crate) async fn follow(mut self, mut changes: ClusterChanges) {
        let shutdown = self.tasks.shutdown();
        let following = async {
            while changes.changed().await.is_ok() {
                let clusters = changes.borrow_and_update().clone();
                if self.take(clusters).await.is_err() {
                    return;
                }
            }
            // The sender was dropped, so the configuration does not change any more.
            std::future::pending::<()>().await;
        };
        // The future ends if it is cancelled or the pipeline has ended. No work is left in both cases.
        let _ = shutdown.run_until_cancelled(following).await;
    }

    /// Ends the sources that are not in the list, changes the sources that differ, and starts the new sources.
    async fn take(&mut self, clusters: Vec<ClusterSource>) -> Result<(), Closed> {
        let names = self.running.keys();
        let left: Vec<ClusterName> = names
            .filter(|name| !self.remains(name, &clusters))
            .cloned()
            .collect();
        for cluster in left {
            self.end([&cluster]).await;
            self.send(ClusterEvent::Removed { cluster }).await?;
        }
        for source in clusters {
            let cluster = source.name().clone();
            if !self.change(&source) {
                tracing::info!(%cluster, %source, "cluster added");
                self.send(ClusterEvent::Added { cluster }).await?;
                self.begin(source);
            }
        }
        Ok(())
    }

    /// Returns whether a running source continues with these clusters.
    pub(crate) fn remains(&self, cluster: &ClusterName, clusters: &[ClusterSource]) -> bool {
        let Some(running) = self.running.get(cluster) else {
            return false;
        };
        let mut same = clusters.iter().filter(|source| source.name() == cluster);
        same.any(|source| running.configured.borrow().can_become(source))
    }

    /// Changes the configuration of a running source. Returns false if no source has the name.
    pub(crate) fn change(&self, source: &ClusterSource) -> bool {
        let Some(running) = self.running.get(source.name()) else {
            return false;
        };
        running.configured.send_if_modified(|current| {
            let is_changed = current != source;
            if is_changed {
                let cluster = source.name();
                tracing::info!(%cluster, "configuration of a cluster changed");
                *current = source.clone();
            }
            is_changed
        });
        true
    }

    /// Ends sources, and waits until they send no further event. A name without a source is ignored.
    pub(crate) async fn end(&mut self, clusters: impl IntoIterator<Item = &ClusterName>) {
        let clusters = clusters.into_iter();
        let ending: Vec<Running> = clusters
            .filter_map(|cluster| self.running.remove(cluster))
            .collect();
        for running in &ending {
            running.stop.cancel();
        }
        for running in ending {
            running.ended.cancelled().await;
        }
    }

    /// Waits until the pipeline has handled and published all earlier events.
    pub(crate) async fn handled(&self) -> Result<(), Closed> {
        let (handled_tx, handled_rx) = oneshot::channel();
        let sent = self.events_tx.send(Event::Marker(handled_tx).into()).await;
        sent.map_err(|_| Closed)?;
        handled_rx.await.map_err(|_| Closed)
    }

    /// Tells the pipeline that this host owns a cluster again whose source continued. The answer is false if the cluster
    /// must be listed from scratch.
    pub(crate) async fn resumed(
        &self,
        cluster: ClusterName,
    ) -> Result<oneshot::Receiver<bool>, Closed> {
        let (complete, complete_rx) = oneshot::channel();
        let event = Event::Resumed { cluster, complete };
        let sent = self.events_tx.send(event.into()).await;
        sent.map(|()| complete_rx).map_err(|_| Closed)
    }

    /// Sends an event that no source sends.
    pub(crate) async fn send(&self, event: ClusterEvent) -> Result<(), Closed> {
        let sent = self.events_tx.send(event.into()).await;
        sent.map_err(|_| Closed)
    }
}
