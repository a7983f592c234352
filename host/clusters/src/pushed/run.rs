//! The run of the source of a pushed cluster.

use std::collections::HashMap;
use std::sync::Arc;

use kindsight_model::{ClusterFacts, clean};
use tokio::sync::mpsc::{self, Sender};
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep_until};

use super::{ConfirmationId, PushInlet, PushedBatch, PushedCluster, PushedNeeds, SILENT_MAX};
use crate::confirmations::ConfirmationRequest;
use crate::{ClusterEvent, ClusterSource, Needs};

/// Maximum number of batches that wait for the pipeline. An agent that sends more is refused for a moment.
const BATCHES_MAX: usize = 4;
/// Maximum number of requests for confirmation that wait for one agent.
const CONFIRMATIONS_MAX: usize = 64;
/// Number of bits of the first revision. JSON readers keep integers of 53 bits.
const REVISION_BITS: u32 = 52;
/// Maximum length of a reason of the agent, in bytes.
const REASON_BYTES_MAX: usize = 600;

const NEVER_PUSHED: &str = "the cluster cannot be reached: no agent has pushed a report yet";
const SILENT: &str = "the cluster cannot be reached: its agent has pushed nothing for ten seconds";
const LATE: &str = "the reports of the agent are more than ten seconds late";
const BEGINNING: &str = "the agent began again and has not listed the cluster yet";

/// The channel of events is closed.
pub(super) struct Closed;

/// The connection of the agent to its cluster, as the agent tells.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Connection {
    /// The agent has not listed the cluster since this moment.
    Unknown(Instant),
    Synced,
    Stale(String),
}

/// The connection as the pipeline knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Shown {
    Nothing,
    Synced,
    Stale(String),
}

/// The run of a source.
pub(super) struct Run<E> {
    cluster: PushedCluster,
    configured: watch::Receiver<ClusterSource>,
    events: Sender<E>,
    needs: Needs,
    /// What the agent must know.
    agent_needs: watch::Sender<PushedNeeds>,
    batches: mpsc::Receiver<PushedBatch>,
    /// Present until the run begins.
    inlet: Option<PushInlet>,
    connection: Connection,
    shown: Shown,
    /// True while the agent sends what is more than ten seconds old.
    is_late: bool,
    /// True once an agent has pushed a batch.
    is_known: bool,
    silent_at: Instant,
    /// The last time at which the connection was checked.
    checked_at: Instant,
    waiting: HashMap<ConfirmationId, oneshot::Sender<Result<(), String>>>,
    next_confirmation: ConfirmationId,
}

impl<E: From<ClusterEvent>> Run<E> {
    pub(super) fn new(
        cluster: PushedCluster,
        configured: watch::Receiver<ClusterSource>,
        events: Sender<E>,
        needs: Needs,
    ) -> Self {
        let revision = fastrand::u64(..) >> (u64::BITS - REVISION_BITS);
        let (agent_needs, of_agent) = watch::channel(PushedNeeds {
            revision,
            ..PushedNeeds::default()
        });
        let (batches_tx, batches) = mpsc::channel(BATCHES_MAX);
        let now = Instant::now();
        Self {
            cluster,
            configured,
            events,
            needs,
            agent_needs,
            batches,
            inlet: Some(PushInlet {
                batches: batches_tx,
                needs: of_agent,
            }),
            connection: Connection::Unknown(now),
            shown: Shown::Nothing,
            is_late: false,
            is_known: false,
            silent_at: now + SILENT_MAX,
            checked_at: now,
            waiting: HashMap::new(),
            next_confirmation: revision,
        }
    }

    /// Passes batches on until the channel of events is closed.
    pub(super) async fn run(mut self) -> Result<(), Closed> {
        let name = self.cluster.name.clone();
        let mut requests = self.needs.confirmations.requests(&name);
        self.update_needs();
        let pushed = self.needs.pushed.clone();
        let _entered = self.inlet.take().map(|inlet| pushed.enter(&name, inlet));
        self.send_facts(&ClusterFacts {
            origin: "push".into(),
            ..ClusterFacts::default()
        })
        .await?;
        loop {
            let check_at = self.check_at();
            let is_due = check_at.is_some();
            let check = sleep_until(check_at.unwrap_or_else(Instant::now));
            tokio::select! {
                // Batches first: a waiting batch shows that the agent is not silent.
                biased;
                Some(batch) = self.batches.recv() => self.take(batch).await?,
                Some(request) = requests.recv() => self.ask(request),
                Ok(()) = self.needs.related.changed() => self.update_needs(),
                Ok(()) = self.needs.recorded.changed() => self.update_needs(),
                Ok(()) = self.configured.changed() => self.configure(),
                () = check, if is_due => self.show().await?,
            }
        }
    }

    /// The next time at which the connection changes without a batch, after the last check.
    fn check_at(&self) -> Option<Instant> {
        let began_by = match &self.connection {
            Connection::Unknown(since) => Some(*since + SILENT_MAX),
            Connection::Synced | Connection::Stale(_) => None,
        };
        let times = [Some(self.silent_at), began_by].into_iter().flatten();
        times.filter(|at| *at > self.checked_at).min()
    }

