//! The run of a source: a sequence of sessions.

mod event_sender;
mod renewal;

use std::sync::Arc;

use kindsight_model::ClusterName;
use tokio::sync::mpsc::Sender;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::connection::OTHER_CLUSTER;
use super::identity::{Identity, Reach};
use super::jitter::Backoff;
use super::known::Known;
use super::session::{Session, SessionEnd};
use super::turn::ClusterTurns;
use super::{Access, KubernetesCluster};
use crate::{ClusterEvent, ClusterSource, Needs};
pub(super) use event_sender::{Closed, EventSender};
use renewal::Renewal;

/// The run of a source.
pub(super) struct Run<E> {
    cluster: KubernetesCluster,
    configured: watch::Receiver<ClusterSource>,
    needs: Needs,
    /// The knowledge of the cluster, which outlives sessions.
    known: Known,
    events: EventSender<E>,
    /// The turns of the cluster to list its Kinds.
    turns: ClusterTurns,
    /// The time at which the server accepted the last session; none before.
    accepted_at: Option<Instant>,
    /// Number of failed attempts since the last change of the contexts.
    attempts: usize,
    /// A session that ended and whose successor the server has not accepted yet.
    renewal: Option<Renewal>,
}

impl<E: From<ClusterEvent>> Run<E> {
    pub(super) fn new(
        cluster: KubernetesCluster,
        configured: watch::Receiver<ClusterSource>,
        events: Sender<E>,
        needs: Needs,
    ) -> Self {
        Self {
            events: EventSender::new(&cluster, events),
            cluster,
            configured,
            turns: needs.turns.of_cluster(),
            needs,
            known: Known::default(),
            accepted_at: None,
            attempts: 0,
            renewal: None,
        }
    }

    /// Runs sessions, one after the other.
    pub(super) async fn run(mut self) -> Result<(), Closed> {
        let mut backoff = Backoff::default();
        self.events.send_origin().await?;
        loop {
            // The first receiver may consume a change before the session ends. The second one still has the change for the
            // wait after the session.
            let mut configured_in_session = self.configured.clone();
            let mut configured = self.configured.clone();
            let mut sending = self.events.sending();
            tokio::select! {
                end = self.session() => match end {
                    SessionEnd::Closed => return Err(Closed),
                    SessionEnd::Failed(why) => self.failed(why, &mut backoff).await?,
                    SessionEnd::Lost(why) => {
                        self.attempts += 1;
                        self.failed(why, &mut backoff).await?;
                    }
                    SessionEnd::Narrow => {
                        self.attempts = 0;
                        self.replaced(&mut backoff);
                    }
                    SessionEnd::WatchedAs(name) => {
                        self.leave_to(&name).await?;
                        tokio::select! {
                            () = self.name_free() => {}
                            () = changed(&mut configured) => {}
                        }
                        self.events.added().await?;
                    }
                },
                () = changed_between_events(&mut configured_in_session, &mut sending) => {
                    self.replaced(&mut backoff);
                }
            }
            let wait = backoff.next();
            let waited = async move {
                tokio::select! {
                    () = sleep(wait) => {}
                    () = changed(&mut configured) => {}
                }
            };
            self.renewing(waited).await?;
            self.configure(&mut backoff);
        }
    }

    /// Runs one session, once the cluster has a turn.
    async fn session(&mut self) -> SessionEnd {
        let turns = self.turns.clone();
        match self.renewing(turns.start()).await {
            Ok(start) => start.during(self.whole_session()).await,
            Err(Closed) => SessionEnd::Closed,
        }
    }

    async fn whole_session(&mut self) -> SessionEnd {
        let access = self.access();
        let cluster = KubernetesCluster {
            access: access.clone(),
            ..self.cluster.clone()
        };
        let connecting = connected(cluster, self.needs.clone(), self.turns.clone());
        let connected = match self.renewing(connecting).await {
            Ok(Ok(connected)) => connected,
            Ok(Err(why)) => return self.not_connected(&access, why),
            Err(Closed) => return SessionEnd::Closed,
        };
        let Connected {
            session,
            uid,
            refused,
        } = connected;
        let entered = self.events.entered();
        let entered = entered.as_ref().map(|identity| identity.uid());
        if access != self.cluster.access && entered != uid.as_ref() {
            return self.not_connected(&access, OTHER_CLUSTER.to_owned());
        }
        self.accepted();
        let identity = match self.identify(uid, refused).await {
            Ok(identity) => identity,
            Err(end) => return end,
        };
        if let Some(identity) = &identity
            && identity.is_narrow(&access, refused)
            && identity.watched_as().is_none()
        {
            return SessionEnd::Narrow;
        }
        let end = tokio::select! {
            // First in order, because the cluster may already be watched under another name.
            biased;
            name = watched_as(identity) => SessionEnd::WatchedAs(name),
            end = session.run(&mut self.known, &mut self.events) => end,
        };
        if matches!(end, SessionEnd::Lost(_)) {
            self.note_failure(&access);
        }
        end
    }

