//! Confirmations that everything in a cluster was reported.
//!
//! A quiet watch and a watch that hangs look alike. Before a success is final, the source of each cluster compares a
//! consistent read of the Kinds involved with everything that it has seen.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use kindsight_model::{ClusterName, InvolvedKinds};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// Maximum number of requests for confirmation of one cluster that wait for its source.
const REQUESTS_MAX: usize = 4;
/// Number of clusters that are asked at a time.
const CLUSTERS_AT_A_TIME: usize = 16;
/// Time for the answer of a source.
const ANSWER_MAX: Duration = Duration::from_secs(20);

/// A request to confirm that everything in a cluster was reported.
#[derive(Debug)]
pub(crate) struct ConfirmationRequest {
    pub(crate) kinds: InvolvedKinds,
    /// Receives the reason if the source does not confirm it.
    pub(crate) answer: oneshot::Sender<Result<(), String>>,
}

/// The sources that can be asked for confirmations. Clones share the sources.
#[derive(Debug, Clone, Default)]
pub struct Confirmations(Arc<Mutex<HashMap<ClusterName, Answering>>>);

/// The way in which a source answers.
#[derive(Debug)]
enum Answering {
    /// It confirms at once: it reports everything that it reads.
    Always,
    /// It compares.
    Asked(mpsc::Sender<ConfirmationRequest>),
}

impl Answering {
    /// Returns whether the source has dropped its receiver.
    fn has_ended(&self) -> bool {
        match self {
            Self::Always => false,
            Self::Asked(requests) => requests.is_closed(),
        }
    }
}

/// The registration of a source that confirms at once. It ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct AlwaysConfirmed {
    confirmations: Confirmations,
    cluster: ClusterName,
}

impl Drop for AlwaysConfirmed {
    fn drop(&mut self) {
        self.confirmations.lock().remove(&self.cluster);
    }
}

impl Confirmations {
    /// Asks the source of each cluster whether everything was reported that these Kinds have now. When this returns
    /// `Ok`, the reports are in the channel of events.
    ///
    /// # Errors
    /// The text of the reason, with the cluster.
    pub async fn confirm(
        &self,
        clusters: BTreeMap<ClusterName, InvolvedKinds>,
    ) -> Result<(), String> {
        let requests = clusters.into_iter().map(async |(cluster, kinds)| {
            let answer = timeout(ANSWER_MAX, self.confirm_one(&cluster, kinds)).await;
            let answer = answer.unwrap_or_else(|_| Err(format!("no answer in {ANSWER_MAX:?}")));
            answer.map_err(|why| format!("cluster {cluster}: {why}"))
        });
        let answers = stream::iter(requests).buffer_unordered(CLUSTERS_AT_A_TIME);
        answers.try_collect().await
    }

    async fn confirm_one(&self, cluster: &ClusterName, kinds: InvolvedKinds) -> Result<(), String> {
        let not_connected = || "it is not connected".to_owned();
        let requests = match self.lock().get(cluster) {
            None => return Err(not_connected()),
            Some(Answering::Always) => return Ok(()),
            Some(Answering::Asked(requests)) => requests.clone(),
        };
        let (answer, answered) = oneshot::channel();
        let request = ConfirmationRequest { kinds, answer };
        requests.send(request).await.map_err(|_| not_connected())?;
        answered.await.map_err(|_| not_connected())?
    }

    /// Registers a source that reports everything that it reads.
    pub(crate) fn always(&self, cluster: &ClusterName) -> AlwaysConfirmed {
        self.lock().insert(cluster.clone(), Answering::Always);
        AlwaysConfirmed {
            confirmations: self.clone(),
            cluster: cluster.clone(),
        }
    }

    /// Registers a source for as long as it keeps the receiver.
    pub(crate) fn requests(&self, cluster: &ClusterName) -> mpsc::Receiver<ConfirmationRequest> {
        let (requests, receiver) = mpsc::channel(REQUESTS_MAX);
        let mut sources = self.lock();
        sources.retain(|_, source| !source.has_ended());
        sources.insert(cluster.clone(), Answering::Asked(requests));
        receiver
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ClusterName, Answering>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
