//! Tokens of Kubernetes, which the API server of a cluster reviews.

use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};

use kindsight_access::{Method, TokenError, User, Verified, VerifyToken};
use kindsight_clusters::{
    ClusterSource, KubernetesCluster, TokenReviewError, TokenReviewer, WatchOptions,
};
use kindsight_model::ClusterName;

use crate::cluster_changes::next_different;
use crate::settings::ClusterChanges;

/// The audience that a token of Kubernetes must have been issued for.
const AUDIENCE: &str = "kindsight";

/// Verifies tokens of `ServiceAccounts` and users of one cluster. It refuses every other token, so that it must be the
/// last verifier.
///
/// It follows the configuration of the cluster. While the cluster is not configured, it accepts no token.
pub struct TokenReviews {
    cluster: ClusterName,
    /// The clusters, whose present value was read for [`Self::present`].
    changes: ClusterChanges,
    /// The reviewer, or the reason why there is none.
    present: RwLock<Result<Arc<Reviewing>, ReviewClusterError>>,
}

/// The reviewer of a cluster.
struct Reviewing {
    cluster: KubernetesCluster,
    reviewer: TokenReviewer,
}

/// The reason why a cluster cannot review tokens.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReviewClusterError {
    /// The cluster is not configured.
    #[error("cluster {0}, which reviews tokens, is not configured")]
    Unknown(ClusterName),
    /// The cluster has no API server.
    #[error(
        "cluster {0} is a folder of reports; only a cluster with an API server can review tokens"
    )]
    Folder(ClusterName),
    /// The server has no connection to the API server of the cluster.
    #[error("cluster {0} is pushed by an agent; only a cluster that is watched can review tokens")]
    Pushed(ClusterName),
}

impl Reviewing {
    fn of(cluster: KubernetesCluster) -> Arc<Self> {
        Arc::new(Self {
            reviewer: TokenReviewer::new(cluster.clone(), AUDIENCE),
            cluster,
        })
    }
}

impl TokenReviews {
    /// A verifier that asks the API server of the cluster with this name, with the credentials of the watch. `clusters`
    /// are the configured clusters.
    ///
    /// # Errors
    /// [`ReviewClusterError`].
    pub fn new(
        cluster: &ClusterName,
        clusters: &ClusterChanges,
    ) -> Result<Self, ReviewClusterError> {
        let mut changes = clusters.clone();
        let found = reviewing(cluster, &changes.borrow_and_update())?;
        Ok(Self {
            cluster: cluster.clone(),
            changes,
            present: RwLock::new(Ok(Reviewing::of(found))),
        })
    }

    fn present(&self) -> Result<Arc<Reviewing>, ReviewClusterError> {
        let present = self.present.read().unwrap_or_else(PoisonError::into_inner);
        present.clone()
    }

    async fn user(&self, token: &str) -> Result<Verified, TokenError> {
        let present = self.present();
        let present = present.map_err(|error| TokenError::Unavailable(error.to_string()))?;
        let reviewed = present.reviewer.review(token).await.map_err(|error| {
            let why = error.to_string();
            match error {
                TokenReviewError::Refused(_) => TokenError::Refused(why),
                TokenReviewError::Unavailable { .. } => TokenError::Unavailable(why),
            }
        })?;
        let user = User::new(Method::Kubernetes, &reviewed.name, &reviewed.groups);
        Ok(Verified {
            user: user.map_err(|error| TokenError::Refused(error.to_string()))?,
            // A review does not contain the end of the token.
            expires_ms: None,
        })
    }

    /// Follows the configuration of the cluster. Another API server may not know the tokens that the previous one
    /// accepted, so `forget` is called after each change.
    async fn follow_cluster(&self, forget: &(dyn Fn() + Sync)) {
        let mut changes = self.changes.clone();
        let mut known = self.present().map(|present| present.cluster.clone());
        loop {
            let part = |clusters: &[ClusterSource]| reviewing(&self.cluster, clusters);
            known = next_different(&mut changes, &known, part).await;
            self.replace(known.clone());
            forget();
        }
    }

    /// Takes the changed configuration of the cluster.
    fn replace(&self, found: Result<KubernetesCluster, ReviewClusterError>) {
        match &found {
            Ok(cluster) => {
                let cluster = cluster.name();
                tracing::info!(%cluster, "the cluster that reviews tokens changed; every token is reviewed again");
            }
            Err(error) => {
                tracing::error!(%error, "no token of Kubernetes is accepted until the cluster is configured again");
            }
        }
        let mut present = self.present.write().unwrap_or_else(PoisonError::into_inner);
        *present = found.map(Reviewing::of);
    }
}

/// The cluster with this name, without the options of its watch, which do not concern reviews.
fn reviewing(
    cluster: &ClusterName,
    clusters: &[ClusterSource],
) -> Result<KubernetesCluster, ReviewClusterError> {
    let named = clusters.iter().find(|source| source.name() == cluster);
    match named {
        Some(ClusterSource::Kubernetes(found)) => {
            let found = (**found).clone();
            Ok(found.with_options(WatchOptions::default()))
        }
        Some(ClusterSource::Folder(_)) => Err(ReviewClusterError::Folder(cluster.clone())),
        Some(ClusterSource::Pushed(_)) => Err(ReviewClusterError::Pushed(cluster.clone())),
        None => Err(ReviewClusterError::Unknown(cluster.clone())),
    }
}

impl VerifyToken for TokenReviews {
    fn name(&self) -> &'static str {
        Method::Kubernetes.as_str()
    }

    fn verify<'a>(
        &'a self,
        token: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<Verified, TokenError>> + Send + 'a>> {
        Box::pin(self.user(token))
    }

    fn follow<'a>(
        &'a self,
        forget: &'a (dyn Fn() + Sync),
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(self.follow_cluster(forget))
    }
}

#[cfg(test)]
mod tests;
