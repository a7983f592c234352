//! The half of the server: from bodies to batches of events.
//!
//! Decoding applies the checks of a watched cluster: an object is read by [`kindsight_model::Object`], which removes the
//! content of Secrets, and an object that cannot be read affects only itself. A report can concern only the cluster of
//! its route, the deployments that are recorded there, and the applications that can be found there.

mod body;
mod coverages;
mod epoch;
mod held_list;
mod held_report;
mod made;
mod reported;
mod signals;
mod size;
mod staged;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::Duration;

use kindsight_api::push::{
    AgentNeeds, FORMAT, NeedsParameters, PushAnswer, PushParameters, PushRefusal,
};
use kindsight_clusters::{PushInlet, PushedBatch, PushedClusters, SILENT_MAX};
use kindsight_model::{ClusterName, is_name};
use tokio::time::{Instant, timeout};

use crate::wire::needs_to_wire;
pub use body::PUSH_DECODED_BYTES_MAX;
pub use coverages::{COVERAGE_BYTES_MAX, COVERAGE_ROWS_MAX};
use epoch::Epoch;
pub use made::{
    BODY_BYTES_MAX, BODY_OBJECTS_MAX, BODY_REPEATS_MAX, BODY_SIGNALS_MAX, BODY_UNREADABLE_MAX,
};
use reported::Reported;
pub use size::{CLUSTER_BYTES_MAX, CLUSTER_OBJECTS_MAX};

/// Time after which a query for needs is answered although they did not change.
const NEEDS_WAIT: Duration = Duration::from_secs(5);

/// The intakes of all pushed clusters.
#[derive(Debug)]
pub struct Intakes {
    clusters: PushedClusters,
    known: Mutex<HashMap<ClusterName, Known>>,
}

/// The intake of one cluster, for one start of its source.
#[derive(Debug)]
struct Known {
    inlet: Arc<PushInlet>,
    intake: Arc<Mutex<Intake>>,
}

/// The intake of one cluster.
#[derive(Debug)]
struct Intake {
    cluster: ClusterName,
    inlet: Arc<PushInlet>,
    /// The agent that reports on the cluster; none before the first one.
    agent: Option<Agent>,
    /// The epoch of the agent; none until it sends a complete report.
    epoch: Option<Epoch>,
    last_epoch: u64,
    /// Everything that the pipeline has of earlier epochs.
    reported: Reported,
}

#[derive(Debug)]
struct Agent {
    name: Arc<str>,
    /// The time of the last request that was taken; none if the agent has left.
    heard_at: Option<Instant>,
}

impl Intakes {
    /// The intakes of these clusters.
    pub fn new(clusters: PushedClusters) -> Self {
        Self {
            clusters,
            known: Mutex::default(),
        }
    }

    /// Takes a body, or a heartbeat without one. When this returns, the events are in the channel of the source.
    /// Decodes up to [`PUSH_DECODED_BYTES_MAX`] bytes, so callers use a blocking thread.
    ///
    /// # Errors
    /// [`PushRefusal`].
    pub fn accept(
        &self,
        cluster: &ClusterName,
        parameters: &PushParameters,
        body: &[u8],
    ) -> Result<PushAnswer, PushRefusal> {
        if parameters.format != FORMAT {
            return Err(PushRefusal::Format(parameters.format));
        }
        if !is_name(&parameters.agent) {
            let why =
                "the parameter `agent` is not a name of 1 to 128 letters, digits, `-`, `_` or `.`";
            return Err(PushRefusal::Invalid(why.to_owned()));
        }
        let intake = self.of(cluster)?;
        let mut intake = match intake.try_lock() {
            Ok(intake) => intake,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(PushRefusal::Busy),
        };
        intake.accept(parameters, body)
    }

    /// The needs of the pipeline, once they differ from the revision of the agent; `None` if they do not for some
    /// seconds.
    ///
    /// # Errors
    /// [`PushRefusal::NotPushed`].
    pub async fn needs(
        &self,
        cluster: &ClusterName,
        parameters: &NeedsParameters,
    ) -> Result<Option<AgentNeeds>, PushRefusal> {
        let mut needs = self.inlet(cluster)?.needs();
        let is_new = |revision: u64| parameters.revision != Some(revision);
        let found = timeout(NEEDS_WAIT, needs.wait_for(|needs| is_new(needs.revision)));
        Ok(match found.await {
            Ok(Ok(needs)) => Some(needs_to_wire(&needs)),
            // They did not change, or the source has ended.
            Ok(Err(_)) | Err(_) => None,
        })
    }

    fn inlet(&self, cluster: &ClusterName) -> Result<Arc<PushInlet>, PushRefusal> {
        let inlet = self.clusters.get(cluster);
        inlet.ok_or_else(|| PushRefusal::NotPushed(cluster.to_string()))
    }

    /// The intake of a cluster. A source that started again has forgotten the reports, so it gets another intake.
    fn of(&self, cluster: &ClusterName) -> Result<Arc<Mutex<Intake>>, PushRefusal> {
        let inlet = self.inlet(cluster)?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|cluster, _| self.clusters.get(cluster).is_some());
        if let Some(known) = known.get(cluster)
            && Arc::ptr_eq(&known.inlet, &inlet)
        {
            return Ok(Arc::clone(&known.intake));
        }
        let intake = Intake::new(cluster.clone(), Arc::clone(&inlet));
        let intake = Arc::new(Mutex::new(intake));
        let entry = Known {
            inlet,
            intake: Arc::clone(&intake),
        };
        known.insert(cluster.clone(), entry);
        Ok(intake)
    }
}

