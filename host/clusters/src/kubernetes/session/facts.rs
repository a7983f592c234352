//! Facts about a cluster and the connection to it.

use std::sync::Arc;

use kindsight_model::{ClusterFacts, clean};
use serde::Deserialize;

use super::Session;
use crate::ClusterEvent;
use crate::kubernetes::connection::{ApiClient, ApiError};
use crate::kubernetes::known::Known;
use crate::kubernetes::run::{Closed, EventSender};

/// Maximum length of the reported version of a server, in bytes.
const VERSION_BYTES_MAX: usize = 64;

impl Session {
    /// Sends facts about the cluster if they changed.
    pub(super) async fn send_facts_if_changed<E: From<ClusterEvent>>(
        &mut self,
        known: &Known,
        events: &EventSender<E>,
    ) -> Result<(), Closed> {
        let facts = ClusterFacts {
            server_version: Some(Arc::clone(&self.version)),
            objects: known.index.members(),
            watches: self.watches.len(),
            watch_failures: known.watch_failures,
            audit: known.audit,
            ..events.facts()
        };
        if facts == self.facts {
            return Ok(());
        }
        self.facts = facts.clone();
        events.send_facts(facts).await
    }
}

/// The version of the server.
pub(super) async fn server_version(client: &ApiClient) -> Result<Arc<str>, ApiError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Version {
        git_version: String,
    }
    let bytes = client.get("/version", "application/json").await?;
    let version: Result<Version, _> = serde_json::from_slice(&bytes);
    let version = version.map_err(|error| ApiError::Unreadable(error.to_string()))?;
    Ok(clean(&version.git_version, VERSION_BYTES_MAX).into())
}
