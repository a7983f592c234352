//! The way from a route to the source of a pushed cluster.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kindsight_cluster_index::{ConfiguredApplication, RelatedRules};
use kindsight_model::InvolvedKinds;
use tokio::sync::{mpsc, watch};

use crate::{ClusterEvent, RecordedDeployments};

/// Number of a request for confirmation, unique for one start of a source.
pub type ConfirmationId = u64;

/// The content of one body of an agent.
#[derive(Debug, Default)]
pub struct PushedBatch {
    /// The name of the agent.
    pub agent: Arc<str>,
    /// True if the agent begins a complete report: the state of the connection is unknown until it ends.
    pub is_new_epoch: bool,
    /// The events, in their order.
    pub events: Vec<ClusterEvent>,
    /// Answers to requests for confirmation. Everything before them is among the events.
    pub confirmed: Vec<(ConfirmationId, Result<(), String>)>,
    /// The age of the oldest change in the batch.
    pub lag: Duration,
}

/// Needs of the pipeline, for the agent of one cluster. The default is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PushedNeeds {
    /// A number that differs after each change, also after a restart of the host. At most 2^53.
    pub revision: u64,
    /// The relations that interpreters ask for.
    pub related: Arc<RelatedRules>,
    /// The deployments that `AppContext`s send to the cluster.
    pub recorded: Arc<RecordedDeployments>,
    /// Applications of the configuration in this cluster.
    pub applications: Arc<[ConfiguredApplication]>,
    /// The requests for confirmation that wait for an answer.
    pub confirmations: BTreeMap<ConfirmationId, InvolvedKinds>,
}

/// The way to the source of a pushed cluster.
#[derive(Debug)]
pub struct PushInlet {
    pub(super) batches: mpsc::Sender<PushedBatch>,
    pub(super) needs: watch::Receiver<PushedNeeds>,
}

impl PushInlet {
    /// Reserves room for one batch; `None` if the pipeline has not taken the earlier ones yet, or the source has ended.
    /// The sender of the body then tries again later.
    pub fn reserve(&self) -> Option<mpsc::Permit<'_, PushedBatch>> {
        self.batches.try_reserve().ok()
    }

    /// The needs as they change.
    pub fn needs(&self) -> watch::Receiver<PushedNeeds> {
        self.needs.clone()
    }
}