impl Intake {
    fn new(cluster: ClusterName, inlet: Arc<PushInlet>) -> Self {
        Self {
            cluster,
            inlet,
            agent: None,
            epoch: None,
            last_epoch: 0,
            reported: Reported::default(),
        }
    }

    fn accept(
        &mut self,
        parameters: &PushParameters,
        body: &[u8],
    ) -> Result<PushAnswer, PushRefusal> {
        let agent = self.admit(&parameters.agent)?;
        if parameters.leaving {
            self.heard(agent, None);
            let expected = parameters.sequence;
            return Ok(PushAnswer { expected });
        }
        self.check_number(parameters)?;
        let inlet = Arc::clone(&self.inlet);
        let permit = inlet.reserve().ok_or(PushRefusal::Busy)?;
        let mut batch = PushedBatch {
            agent: Arc::clone(&agent),
            lag: Duration::from_millis(parameters.lag_ms),
            ..PushedBatch::default()
        };
        self.heard(agent, Some(Instant::now()));
        if !body.is_empty() {
            self.decode(parameters, body, &mut batch)?;
        }
        permit.send(batch);
        let expected = parameters.sequence + u64::from(!body.is_empty());
        Ok(PushAnswer { expected })
    }

    /// The name of the agent, if no other agent reports on the cluster.
    fn admit(&self, name: &str) -> Result<Arc<str>, PushRefusal> {
        match &self.agent {
            Some(agent) if *agent.name == *name => Ok(Arc::clone(&agent.name)),
            Some(agent) if agent.heard_at.is_some_and(|at| at.elapsed() < SILENT_MAX) => {
                Err(PushRefusal::OtherAgent(agent.name.to_string()))
            }
            Some(_) | None => Ok(name.into()),
        }
    }

    /// Notes a request of an agent that is admitted.
    fn heard(&mut self, name: Arc<str>, heard_at: Option<Instant>) {
        let is_other = self.agent.as_ref().is_some_and(|agent| agent.name != name);
        if is_other {
            tracing::info!(cluster = %self.cluster, agent = %name, "another agent reports on the cluster now");
            self.end_epoch();
            self.last_epoch = 0;
        }
        self.agent = Some(Agent { name, heard_at });
    }

    /// Checks the epoch and the sequence number of a request.
    fn check_number(&self, parameters: &PushParameters) -> Result<(), PushRefusal> {
        let is_same_agent = self
            .agent
            .as_ref()
            .is_some_and(|agent| *agent.name == parameters.agent);
        let epoch = self.epoch.as_ref().filter(|_| is_same_agent);
        let sequence = parameters.sequence;
        match epoch.filter(|epoch| epoch.number == parameters.epoch) {
            Some(epoch) if epoch.expected == sequence => Ok(()),
            Some(epoch) => Err(PushRefusal::Sequence {
                got: sequence,
                expected: epoch.expected,
            }),
            None if is_same_agent && parameters.epoch <= self.last_epoch => {
                let why = "this epoch has ended; begin one with a greater number";
                Err(PushRefusal::NewEpoch(why.to_owned()))
            }
            None if sequence != 0 => {
                let why = "this epoch is not known, because the server or the agent restarted";
                Err(PushRefusal::NewEpoch(why.to_owned()))
            }
            None => Ok(()),
        }
    }

    /// Decodes a body into a batch. After an error, the epoch has ended.
    fn decode(
        &mut self,
        parameters: &PushParameters,
        body: &[u8],
        batch: &mut PushedBatch,
    ) -> Result<(), PushRefusal> {
        let is_begun = self
            .epoch
            .as_ref()
            .is_some_and(|epoch| epoch.number == parameters.epoch);
        if !is_begun {
            self.end_epoch();
            self.last_epoch = parameters.epoch;
            batch.is_new_epoch = true;
            let reported = std::mem::take(&mut self.reported);
            let epoch = Epoch::begin(parameters.epoch, reported, &self.cluster, batch);
            self.epoch = Some(epoch);
        }
        let needs = self.inlet.needs();
        let Some(epoch) = &mut self.epoch else {
            return Ok(());
        };
        let decoded = body::read(body, |line, bytes| {
            epoch.take((line, bytes), &self.cluster, &needs.borrow(), batch)
        });
        match decoded {
            Ok(ignored) => {
                if ignored > 0 {
                    tracing::debug!(cluster = %self.cluster, ignored, "lines of another release are ignored");
                }
                epoch.end_body();
                Ok(())
            }
            Err(refusal) => {
                if let Some(epoch) = self.epoch.take() {
                    self.reported = epoch.end_refused();
                }
                Err(refusal)
            }
        }
    }

    /// Ends the epoch. Its subjects are withdrawn at the end of the next complete report, unless that report has them.
    fn end_epoch(&mut self) {
        if let Some(epoch) = self.epoch.take() {
            self.reported = epoch.end();
        }
    }
}
