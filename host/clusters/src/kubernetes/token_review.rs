//! Reviews of bearer tokens by the API server of a cluster.
//!
//! The server accepts a token of a `ServiceAccount` or of a user of the cluster only if the token was issued for the
//! audience of this service. Otherwise the token of any Pod would be accepted, and a service that receives tokens could
//! use them at other services.

use std::time::Duration;

use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec, TokenReviewStatus};
use kindsight_model::{ClusterName, clean};
use tokio::time::timeout;

use super::connection::ApiError;
use super::kept_client::KeptClient;
use super::{KubernetesCluster, REASON_BYTES_MAX};

/// The path of the collection that reviews tokens.
const TOKEN_REVIEWS: &str = "/apis/authentication.k8s.io/v1/tokenreviews";
/// Time for one review, including a new connection.
const REVIEW_MAX: Duration = Duration::from_secs(10);
/// Maximum size of the answer to a review, in bytes: some thousand groups.
const REVIEW_BYTES_MAX: usize = 1024 * 1024;

/// Asks the API server of a cluster for the user of a token.
pub struct TokenReviewer {
    cluster: ClusterName,
    /// The audience that a token must have been issued for.
    audience: String,
    client: KeptClient,
}

/// The user of a token, as the API server names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewedUser {
    /// The name, such as `system:serviceaccount:<namespace>:<name>`.
    pub name: String,
    /// The groups.
    pub groups: Vec<String>,
}

/// The reason why a token has no user. The text does not contain the token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenReviewError {
    /// The API server does not accept the token for the audience.
    #[error("{0}")]
    Refused(String),
    /// The API server cannot be asked.
    #[error("the API server of cluster {cluster} cannot review tokens: {why}")]
    Unavailable {
        /// The name of the cluster.
        cluster: String,
        /// The reason.
        why: String,
    },
}

impl TokenReviewer {
    /// A reviewer that uses the credentials of a watched cluster. They must allow to create
    /// `tokenreviews.authentication.k8s.io`.
    pub fn new(cluster: KubernetesCluster, audience: impl Into<String>) -> Self {
        Self {
            cluster: cluster.name,
            audience: audience.into(),
            client: KeptClient::new(cluster.access),
        }
    }

    /// The user of a token. Takes [`REVIEW_MAX`] at most.
    ///
    /// # Errors
    /// [`TokenReviewError`].
    pub async fn review(&self, token: &str) -> Result<ReviewedUser, TokenReviewError> {
        if token.is_empty() {
            return Err(TokenReviewError::Refused("the token is empty".to_owned()));
        }
        let reviewed = timeout(REVIEW_MAX, self.send(token)).await;
        let reviewed = reviewed.unwrap_or_else(|_| {
            let seconds = REVIEW_MAX.as_secs();
            Err(format!("no answer in {seconds} s"))
        });
        let unavailable = |why: String| TokenReviewError::Unavailable {
            cluster: self.cluster.to_string(),
            why: without_token(&why, token),
        };
        let status = reviewed.map_err(unavailable)?;
        let user = self.user(status);
        user.map_err(|why| TokenReviewError::Refused(without_token(&why, token)))
    }

    /// The user in the answer of the API server. A server that does not know audiences ignores the required one, and
    /// returns none.
    fn user(&self, status: TokenReviewStatus) -> Result<ReviewedUser, String> {
        let audience = &self.audience;
        if status.authenticated != Some(true) {
            let why = status.error.filter(|error| !error.is_empty());
            return Err(why.unwrap_or_else(|| "the API server does not know the token".to_owned()));
        }
        if !status
            .audiences
            .iter()
            .flatten()
            .any(|known| known == audience)
        {
            return Err(format!(
                "the token was not issued for the audience `{audience}`"
            ));
        }
        let user = status.user.unwrap_or_default();
        let name = user.username.filter(|name| !name.is_empty());
        Ok(ReviewedUser {
            name: name.ok_or("the API server names no user")?,
            groups: user.groups.unwrap_or_default(),
        })
    }

    /// Sends a review. If the server refuses the credentials of this process, they are read again once. After any
    /// error, the next review reads them again.
    async fn send(&self, token: &str) -> Result<TokenReviewStatus, String> {
        let review = TokenReview {
            spec: TokenReviewSpec {
                audiences: Some(vec![self.audience.clone()]),
                token: Some(token.to_owned()),
            },
            ..TokenReview::default()
        };
        let body = serde_json::to_vec(&review).map_err(|error| error.to_string())?;
        let mut answer = self.post(body.clone()).await;
        if matches!(answer, Err(ApiError::Unauthorized(_))) {
            answer = self.post(body).await;
        }
        let answer = answer.map_err(|error| error.to_string())?;
        let review: TokenReview = serde_json::from_slice(&answer)
            .map_err(|error| format!("its answer cannot be read: {error}"))?;
        Ok(review.status.unwrap_or_default())
    }

    async fn post(&self, body: Vec<u8>) -> Result<Vec<u8>, ApiError> {
        let kept = self.client.get().await?;
        let answer = kept.client.post(TOKEN_REVIEWS, body, REVIEW_BYTES_MAX);
        let answer = answer.await;
        if answer.is_err() {
            self.client.forget().await;
        }
        answer
    }
}

/// A text of the API server, which could repeat the token.
fn without_token(text: &str, token: &str) -> String {
    clean(&text.replace(token, "(token)"), REASON_BYTES_MAX).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn user(status: Value) -> Result<ReviewedUser, String> {
        let cluster = KubernetesCluster::in_cluster("provider+edge01".parse().unwrap());
        let reviewer = TokenReviewer::new(cluster, "kindsight");
        reviewer.user(serde_json::from_value(status).unwrap())
    }

    #[test]
    fn the_answer_must_have_the_audience_and_a_user() {
        let ci = json!({"username": "ci", "groups": ["a", "b"]});
        let accepted = user(json!({
            "authenticated": true, "audiences": ["other", "kindsight"], "user": ci,
        }));
        let expected = ReviewedUser {
            name: "ci".to_owned(),
            groups: vec!["a".to_owned(), "b".to_owned()],
        };
        assert_eq!(accepted, Ok(expected));
        for (status, why) in [
            (json!({}), "the API server does not know the token"),
            (json!({"error": "expired"}), "expired"),
            (
                json!({"authenticated": false, "audiences": ["kindsight"], "user": ci}),
                "the API server does not know the token",
            ),
            // The authenticator ignores audiences.
            (
                json!({"authenticated": true, "user": ci}),
                "the token was not issued for the audience `kindsight`",
            ),
            (
                json!({"authenticated": true, "audiences": ["vault"], "user": ci}),
                "the token was not issued for the audience `kindsight`",
            ),
            (
                json!({"authenticated": true, "audiences": ["kindsight"], "user": {}}),
                "the API server names no user",
            ),
        ] {
            assert_eq!(user(status), Err(why.to_owned()));
        }
    }

    #[test]
    fn an_error_does_not_repeat_the_token() {
        let shown = without_token("invalid: a.b.c\n(a.b.c)", "a.b.c");
        assert_eq!(shown, "invalid: (token) ((token))");
    }

    #[tokio::test]
    async fn an_empty_token_is_refused_without_a_review() {
        let cluster = KubernetesCluster::in_cluster("provider+edge01".parse().unwrap());
        let reviewed = TokenReviewer::new(cluster, "kindsight").review("").await;
        assert!(matches!(reviewed, Err(TokenReviewError::Refused(_))));
    }
}
