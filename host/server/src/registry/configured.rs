//! The clusters of the configuration, for the registry.

use std::sync::{Mutex, MutexGuard, PoisonError};

use kindsight_clusters::ClusterSource;

use crate::cluster_changes::{check, cluster_changes};
use crate::settings::{ClusterChanges, Settings};

/// The last valid list of the clusters of the configuration. With an invalid list, the list of all clusters would be
/// invalid, and registrations would not take effect.
pub(crate) struct Configured {
    valid: Mutex<Vec<ClusterSource>>,
    /// The lists as they change. They can be invalid.
    changes: ClusterChanges,
    /// Whether hosts share the clusters.
    is_shared: bool,
}

impl Configured {
    /// The clusters of valid settings.
    pub(super) fn of(settings: &Settings) -> Self {
        Self {
            valid: Mutex::new(settings.clusters.clone()),
            changes: cluster_changes(settings),
            is_shared: settings.sharing.is_some(),
        }
    }

    /// The last valid list.
    pub(super) fn valid(&self) -> MutexGuard<'_, Vec<ClusterSource>> {
        self.valid.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lists as they change, for [`Self::take`].
    pub(super) fn changes(&self) -> ClusterChanges {
        self.changes.clone()
    }

    /// Takes a changed list. An invalid list is logged and changes nothing.
    pub(super) fn take(&self, clusters: Vec<ClusterSource>) {
        match check(&clusters, self.is_shared) {
            Ok(()) => *self.valid() = clusters,
            Err(error) => {
                tracing::error!(%error, "the changed configuration is invalid; the previous clusters remain configured");
            }
        }
    }
}
