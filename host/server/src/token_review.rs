//! Tokens of Kubernetes, which the API server of a cluster reviews.

use std::pin::Pin;

use kindsight_access::{Method, TokenError, User, Verified, VerifyToken};
use kindsight_clusters::{ClusterSource, TokenReviewError, TokenReviewer};
use kindsight_model::ClusterName;

/// The audience that a token of Kubernetes must have been issued for.
const AUDIENCE: &str = "kindsight";

/// Verifies tokens of `ServiceAccounts` and users of one cluster. It refuses every other token, so that it must be the
/// last verifier.
pub struct TokenReviews(TokenReviewer);

/// The reason why a cluster cannot review tokens.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReviewClusterError {
    /// The cluster is not configured.
    #[error("cluster {cluster}, which reviews tokens, is not configured; configured are: {known}")]
    Unknown {
        /// Its name.
        cluster: ClusterName,
        /// The names of the configured clusters.
        known: String,
    },
    /// The cluster has no API server.
    #[error(
        "cluster {0} is a folder of reports; only a cluster with an API server can review tokens"
    )]
    Folder(ClusterName),
    /// The server has no connection to the API server of the cluster.
    #[error("cluster {0} is pushed by an agent; only a cluster that is watched can review tokens")]
    Pushed(ClusterName),
}

impl TokenReviews {
    /// A verifier that asks the API server of the cluster with this name, with the credentials of the watch. `clusters`
    /// are the configured clusters.
    ///
    /// # Errors
    /// [`ReviewClusterError`].
    pub fn new(
        cluster: &ClusterName,
        clusters: &[ClusterSource],
    ) -> Result<Self, ReviewClusterError> {
        let named = clusters.iter().find(|source| source.name() == cluster);
        match named {
            Some(ClusterSource::Kubernetes(source)) => {
                Ok(Self(TokenReviewer::new((**source).clone(), AUDIENCE)))
            }
            Some(ClusterSource::Folder(_)) => Err(ReviewClusterError::Folder(cluster.clone())),
            Some(ClusterSource::Pushed(_)) => Err(ReviewClusterError::Pushed(cluster.clone())),
            None => {
                let known: Vec<String> = clusters
                    .iter()
                    .map(|source| source.name().to_string())
                    .collect();
                Err(ReviewClusterError::Unknown {
                    cluster: cluster.clone(),
                    known: known.join(", "),
                })
            }
        }
    }

    async fn user(&self, token: &str) -> Result<Verified, TokenError> {
        let reviewed = self.0.review(token).await.map_err(|error| {
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
}

#[cfg(test)]
mod tests {
    use kindsight_clusters::FolderCluster;

    use super::*;

    #[test]
    fn a_cluster_without_an_api_server_cannot_review() {
        let folder = FolderCluster::new("provider+edge01".parse().unwrap(), "/reports");
        let clusters = [ClusterSource::Folder(folder)];
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
            "cluster provider+edge02, which reviews tokens, is not configured; configured are: provider+edge01"
        );
    }
}
