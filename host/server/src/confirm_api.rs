//! Confirmations of clusters, for the REST API.

use std::collections::BTreeMap;
use std::pin::Pin;

use kindsight_clusters::Confirmations;
use kindsight_model::{ClusterName, InvolvedKinds};
use kindsight_pipeline::{Event, QueuedEvent};
use kindsight_rest::Confirm;
use tokio::sync::{mpsc, oneshot};

/// The sources of clusters for the REST API, whose crate does not depend on them.
pub(crate) struct ConfirmApi {
    confirmations: Confirmations,
    events_tx: mpsc::Sender<QueuedEvent>,
}

impl ConfirmApi {
    /// Confirmations of the sources, which the pipeline reads from the channel of events.
    pub(crate) fn new(confirmations: Confirmations, events_tx: mpsc::Sender<QueuedEvent>) -> Self {
        Self {
            confirmations,
            events_tx,
        }
    }

    async fn confirm_all(
        &self,
        clusters: BTreeMap<ClusterName, InvolvedKinds>,
    ) -> Result<(), String> {
        self.confirmations.confirm(clusters).await?;
        // The reports are in the channel of events now.
        let (handled_tx, handled) = oneshot::channel();
        let stopped = || "the server stops".to_owned();
        let marker = self.events_tx.send(Event::Marker(handled_tx).into()).await;
        marker.map_err(|_| stopped())?;
        handled.await.map_err(|_| stopped())
    }
}

impl Confirm for ConfirmApi {
    fn confirm(
        &self,
        clusters: BTreeMap<ClusterName, InvolvedKinds>,
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>> {
        Box::pin(self.confirm_all(clusters))
    }
}
