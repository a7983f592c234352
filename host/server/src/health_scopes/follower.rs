//! The health scopes of one cluster.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use kindsight_clusters::{KubernetesCluster, ObjectWatch, WatchedObjects};
use kindsight_health_scope::{
    API_VERSION, ClusterHealths, HealthScope, PLURAL, SCOPES_MAX, ScopeBook, StatusUpdate,
};
use kindsight_leases::Ownership;
use kindsight_lifecycle::{SendError, Sender, SentStatus};
use kindsight_model::ClusterName;
use kindsight_read_model::ReadModel;
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::clock::now_ms;

/// Time for which changes are gathered, so that a workload that flaps does not load the API server.
const GATHER: Duration = Duration::from_secs(1);
/// Interval at which statuses that wait are compared again.
const EVERY: Duration = Duration::from_secs(5);

/// A step panicked. The log contains the place.
#[derive(Debug, thiserror::Error)]
#[error("a write of health scopes panicked; see the log")]
pub(super) struct Panicked;

/// The right of this host to write the status of scopes: a lease, by its fencing number, or always.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tenure {
    /// The host shares no clusters, so no other host writes.
    Always,
    /// The host owns the cluster under this number. Each later owner has a greater number.
    Owner(u64),
}

/// Follows the scopes of one cluster.
pub(super) struct Follower {
    cluster: ClusterName,
    book: ScopeBook,
    read_model: ReadModel,
    healths: ClusterHealths,
    sender: Arc<dyn Sender>,
    /// The clusters that this host owns; `None` if it shares no clusters.
    ownership: Option<Ownership>,
    /// The tenure at the begin of the book.
    tenure: Option<Tenure>,
    /// The problems that were logged last.
    logged: Vec<String>,
    is_over: bool,
}

impl Follower {
    pub(super) fn new(
        cluster: &KubernetesCluster,
        read_model: ReadModel,
        healths: ClusterHealths,
        sender: Arc<dyn Sender>,
        ownership: Option<Ownership>,
    ) -> Self {
        Self {
            cluster: cluster.name().clone(),
            book: ScopeBook::new(cluster.name().clone()),
            read_model,
            healths,
            sender,
            ownership,
            tenure: None,
            logged: Vec::new(),
            is_over: false,
        }
    }

    /// Follows the scopes until `stop`.
    pub(super) async fn run(
        self,
        cluster: KubernetesCluster,
        stop: CancellationToken,
    ) -> Result<(), Panicked> {
        let (state, states) = watch::channel(WatchedObjects::default());
        let kind = (API_VERSION, PLURAL);
        let watch = ObjectWatch::new(&cluster, kind, SCOPES_MAX, HealthScope::read).run(state);
        let following = self.follow(states);
        tokio::select! {
            // A stop does not wait for a write.
            () = stop.cancelled() => Ok(()),
            () = watch => Ok(()),
            followed = following => followed,
        }
    }

    async fn follow(
        mut self,
        mut states: watch::Receiver<WatchedObjects<HealthScope>>,
    ) -> Result<(), Panicked> {
        let ((), mut subscription) = self.read_model.subscribe(|_| ());
        loop {
            let mut gathering = pin!(subscription.gathered(GATHER));
            let changed = loop {
                tokio::select! {
                    gathered = &mut gathering => break gathered,
                    // The watch ends only with this follower.
                    _ = states.changed() => {
                        states.mark_changed();
                        sleep(GATHER).await;
                    }
                    () = sleep(EVERY) => {}
                }
                self = self.stepped(&mut states).await?;
            };
            let Some(changed) = changed else {
                // The read model is dropped, because the server stops.
                return std::future::pending().await;
            };
            if self.book.note_changed(&changed) {
                self = self.stepped(&mut states).await?;
            }
        }
    }

    /// The follower after a step with the present scopes.
    async fn stepped(
        mut self,
        states: &mut watch::Receiver<WatchedObjects<HealthScope>>,
    ) -> Result<Self, Panicked> {
        self.follow_tenure(states);
        if states.has_changed().unwrap_or_default() {
            self.take_scopes(states);
        }
        let step = spawn_blocking(move || {
            self.step();
            self
        });
        step.await.map_err(|_| Panicked)
    }

    /// The present tenure; `None` while another host, or no host, owns the cluster.
    fn present_tenure(&self) -> Option<Tenure> {
        match &self.ownership {
            None => Some(Tenure::Always),
            Some(ownership) => ownership.number(&self.cluster).map(Tenure::Owner),
        }
    }

    /// Begins a new book with a new tenure. All statuses are compared again, because the previous owner may have ended
    /// before it wrote them. The waits for stale and missing reports begin again, because this host has to list the cluster.
    fn follow_tenure(&mut self, states: &mut watch::Receiver<WatchedObjects<HealthScope>>) {
        let present = self.present_tenure();
        if present.is_some() && present != self.tenure {
            self.book = ScopeBook::new(self.cluster.clone());
            states.mark_changed();
        }
        self.tenure = present;
    }

    /// Returns whether this host may write now. A lease can end between two writes.
    fn may_write(&self) -> bool {
        self.tenure.is_some() && self.present_tenure() == self.tenure
    }

    /// Takes the scopes, and logs why they cannot be read.
    fn take_scopes(&mut self, states: &mut watch::Receiver<WatchedObjects<HealthScope>>) {
        let (scopes, problems): (Vec<Arc<HealthScope>>, Vec<String>) = {
            let state = states.borrow_and_update();
            let scopes = state.objects.values().cloned().collect();
            (scopes, state.away.values().cloned().collect())
        };
        let cluster = &self.cluster;
        if self.logged != problems {
            for why in &problems {
                tracing::warn!(%cluster, why, "the health scopes cannot be read");
            }
            self.logged = problems;
        }
        let is_over = self.book.set_scopes(&scopes, now_ms()) || scopes.len() >= SCOPES_MAX;
        if is_over && !self.is_over {
            tracing::warn!(%cluster, max = SCOPES_MAX, "the cluster may have more health scopes than are followed");
        }
        self.is_over = is_over;
    }

    /// Computes the status of changed scopes, and writes each status that differs from its object. A host that does not own
    /// the cluster only computes them, for its answers. Blocks.
    fn step(&mut self) {
        let updates = self.book.updates(&self.read_model, now_ms());
        self.healths.set(&self.book);
        let mut failures = 0_usize;
        let mut failed: Option<(StatusUpdate, SendError)> = None;
        for update in updates {
            if !self.may_write() {
                break;
            }
            let sent = self.sender.apply_status(&SentStatus {
                cluster: &self.cluster,
                api_version: API_VERSION,
                plural: PLURAL,
                namespace: &update.place.namespace,
                name: &update.place.name,
                forms: &update.bodies,
            });
            self.book.written(&update, sent.is_ok(), now_ms());
            if let Err(error) = sent {
                failures += 1;
                let is_away = matches!(error, SendError::Unreachable(_));
                failed.get_or_insert((update, error));
                // The others would wait for the same API server.
                if is_away {
                    break;
                }
            }
        }
        if let Some((update, error)) = failed {
            let (cluster, scope) = (&self.cluster, &update.place);
            tracing::warn!(%cluster, %scope, %error, failures, "the status of health scopes was not written; trying again");
        }
    }
}

#[cfg(test)]
mod tests;
