//! The push of reports to a server, beside the writing of ResourceBundleStates.

use std::sync::Arc;

use kindsight_clusters::{ClusterEvent, ClusterSource, KubernetesCluster, Needs, Recorded};
use kindsight_push::{PushOptions, PushSetupError, Pusher};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::EVENTS_MAX;
use crate::joined_records::JoinedRecords;

/// The connection of a source: its needs, its configuration, and the receiver of its events.
pub(crate) struct Outlet {
    pub(crate) needs: Needs,
    pub(crate) configured: watch::Receiver<ClusterSource>,
    pub(crate) events: mpsc::Sender<ClusterEvent>,
}

impl Outlet {
    /// An outlet to the agent alone, which needs the deployments `own`.
    pub(crate) fn to_agent(
        cluster: KubernetesCluster,
        own: watch::Receiver<Arc<Recorded>>,
        agent: mpsc::Sender<ClusterEvent>,
    ) -> Self {
        Self {
            needs: Needs {
                recorded: own,
                ..Needs::default()
            },
            configured: watch::channel(ClusterSource::Kubernetes(Box::new(cluster))).1,
            events: agent,
        }
    }

    /// An outlet to the agent and to a server. The source also reports the deployments that the server records.
    ///
    /// # Errors
    /// [`PushSetupError`].
    pub(crate) fn to_server(
        push: &PushOptions,
        cluster: KubernetesCluster,
        own: watch::Receiver<Arc<Recorded>>,
        agent: mpsc::Sender<ClusterEvent>,
        (tasks, shutdown): (&TaskTracker, &CancellationToken),
    ) -> Result<Self, PushSetupError> {
        let (mut pusher, needs) = Pusher::new(push.clone())?;
        let records = JoinedRecords::new(cluster.name().clone());
        let configured = pusher.configured(cluster);
        let (joined_tx, joined) = watch::channel(Arc::default());
        let (events, from_source) = mpsc::channel(EVENTS_MAX);
        let (pushed_tx, pushed) = mpsc::channel(EVENTS_MAX);
        tasks.spawn(records.follow(own, needs.recorded.clone(), joined_tx));
        tasks.spawn(pass_on(from_source, agent, pushed_tx));
        tasks.spawn(pusher.run(pushed, shutdown.clone()));
        Ok(Self {
            needs: Needs {
                recorded: joined,
                ..needs
            },
            configured,
            events,
        })
    }
}

/// Passes each event on to the agent and to the pusher, until the source or both receivers end.
async fn pass_on(
    mut events: mpsc::Receiver<ClusterEvent>,
    agent: mpsc::Sender<ClusterEvent>,
    pusher: mpsc::Sender<ClusterEvent>,
) {
    while let Some(event) = events.recv().await {
        let to_agent = agent.send(event.clone()).await;
        let to_pusher = pusher.send(event).await;
        if to_agent.is_err() && to_pusher.is_err() {
            return;
        }
    }
}
