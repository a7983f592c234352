use std::path::Path;

use kindsight_clusters::FolderCluster;
use serde_json::json;
use tempfile::tempdir;
use tokio::sync::{Notify, watch};

use super::*;
use crate::fake_api_server::fake_cluster;

const CLUSTER: &str = "provider+edge01";

fn name() -> ClusterName {
    CLUSTER.parse().unwrap()
}

/// The cluster with an API server that accepts every token as a token of one user.
fn cluster_of(user: &str, folder: &Path) -> ClusterSource {
    let review = json!({
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "metadata": {}, "spec": {},
        "status": {"authenticated": true, "audiences": [AUDIENCE], "user": {"username": user}},
    });
    fake_cluster(CLUSTER, folder, &review)
}

#[test]
fn a_cluster_without_an_api_server_cannot_review() {
    let folder = ClusterSource::Folder(FolderCluster::new(name(), "/reports"));
    let clusters = watch::Sender::new(vec![folder]).subscribe();
    let error = |name: &str| {
        let name = name.parse().unwrap();
        TokenReviews::new(&name, &clusters)
            .err()
            .unwrap()
            .to_string()
    };
    assert_eq!(
        error("provider+edge01"),
        "cluster provider+edge01 is a folder of reports; only a cluster with an API server can review tokens"
    );
    assert_eq!(
        error("provider+edge02"),
        "cluster provider+edge02, which reviews tokens, is not configured"
    );
}

#[tokio::test]
async fn reviews_follow_the_configuration_of_their_cluster() {
    let folder = tempdir().unwrap();
    let [old, new] = ["old", "new"].map(|user| cluster_of(user, folder.path()));
    let (configured, changes) = watch::channel(vec![old]);
    let reviews = TokenReviews::new(&name(), &changes).unwrap();
    let forgotten = Notify::new();
    let forget = || forgotten.notify_one();
    let user = async || {
        let verified = reviews.verify("a token").await?;
        Ok::<_, TokenError>(verified.user.name().to_owned())
    };
    let steps = async {
        assert_eq!(user().await.unwrap(), "kubernetes:old");
        configured.send_replace(vec![new.clone()]);
        forgotten.notified().await;
        assert_eq!(user().await.unwrap(), "kubernetes:new");
        configured.send_replace(Vec::new());
        forgotten.notified().await;
        let refused = user().await.unwrap_err();
        let why = "cluster provider+edge01, which reviews tokens, is not configured";
        assert_eq!(refused, TokenError::Unavailable(why.to_owned()));
        configured.send_replace(vec![new]);
        forgotten.notified().await;
        assert_eq!(user().await.unwrap(), "kubernetes:new");
    };
    tokio::select! {
        () = reviews.follow(&forget) => unreachable!("it does not end"),
        () = steps => {}
    }
}

#[test]
fn the_options_of_the_watch_do_not_concern_reviews() {
    let cluster = KubernetesCluster::in_cluster(name());
    let options = WatchOptions {
        health_scopes: true,
        ..WatchOptions::default()
    };
    let [plain, with_options] = [cluster.clone(), cluster.with_options(options)]
        .map(|cluster| reviewing(&name(), &[ClusterSource::Kubernetes(Box::new(cluster))]));
    assert_eq!(plain, with_options);
}

/// Otherwise each change of another cluster would have all tokens reviewed again while the cluster is away.
#[test]
fn other_clusters_do_not_concern_reviews() {
    let other = FolderCluster::new("provider+edge02".parse().unwrap(), "/reports");
    let [none, one] = [Vec::new(), vec![ClusterSource::Folder(other)]];
    assert_eq!(reviewing(&name(), &none), reviewing(&name(), &one));
}
