//! Sources of clusters: begun, changed and ended as the configuration says.

use std::collections::BTreeMap;
use std::convert::Infallible;

use kindsight_clusters::{ClusterEvent, ClusterSource, Needs};
use kindsight_model::ClusterName;
use kindsight_pipeline::Event;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::settings::{ClusterChanges, check_clusters};
use crate::tasks::Tasks;

/// The sources that run, each in a task of its own.
pub(crate) struct Sources {
    tasks: Tasks,
    events_tx: mpsc::Sender<Event>,
    needs: Needs,
    running: BTreeMap<ClusterName, Running>,
}

/// A source that runs.
struct Running {
    configured: watch::Sender<ClusterSource>,
    stop: CancellationToken,
    /// Cancelled when it has ended: it tells nothing more then.
    ended: CancellationToken,
}

/// The pipeline takes no more events.
struct Closed;

impl Sources {
    /// None yet.
    pub(crate) fn new(tasks: &Tasks, events_tx: mpsc::Sender<Event>, needs: Needs) -> Self {
        Self {
            tasks: tasks.clone(),
            events_tx,
            needs,
            running: BTreeMap::new(),
        }
    }

    /// Begins a source that has none of its name yet.
    pub(crate) fn begin(&mut self, source: ClusterSource) {
        let name = source.name().clone();
        let stop = self.tasks.shutdown().child_token();
        let ended = CancellationToken::new();
        let (configured, configured_rx) = watch::channel(source.clone());
        let (events_tx, needs) = (self.events_tx.clone(), self.needs.clone());
        let (stopped, end) = (stop.clone(), ended.clone());
        let run = async move {
            let _end = end.drop_guard();
            Box::pin(source.run(configured_rx, events_tx, needs, stopped)).await;
            Ok::<_, Infallible>(())
        };
        self.tasks.spawn_until(&stop, "source of a cluster", run);
        let running = Running {
            configured,
            stop,
            ended,
        };
        self.running.insert(name, running);
    }

    /// Follows the configuration until the stop. A list that cannot be meant is told in the log and changes
    /// nothing.
    pub(crate) async fn follow(mut self, mut changes: ClusterChanges) {
        let shutdown = self.tasks.shutdown();
        let following = async {
            while changes.changed().await.is_ok() {
                let clusters = changes.borrow_and_update().clone();
                if let Err(error) = check_clusters(&clusters) {
                    tracing::error!(%error, "changed configuration not usable; the clusters stay as they are");
                } else if self.take(clusters).await.is_err() {
                    return;
                }
            }
            // Nobody changes it any more.
            std::future::pending::<()>().await;
        };
        // Cancelled, or the pipeline has ended: nothing left to do in both cases.
        let _ = shutdown.run_until_cancelled(following).await;
    }

    /// Ends the sources that are not in the list, changes those that differ, and begins the new ones.
    async fn take(&mut self, clusters: Vec<ClusterSource>) -> Result<(), Closed> {
        let stays = |name: &ClusterName, running: &Running| {
            let mut same = clusters.iter().filter(|it| it.name() == name);
            same.any(|it| running.configured.borrow().can_become(it))
        };
        let ended = self.running.iter().filter(|(name, it)| !stays(name, it));
        let ended: Vec<ClusterName> = ended.map(|(name, _)| name.clone()).collect();
        for cluster in ended {
            if let Some(running) = self.running.remove(&cluster) {
                running.stop.cancel();
                running.ended.cancelled().await;
                self.send(ClusterEvent::Removed { cluster }).await?;
            }
        }
        for source in clusters {
            let cluster = source.name().clone();
            if let Some(running) = self.running.get(&cluster) {
                running.configured.send_if_modified(|it| {
                    let is_changed = *it != source;
                    if is_changed {
                        tracing::info!(%cluster, "configuration of a cluster changed");
                        *it = source;
                    }
                    is_changed
                });
            } else {
                tracing::info!(%cluster, %source, "cluster added");
                self.send(ClusterEvent::Added { cluster }).await?;
                self.begin(source);
            }
        }
        Ok(())
    }

    async fn send(&self, event: ClusterEvent) -> Result<(), Closed> {
        let sent = self.events_tx.send(Event::Cluster(event)).await;
        sent.map_err(|_| Closed)
    }
}