    /// The access for the next session. After a failed session, it is the access of another context of the cluster.
    fn access(&self) -> Access {
        let entered = self.events.entered();
        let mut reaches = entered.map_or_else(Vec::new, |identity| identity.reaches());
        if reaches.is_empty() {
            return self.cluster.access.clone();
        }
        let next = self.attempts % reaches.len();
        reaches.swap_remove(next).access
    }

    /// Continues with the next context of the cluster.
    fn not_connected(&mut self, access: &Access, why: String) -> SessionEnd {
        self.attempts += 1;
        self.note_failure(access);
        SessionEnd::Failed(why)
    }

    /// Notes that a session with an access failed.
    fn note_failure(&self, access: &Access) {
        if let Some(identity) = self.events.entered() {
            identity.fail(access);
        }
    }

    /// Enters the name of the cluster under its uid, if the uid can be read. A changed uid is another cluster,
    /// which begins with empty knowledge.
    async fn identify(
        &mut self,
        uid: Option<Arc<str>>,
        refused: usize,
    ) -> Result<Option<Arc<Identity>>, SessionEnd> {
        let Some(uid) = uid else {
            self.events.identify(None);
            return Ok(None);
        };
        if self.known.is_other_cluster(&uid) {
            tracing::warn!(cluster = %self.cluster.name, "the name belongs to another cluster now; data of the previous cluster is removed");
            self.forget().await?;
            self.events.added().await?;
        }
        self.known.identify(&uid);
        let entered = self.events.entered().filter(|known| *known.uid() == uid);
        let identity = entered.unwrap_or_else(|| {
            let KubernetesCluster {
                name,
                origin,
                is_found,
                access,
                ..
            } = self.cluster.clone();
            let reach = Reach::new(access, refused);
            let identities = &self.needs.identities;
            Arc::new(identities.enter(uid, (is_found, name, origin), reach))
        });
        self.events.identify(Some(Arc::clone(&identity)));
        Ok(Some(identity))
    }

    /// Ends this source's cluster, because another name of it is watched.
    async fn leave_to(&mut self, name: &ClusterName) -> Result<(), Closed> {
        let cluster = &self.cluster.name;
        tracing::info!(%cluster, "context not watched separately: its cluster is watched as {name}");
        self.forget().await
    }

    /// Forgets the cluster.
    async fn forget(&mut self) -> Result<(), Closed> {
        self.known = Known::default();
        self.events.removed().await
    }

    /// Waits until the cluster is not watched under another name.
    async fn name_free(&self) {
        if let Some(identity) = self.events.entered() {
            let mut changes = identity.changes();
            while identity.watched_as().is_some() && changes.changed().await.is_ok() {}
        }
    }

    /// Applies a changed configuration.
    fn configure(&mut self, backoff: &mut Backoff) {
        if !self.configured.has_changed().unwrap_or_default() {
            return;
        }
        *backoff = Backoff::default();
        self.attempts = 0;
        if let ClusterSource::Kubernetes(cluster) = &*self.configured.borrow_and_update() {
            if let Some(identity) = self.events.entered()
                && cluster.access != self.cluster.access
            {
                identity.replace_access(cluster.access.clone());
            }
            self.cluster = (**cluster).clone();
            self.events.configure(&self.cluster);
        }
    }
}

/// A session that the server accepted.
struct Connected {
    session: Session,
    uid: Option<Arc<str>>,
    /// Number of refused Kinds, if another context leads to the cluster.
    refused: usize,
}

/// Connects to a cluster, and reads its uid.
async fn connected(
    cluster: KubernetesCluster,
    needs: Needs,
    turns: ClusterTurns,
) -> Result<Connected, String> {
    let identities = needs.identities.clone();
    let session = Session::connect(&cluster, needs, turns).await?;
    let uid = session.connections().uid();
    let has_others = uid.as_ref().is_some_and(|uid| identities.has(uid));
    let refused = if cluster.is_found && has_others {
        session.count_refused().await
    } else {
        0
    };
    Ok(Connected {
        session,
        uid,
        refused,
    })
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

/// Waits for a changed configuration, and then until no event waits for room in its channel. The event of a session that
/// is cancelled earlier would be lost.
async fn changed_between_events(
    configured: &mut watch::Receiver<ClusterSource>,
    sending: &mut watch::Receiver<bool>,
) {
    changed(configured).await;
    // The sender lives as long as the run.
    let _ = sending.wait_for(|is_sending| !is_sending).await;
}

/// Waits for a changed configuration; for ever if the sender is dropped.
async fn changed(configured: &mut watch::Receiver<ClusterSource>) {
    if configured.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests;