    async fn take(&mut self, batch: PushedBatch) -> Result<(), Closed> {
        let PushedBatch {
            agent,
            is_new_epoch,
            events,
            confirmed,
            lag,
        } = batch;
        self.is_known = true;
        self.is_late = lag > SILENT_MAX;
        if is_new_epoch {
            self.connection = Connection::Unknown(Instant::now());
        }
        for event in events {
            match event {
                ClusterEvent::Synced { .. } => self.connection = Connection::Synced,
                ClusterEvent::Stale { reason, .. } => {
                    let reason = clean(&reason, REASON_BYTES_MAX).into_owned();
                    self.connection = Connection::Stale(reason);
                }
                ClusterEvent::Facts { facts, .. } => {
                    let origin = format!("agent {agent}: {}", facts.origin);
                    self.send_facts(&ClusterFacts {
                        origin: clean(&origin, REASON_BYTES_MAX).into(),
                        ..(*facts).clone()
                    })
                    .await?;
                }
                ClusterEvent::Removed { .. } => {
                    // The pipeline forgets the state of the connection too.
                    self.connection = Connection::Unknown(Instant::now());
                    self.shown = Shown::Nothing;
                    self.send(event).await?;
                }
                event => self.send(event).await?,
            }
        }
        // The agent is not silent while the pipeline takes the events.
        self.silent_at = Instant::now() + SILENT_MAX;
        self.show().await?;
        for (id, answer) in confirmed {
            self.answer(id, answer);
        }
        Ok(())
    }

    /// Tells the pipeline the state of the connection if it changed.
    async fn show(&mut self) -> Result<(), Closed> {
        let now = Instant::now();
        self.checked_at = now;
        let next = if self.silent_at <= now {
            let reason = if self.is_known { SILENT } else { NEVER_PUSHED };
            Shown::Stale(reason.to_owned())
        } else if self.is_late {
            Shown::Stale(LATE.to_owned())
        } else {
            match &self.connection {
                Connection::Synced => Shown::Synced,
                Connection::Stale(reason) => Shown::Stale(reason.clone()),
                Connection::Unknown(since) if self.is_known && *since + SILENT_MAX <= now => {
                    Shown::Stale(BEGINNING.to_owned())
                }
                Connection::Unknown(_) => return Ok(()),
            }
        };
        if self.shown == next {
            return Ok(());
        }
        self.shown = next.clone();
        let cluster = self.cluster.name.clone();
        match next {
            Shown::Nothing => Ok(()),
            Shown::Synced => self.send(ClusterEvent::Synced { cluster }).await,
            Shown::Stale(reason) => self.send(ClusterEvent::Stale { cluster, reason }).await,
        }
    }

    /// Asks the agent to confirm.
    fn ask(&mut self, request: ConfirmationRequest) {
        self.waiting.retain(|_, answer| !answer.is_closed());
        let ConfirmationRequest { kinds, answer } = request;
        if self.shown != Shown::Synced || self.waiting.len() >= CONFIRMATIONS_MAX {
            let why = match &self.shown {
                Shown::Stale(reason) => reason.clone(),
                Shown::Nothing => NEVER_PUSHED.to_owned(),
                Shown::Synced => "its agent has too many requests to confirm".to_owned(),
            };
            // The client may have disconnected.
            let _ = answer.send(Err(why));
            return;
        }
        let id = self.next_confirmation;
        self.next_confirmation += 1;
        self.waiting.insert(id, answer);
        let waiting = &self.waiting;
        self.agent_needs.send_modify(|needs| {
            needs.confirmations.retain(|id, _| waiting.contains_key(id));
            needs.confirmations.insert(id, kinds);
            needs.revision += 1;
        });
    }

    /// Passes on the answer to a request. An answer to another request is ignored.
    fn answer(&mut self, id: ConfirmationId, answer: Result<(), String>) {
        let Some(waiting) = self.waiting.remove(&id) else {
            return;
        };
        self.agent_needs.send_modify(|needs| {
            needs.confirmations.remove(&id);
            needs.revision += 1;
        });
        let answer = answer.map_err(|why| clean(&why, REASON_BYTES_MAX).into_owned());
        // The client may have disconnected.
        let _ = waiting.send(answer);
    }

    /// Applies a changed configuration.
    fn configure(&mut self) {
        if let ClusterSource::Pushed(cluster) = &*self.configured.borrow_and_update() {
            self.cluster = cluster.clone();
        }
        self.update_needs();
    }

    /// Publishes the needs if they changed.
    fn update_needs(&mut self) {
        let related = Arc::clone(&self.needs.related.borrow_and_update());
        let recorded = self.needs.recorded.borrow_and_update();
        let recorded = recorded.of(&self.cluster.name);
        let applications = Arc::clone(&self.cluster.applications);
        self.agent_needs.send_if_modified(|needs| {
            let next = PushedNeeds {
                related,
                recorded,
                applications,
                ..needs.clone()
            };
            let is_changed = next != *needs;
            if is_changed {
                *needs = PushedNeeds {
                    revision: needs.revision + 1,
                    ..next
                };
            }
            is_changed
        });
    }

    async fn send_facts(&self, facts: &ClusterFacts) -> Result<(), Closed> {
        let cluster = self.cluster.name.clone();
        let facts = Arc::new(facts.clone());
        self.send(ClusterEvent::Facts { cluster, facts }).await
    }

    async fn send(&self, event: ClusterEvent) -> Result<(), Closed> {
        self.events.send(event.into()).await.map_err(|_| Closed)
    }
}
