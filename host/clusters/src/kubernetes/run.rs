//! The run of a source: one session after the other.

mod telling;

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_model::{ClusterName, LabelSelector};
use tokio::sync::mpsc::Sender;
use tokio::sync::watch;
use tokio::time::sleep;

use super::KubernetesCluster;
use super::connection::ApiClient;
use super::deployments::ShownDeployments;
use super::discovery::ApiKind;
use super::identity::{self, Identity, Rank};
use super::inventory::GroupId;
use super::jitter::Backoff;
use super::session::{Session, SessionEnd};
use super::start::Start;
use crate::{ClusterEvent, ClusterSource, ConfiguredApplication, Needs, RecordedDeployments};

/// The channel of events is closed.
pub(super) struct Closed;

/// Criteria that objects are sorted by.
#[derive(PartialEq, Eq)]
pub(super) struct SortedBy {
    /// The applications of the configuration.
    pub(super) applications: Arc<[ConfiguredApplication]>,
    /// The deployments of `AppContext`s.
    pub(super) recorded: Arc<RecordedDeployments>,
    /// The labels of objects that belong to applications by themselves.
    pub(super) selector: Option<LabelSelector>,
}

/// The way of events to the pipeline.
pub(super) struct Run<E> {
    cluster: KubernetesCluster,
    configured: watch::Receiver<ClusterSource>,
    events: Sender<E>,
    needs: Needs,
    /// The name of the cluster under its uid, once that is known.
    identity: Option<Arc<Identity>>,
    /// The groups that were reported and not yet reported as empty.
    pub(super) known: BTreeSet<GroupId>,
    /// The ways in which recorded deployments were last reported.
    pub(super) shown: ShownDeployments,
    /// Criteria that objects were sorted by when everything was last told; none until it was.
    pub(super) sorted_by: Option<SortedBy>,
    /// The Kinds of which applications had objects or were judged by some then.
    pub(super) used: BTreeSet<Arc<ApiKind>>,
    /// The Kinds of which a selector left out objects then.
    pub(super) cut: BTreeSet<Arc<ApiKind>>,
    /// The last reason why the cluster was not heard; none while it is.
    told_stale: Option<String>,
    /// The start of the last session.
    start: Start,
    /// True if everything was seen since the last session began.
    is_heard: bool,
}

impl<E: From<ClusterEvent>> Run<E> {
    pub(super) fn new(
        cluster: KubernetesCluster,
        configured: watch::Receiver<ClusterSource>,
        events: Sender<E>,
        needs: Needs,
    ) -> Self {
        Self {
            cluster,
            configured,
            events,
            needs,
            identity: None,
            known: BTreeSet::new(),
            shown: ShownDeployments::default(),
            sorted_by: None,
            used: BTreeSet::new(),
            cut: BTreeSet::new(),
            told_stale: None,
            start: Start::default(),
            is_heard: false,
        }
    }

    /// One session after the other. What was reported stays until the next session has seen everything.
    pub(super) async fn run(mut self) -> Result<(), Closed> {
        let mut backoff = Backoff::default();
        self.tell_origin().await?;
        loop {
            let mut configured = self.configured.clone();
            tokio::select! {
                end = self.session(&mut backoff) => match end {
                    SessionEnd::Closed => return Err(Closed),
                    // A token that ended is no news where the next one is accepted.
                    SessionEnd::Failed(_) if std::mem::take(&mut self.is_heard) => {
                        self.configure(&mut backoff);
                        continue;
                    }
                    SessionEnd::Failed(why) => self.stale(&why).await?,
                    SessionEnd::WatchedAs(name) => {
                        self.leave_to(&name).await?;
                        tokio::select! {
                            () = self.come_back() => {}
                            () = changed(&mut configured) => {}
                        }
                        let cluster = self.cluster.name.clone();
                        self.send(ClusterEvent::Added { cluster }).await?;
                    }
                },
                () = changed(&mut configured) => {}
            }
            tokio::select! {
                () = sleep(backoff.next()) => {}
                () = changed(&mut configured) => {}
            }
            self.configure(&mut backoff);
        }
    }

