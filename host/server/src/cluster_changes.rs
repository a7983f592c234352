//! Changes of the configured clusters, for the parts of a server that use some of the clusters.

use kindsight_clusters::ClusterSource;
use tokio::sync::watch;

use crate::settings::{ClusterChanges, Settings, check_clusters};

/// The clusters of these settings, as they change.
pub(crate) fn cluster_changes(settings: &Settings) -> ClusterChanges {
    let fixed = || watch::Sender::new(settings.clusters.clone()).subscribe();
    settings.cluster_changes.clone().unwrap_or_else(fixed)
}

/// Waits for the next valid list of clusters. An invalid list changes nothing; the follower of the sources logs it. Does
/// not end if the configuration does not change any more. Cancel-safe.
pub(crate) async fn next_clusters(changes: &mut ClusterChanges) -> Vec<ClusterSource> {
    while changes.changed().await.is_ok() {
        let clusters = changes.borrow_and_update().clone();
        if check_clusters(&clusters).is_ok() {
            return clusters;
        }
    }
    // The sender was dropped, so the configuration does not change any more.
    std::future::pending().await
}

/// Waits until a part of the configured clusters differs from its known value. Returns the new value.
pub(crate) async fn next_different<T: PartialEq>(
    changes: &mut ClusterChanges,
    known: &T,
    part: impl Fn(&[ClusterSource]) -> T,
) -> T {
    loop {
        let present = part(&next_clusters(changes).await);
        if present != *known {
            return present;
        }
    }
}

#[cfg(test)]
mod tests {
    use kindsight_clusters::FolderCluster;

    use super::*;

    fn folder(name: &str) -> ClusterSource {
        ClusterSource::Folder(FolderCluster::new(name.parse().unwrap(), "/reports"))
    }

    #[tokio::test]
    async fn an_invalid_list_of_clusters_changes_nothing() {
        let (configured, mut changes) = watch::channel(Vec::new());
        configured.send_replace(vec![folder("p+a"), folder("p+a")]);
        let count = |clusters: &[ClusterSource]| clusters.len();
        let next = next_different(&mut changes, &0, count);
        let valid = async {
            // The reader sees the invalid list first.
            tokio::task::yield_now().await;
            configured.send_replace(vec![folder("p+a")]);
        };
        assert_eq!(tokio::join!(next, valid).0, 1);
    }
}
