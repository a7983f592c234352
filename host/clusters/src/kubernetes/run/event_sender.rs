//! The events of a source, as the pipeline receives them.

use std::collections::BTreeMap;
use std::sync::Arc;

use kindsight_cluster_index::GroupReport;
use kindsight_model::{ClusterFacts, Coverage, DigName, MissingResources, Subject, clean};
use tokio::sync::mpsc::Sender;
use tokio::sync::watch;

use crate::ClusterEvent;
use crate::kubernetes::identity::Identity;
use crate::kubernetes::{KubernetesCluster, REASON_BYTES_MAX};

/// The channel of events is closed.
pub(in crate::kubernetes) struct Closed;

/// Sends the events of one cluster. Unchanged coverage and an unchanged reason are sent once.
pub(in crate::kubernetes) struct EventSender<E> {
    cluster: KubernetesCluster,
    events: Sender<E>,
    /// The context under the uid of the cluster; none before the uid is known.
    identity: Option<Arc<Identity>>,
    /// The last coverage that was sent.
    coverage: Option<Coverage>,
    /// The reason why the cluster is stale; none if it is not.
    stale: Option<String>,
    /// True if every object was listed since the last session began.
    is_heard: bool,
    /// Number of sessions that the server accepted.
    sessions: u64,
    /// True while an event waits for room in the channel.
    is_sending: watch::Sender<bool>,
}

/// An event that waits for room in the channel, until this value is dropped.
struct Sending<'s>(&'s watch::Sender<bool>);

impl<'s> Sending<'s> {
    fn begin(is_sending: &'s watch::Sender<bool>) -> Self {
        is_sending.send_replace(true);
        Self(is_sending)
    }
}

impl Drop for Sending<'_> {
    fn drop(&mut self) {
        self.0.send_replace(false);
    }
}

impl<E: From<ClusterEvent>> EventSender<E> {
    pub(super) fn new(cluster: &KubernetesCluster, events: Sender<E>) -> Self {
        Self {
            cluster: cluster.clone(),
            events,
            identity: None,
            coverage: None,
            stale: None,
            is_heard: false,
            sessions: 0,
            is_sending: watch::Sender::new(false),
        }
    }

    /// A receiver of changes: `true` while an event waits for room in the channel. If the session is cancelled meanwhile,
    /// the event is lost, and the later events of the same change too.
    pub(super) fn sending(&self) -> watch::Receiver<bool> {
        self.is_sending.subscribe()
    }

    /// Counts a session that the server accepted.
    pub(super) fn accepted(&mut self) {
        self.sessions += 1;
    }

    /// Continues with another configuration of the cluster.
    pub(super) fn configure(&mut self, cluster: &KubernetesCluster) {
        self.cluster = cluster.clone();
    }

    /// Sets the name under which the cluster is entered; none if its uid cannot be read.
    pub(super) fn identify(&mut self, identity: Option<Arc<Identity>>) {
        self.identity = identity;
    }

    /// The name under which the cluster is entered.
    pub(in crate::kubernetes) fn entered(&self) -> Option<Arc<Identity>> {
        self.identity.clone()
    }

    /// Returns whether every object was listed since the last call.
    pub(super) fn take_heard(&mut self) -> bool {
        std::mem::take(&mut self.is_heard)
    }

    /// Sends the origin of the cluster in the configuration, before the cluster is reached.
    pub(super) async fn send_origin(&self) -> Result<(), Closed> {
        self.send_facts(self.facts()).await
    }

    /// Sends that the cluster is configured.
    pub(super) async fn added(&self) -> Result<(), Closed> {
        let cluster = self.cluster.name.clone();
        self.send(ClusterEvent::Added { cluster }).await
    }

    /// Sends that the cluster is removed, so that receivers forget it.
    pub(super) async fn removed(&mut self) -> Result<(), Closed> {
        self.coverage = None;
        self.stale = None;
        let cluster = self.cluster.name.clone();
        self.send(ClusterEvent::Removed { cluster }).await
    }

    /// The facts that are known without a session.
    pub(in crate::kubernetes) fn facts(&self) -> ClusterFacts {
        ClusterFacts {
            origin: self.origin(),
            identity: self.identity.as_ref().map(|known| Arc::clone(known.uid())),
            mode: self.cluster.options.mode,
            selector: self.cluster.options.selector_text(),
            sessions: self.sessions,
            ..ClusterFacts::default()
        }
    }