    /// One session, begun when there is room.
    async fn session(&mut self, backoff: &mut Backoff) -> SessionEnd {
        self.start = self.needs.starts.begin().await;
        let late = self.start.clone().time_out();
        tokio::select! {
            end = self.whole_session(backoff) => {
                self.start.end();
                end
            }
            end = late => end,
        }
    }

    async fn whole_session(&mut self, backoff: &mut Backoff) -> SessionEnd {
        let session = match Session::connect(&self.cluster, self.needs.clone()).await {
            Ok(session) => session,
            Err(why) => return SessionEnd::Failed(why),
        };
        let identity = match self.identify(session.client()).await {
            Ok(identity) => identity,
            Err(why) => return SessionEnd::Failed(why),
        };
        *backoff = Backoff::default();
        tokio::select! {
            // First, since it may be so already.
            biased;
            name = watched_as(identity) => SessionEnd::WatchedAs(name),
            end = session.run(self) => end,
        }
    }

    /// Enters the name of the cluster under its uid, where that can be read.
    async fn identify(&mut self, client: ApiClient) -> Result<Option<Arc<Identity>>, String> {
        let uid = identity::uid_of(&client).await;
        let Some(uid) = uid.map_err(|error| error.to_string())? else {
            self.identity = None;
            return Ok(None);
        };
        let known = self.identity.take().filter(|it| *it.uid() == uid);
        let identity = known.unwrap_or_else(|| {
            let rank = Rank {
                is_found: self.cluster.is_found,
                name: self.cluster.name.clone(),
                origin: Arc::clone(&self.cluster.origin),
            };
            Arc::new(self.needs.identities.enter(uid, rank))
        });
        self.identity = Some(Arc::clone(&identity));
        Ok(Some(identity))
    }

    /// Leaves the cluster to another of its names.
    async fn leave_to(&mut self, name: &ClusterName) -> Result<(), Closed> {
        let cluster = self.cluster.name.clone();
        tracing::info!(%cluster, "context leads to the cluster that is watched as {name}");
        self.known.clear();
        self.used.clear();
        self.cut.clear();
        self.sorted_by = None;
        self.shown = ShownDeployments::default();
        self.told_stale = None;
        self.send(ClusterEvent::Removed { cluster }).await
    }

    /// Waits until the cluster is watched under no other of its names.
    async fn come_back(&self) {
        if let Some(identity) = self.identity.clone() {
            let mut changes = identity.changes();
            while identity.watched_as().is_some() && changes.changed().await.is_ok() {}
        }
    }

    /// The name of the cluster where it was configured, with the other contexts that lead to it.
    pub(super) fn origin(&self) -> Arc<str> {
        let origin = &self.cluster.origin;
        let others = self.identity.as_ref().map(|it| it.others());
        match others.filter(|it| !it.is_empty()) {
            Some(others) => format!("{origin}, also {}", others.join(", ")).into(),
            None => Arc::clone(origin),
        }
    }

    /// Goes on by the configuration as it is now.
    fn configure(&mut self, backoff: &mut Backoff) {
        if !self.configured.has_changed().unwrap_or_default() {
            return;
        }
        *backoff = Backoff::default();
        if let ClusterSource::Kubernetes(cluster) = &*self.configured.borrow_and_update() {
            self.cluster = (**cluster).clone();
        }
    }
}

/// Waits until the cluster is watched under another of its names.
async fn watched_as(identity: Option<Arc<Identity>>) -> ClusterName {
    if let Some(identity) = identity {
        let mut changes = identity.changes();
        loop {
            if let Some(name) = identity.watched_as() {
                return name;
            }
            if changes.changed().await.is_err() {
                break;
            }
        }
    }
    std::future::pending().await
}

/// Waits for another configuration; for ever where nobody changes it.
async fn changed(configured: &mut watch::Receiver<ClusterSource>) {
    if configured.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests;
