use std::sync::Arc;

use kindsight_clusters::{FolderCluster, PushedCluster};
use kindsight_store::RedbStore;
use tokio::task::yield_now;

use super::*;
use crate::cluster_changes;
use crate::tasks::Tasks;

const CLUSTER: &str = "p+a";

fn folder(path: &str) -> ClusterSource {
    ClusterSource::Folder(FolderCluster::new(CLUSTER.parse().unwrap(), path))
}

#[tokio::test]
async fn resources_go_to_the_last_valid_list_of_clusters() {
    let (configured, changes) = watch::channel(vec![folder("/first")]);
    let mut settings = Settings::new(Arc::new(RedbStore::in_memory().unwrap()));
    settings.clusters.clone_from(&configured.borrow());
    settings.cluster_changes = Some(changes);
    let tasks = Tasks::default();
    cluster_changes::begin(&tasks, &mut settings);
    let sender = ConfiguredClusters::of(&settings, &Needs::default(), tasks.shutdown());
    let source = || sender.source(&CLUSTER.parse().unwrap());

    configured.send_replace(vec![folder("/second"), folder("/third")]);
    // The task reads the invalid list.
    for _ in 0..100 {
        yield_now().await;
    }
    assert_eq!(source(), Ok(folder("/first")));

    let mut valid = settings.cluster_changes.clone().unwrap();
    configured.send_replace(vec![folder("/second")]);
    valid.changed().await.unwrap();
    assert_eq!(source(), Ok(folder("/second")));
}

#[tokio::test]
async fn a_pushed_cluster_cannot_receive_resources() {
    let name: ClusterName = CLUSTER.parse().unwrap();
    let mut settings = Settings::new(Arc::new(RedbStore::in_memory().unwrap()));
    settings.clusters = vec![ClusterSource::Pushed(PushedCluster::new(name.clone()))];
    let sender = ConfiguredClusters::of(&settings, &Needs::default(), CancellationToken::new());
    let reason = sender.check(&name).unwrap_err();
    assert!(matches!(reason, CannotSend::Unsupported { .. }), "{reason}");
    settings.clusters = vec![folder("/first")];
    let sender = ConfiguredClusters::of(&settings, &Needs::default(), CancellationToken::new());
    assert_eq!(sender.check(&name), Ok(()));
}