    /// The origin of the cluster in its configuration, with the other contexts that lead to it.
    fn origin(&self) -> Arc<str> {
        let origin = &self.cluster.origin;
        let others = self.identity.as_ref().map(|known| known.others());
        match others.filter(|others| !others.is_empty()) {
            Some(others) => format!("{origin}, also {}", others.join(", ")).into(),
            None => Arc::clone(origin),
        }
    }

    pub(in crate::kubernetes) async fn send_facts(
        &self,
        facts: ClusterFacts,
    ) -> Result<(), Closed> {
        let (cluster, facts) = (self.cluster.name.clone(), Arc::new(facts));
        self.send(ClusterEvent::Facts { cluster, facts }).await
    }

    /// Sends, once for each reason, that the cluster cannot be reached.
    pub(in crate::kubernetes) async fn stale(&mut self, why: &str) -> Result<(), Closed> {
        let reason = clean(why, REASON_BYTES_MAX).into_owned();
        if self.stale.as_ref() == Some(&reason) {
            return Ok(());
        }
        self.stale = Some(reason.clone());
        let cluster = self.cluster.name.clone();
        self.send(ClusterEvent::Stale { cluster, reason }).await
    }

    /// Sends that every object of the cluster was reported.
    pub(in crate::kubernetes) async fn synced(&mut self) -> Result<(), Closed> {
        self.stale = None;
        self.is_heard = true;
        if let Some(identity) = &self.identity {
            identity.settle();
        }
        let cluster = self.cluster.name.clone();
        self.send(ClusterEvent::Synced { cluster }).await
    }

    /// Sends that the cluster answered.
    pub(in crate::kubernetes) async fn heard(&self) -> Result<(), Closed> {
        let cluster = self.cluster.name.clone();
        self.send(ClusterEvent::Heard { cluster }).await
    }

    /// Sends the states of a new coverage that are worse than before: the reports that follow rely on them.
    pub(in crate::kubernetes) async fn cover_worse(
        &mut self,
        coverage: &Coverage,
    ) -> Result<(), Closed> {
        let worst = match &self.coverage {
            Some(before) if before == coverage => return Ok(()),
            Some(before) => before.worst_of(coverage),
            None => coverage.clone(),
        };
        self.cover(worst).await
    }

    /// Sends the coverage if it changed.
    pub(in crate::kubernetes) async fn cover(&mut self, coverage: Coverage) -> Result<(), Closed> {
        if self.coverage.as_ref() == Some(&coverage) {
            return Ok(());
        }
        self.coverage = Some(coverage.clone());
        let cluster = self.cluster.name.clone();
        self.send(ClusterEvent::Coverage { cluster, coverage })
            .await
    }

    /// Sends reports and missing resources. Those of one application are sent together.
    pub(in crate::kubernetes) async fn report(
        &self,
        reports: Vec<GroupReport>,
        missing: Vec<MissingResources>,
    ) -> Result<(), Closed> {
        type Parts = (Vec<GroupReport>, Vec<MissingResources>);
        let mut applications: BTreeMap<DigName, Parts> = BTreeMap::new();
        let mut deployments: Vec<Parts> = Vec::new();
        for (group, report) in reports {
            if let Subject::Application { application, .. } = &group {
                let parts = applications.entry(application.clone());
                parts.or_default().0.push((group, report));
            } else {
                deployments.push((vec![(group, report)], Vec::new()));
            }
        }
        for resources in missing {
            let parts = applications.entry(resources.application.clone());
            parts.or_default().1.push(resources);
        }
        for (reports, missing) in applications.into_values().chain(deployments) {
            let cluster = self.cluster.name.clone();
            self.send(ClusterEvent::Reports {
                cluster,
                reports,
                missing,
            })
            .await?;
        }
        Ok(())
    }

    pub(in crate::kubernetes) async fn send(&self, event: ClusterEvent) -> Result<(), Closed> {
        let _sending = Sending::begin(&self.is_sending);
        self.events.send(event.into()).await.map_err(|_| Closed)
    }
}
