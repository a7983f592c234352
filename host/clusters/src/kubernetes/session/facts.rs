//! Facts about a cluster and the connection to it.

use std::sync::Arc;

use kindsight_model::clean;
use serde::Deserialize;

use super::Session;
use crate::kubernetes::connection::{ApiClient, ApiError};
use crate::kubernetes::run::{Closed, Run};
use crate::{ClusterEvent, ClusterFacts};

/// Maximum length of the version of a server that is told, in bytes.
const VERSION_BYTES_MAX: usize = 64;

impl Session {
    /// Tells facts about the cluster, where they changed.
    pub(super) async fn tell_facts<E: From<ClusterEvent>>(
        &mut self,
        run: &Run<E>,
    ) -> Result<(), Closed> {
        let silent = self.discovered.silent.iter();
        let silent = silent.map(|(group, why)| format!("{group}: {why}").into());
        let not_covered = self.watches.not_covered();
        let facts = ClusterFacts {
            origin: run.origin(),
            mode: self.cluster.options.mode,
            selector: self.cluster.options.selector_text(),
            server_version: Some(Arc::clone(&self.version)),
            not_covered: (not_covered.into_iter().chain(silent))
                .chain(self.inventory.left_out())
                .collect(),
            objects: self.inventory.members(),
            watches: self.watches.len(),
        };
        if facts == self.facts {
            return Ok(());
        }
        self.facts = facts.clone();
        let (cluster, facts) = (self.cluster.name.clone(), Box::new(facts));
        run.send(ClusterEvent::Facts { cluster, facts }).await
    }
}

/// The version that a server tells.
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
