//! Changes of the configured clusters, for the parts of a server that use the clusters.

use std::convert::Infallible;

use kindsight_clusters::ClusterSource;
use tokio::sync::watch;

use crate::error::Error;
use crate::settings::{ClusterChanges, Settings, check_clusters};
use crate::sharing::check_shared;
use crate::tasks::Tasks;

/// Begins to check each changed list of clusters. Later users of these settings get only the valid lists, so that all of
/// them use the same clusters. An invalid list is logged and changes nothing. The reviews of tokens and the ConfigMap of
/// Argo CD need the changes earlier, and read them with [`next_different`].
pub(crate) fn begin(tasks: &Tasks, settings: &mut Settings) {
    let Some(mut changes) = settings.cluster_changes.take() else {
        return;
    };
    let (valid, valid_rx) = watch::channel(settings.clusters.clone());
    settings.cluster_changes = Some(valid_rx);
    let is_shared = settings.sharing.is_some();
    let following = async move {
        while changes.changed().await.is_ok() {
            let clusters = changes.borrow_and_update().clone();
            match check(&clusters, is_shared) {
                Ok(()) => drop(valid.send_replace(clusters)),
                Err(error) => {
                    tracing::error!(%error, "the changed configuration is invalid; the previous clusters remain configured");
                }
            }
        }
        // The sender was dropped, so the configuration does not change any more.
        std::future::pending::<()>().await;
    };
    let shutdown = tasks.shutdown();
    tasks.spawn("checker of the configured clusters", async move {
        // None at the stop.
        let _ = shutdown.run_until_cancelled(following).await;
        Ok::<(), Infallible>(())
    });
}

/// Checks a list of clusters. Hosts cannot share some clusters.
///
/// # Errors
/// [`Error::ClusterTwice`], and [`Error::SharedPush`] if hosts share the clusters.
pub(crate) fn check(clusters: &[ClusterSource], is_shared: bool) -> Result<(), Error> {
    check_clusters(clusters)?;
    if is_shared {
        check_shared(clusters)?;
    }
    Ok(())
}

/// The clusters of these settings, as they change.
pub(crate) fn cluster_changes(settings: &Settings) -> ClusterChanges {
    let fixed = || watch::Sender::new(settings.clusters.clone()).subscribe();
    settings.cluster_changes.clone().unwrap_or_else(fixed)
}

/// Waits for the next valid list of clusters, also if these changes are older than [`begin`]. Does not log an invalid list.
/// Does not end if the configuration does not change any more. Cancel-safe.
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
