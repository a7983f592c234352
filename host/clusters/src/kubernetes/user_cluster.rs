//! The cluster of a user's kubeconfig, for a command that reaches a service in the cluster.
//!
//! The API server passes requests on to a service (its *service proxy*). It authenticates the user with the credentials
//! of the kubeconfig, and removes the header `Authorization` before it passes a request on.

mod names;
mod services;

use std::path::Path;
use std::time::Duration;

use http::{Request, Response};
use http_body_util::BodyExt as _;
use jiff::Timestamp;
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use kube::Config;
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};

use super::connection::{ApiClient, ApiError};
use super::kubeconfig::unreadable;
use super::session::credentials;

pub use names::{NameError, NamespacedName, ServiceName};
pub use services::ProxiedService;

/// Maximum size of an answer about services or tokens, in bytes.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The API server of a context of a kubeconfig. Clones share a connection.
#[derive(Clone)]
pub struct UserCluster(ApiClient);

/// A token of a `ServiceAccount`.
pub struct IssuedToken {
    /// The token.
    pub text: String,
    /// The end of the token.
    pub expires: Timestamp,
}

/// The body of an answer of a service.
pub struct ServiceAnswer(Body);

/// The reason why a service in a cluster cannot be reached. No text contains a credential.
#[derive(Debug, thiserror::Error)]
pub enum UserClusterError {
    /// There is no usable kubeconfig or context.
    #[error("the kubeconfig cannot be used: {0}")]
    Kubeconfig(String),
    /// The API server cannot be reached, or refuses the request.
    #[error("the API server of the cluster cannot {action}: {why}")]
    Request {
        /// The intention of the request.
        action: String,
        /// The reason.
        why: String,
    },
    /// No Service has the label, or the named Service has no suitable port.
    #[error("{0}")]
    NoService(String),
}

impl UserCluster {
    /// Connects to the API server of a context. Without a path, the kubeconfig is the same as for `kubectl`: the files of
    /// `KUBECONFIG`, or `~/.kube/config`. Without a context, it is the current one.
    ///
    /// # Errors
    /// The kubeconfig or its credentials cannot be used, or the server cannot be reached or refuses the credentials.
    pub async fn connect(
        kubeconfig: Option<&Path>,
        context: Option<&str>,
    ) -> Result<Self, UserClusterError> {
        let mut config = config(kubeconfig, context).await?;
        let failed = |why: String| UserClusterError::Request {
            action: "be used".to_owned(),
            why,
        };
        // A token of a plugin is not renewed here: the caller connects again.
        let plugin = credentials(&mut config).await;
        let (token, _) = plugin.map_err(|error| failed(error.to_string()))?;
        let client = ApiClient::connected(config, token).await;
        Ok(Self(client.map_err(|error| failed(error.to_string()))?))
    }

    /// Requests a token of a `ServiceAccount` for an audience. The server may issue a token with another lifetime.
    ///
    /// # Errors
    /// The user may not do so, the account does not exist, or the server cannot be reached.
    pub async fn service_account_token(
        &self,
        account: &NamespacedName,
        audience: &str,
        lifetime: Duration,
    ) -> Result<IssuedToken, UserClusterError> {
        let failed = |why: String| UserClusterError::Request {
            action: format!("issue a token of the ServiceAccount {account}"),
            why,
        };
        let request = TokenRequest {
            spec: TokenRequestSpec {
                audiences: vec![audience.to_owned()],
                expiration_seconds: i64::try_from(lifetime.as_secs()).ok(),
                ..TokenRequestSpec::default()
            },
            ..TokenRequest::default()
        };
        let body = serde_json::to_vec(&request).map_err(|error| failed(error.to_string()))?;
        let (namespace, name) = (account.namespace(), account.name());
        let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token");
        let answer = self.0.post(&path, body, ANSWER_BYTES_MAX).await;
        let answer = answer.map_err(|error| failed(error.to_string()))?;
        // An error of the parser could quote the token.
        let issued: Option<TokenRequest> = serde_json::from_slice(&answer).ok();
        let status = issued.and_then(|issued| issued.status);
        let status = status.ok_or_else(|| failed("its answer has no token".to_owned()))?;
        Ok(IssuedToken {
            text: status.token,
            expires: status.expiration_timestamp.0,
        })
    }

    /// Sends a request to a service, whose target is a path below [`ProxiedService::path`], and returns the head of the
    /// answer. The answer may be an answer of the API server itself. The caller limits the time.
    ///
    /// # Errors
    /// There is no answer.
    pub async fn send(
        &self,
        request: Request<Vec<u8>>,
    ) -> Result<Response<ServiceAnswer>, UserClusterError> {
        let answer = self.0.exchange(request.map(Body::from)).await;
        let answer = answer.map_err(|error| unanswered(&error))?;
        Ok(answer.map(ServiceAnswer))
    }
}

impl ServiceAnswer {
    /// The next part of the body; `None` at its end.
    ///
    /// # Errors
    /// The connection is lost.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, UserClusterError> {
        while let Some(frame) = self.0.frame().await {
            let frame = frame.map_err(|error| unanswered(&ApiError::unreachable(error)))?;
            if let Ok(data) = frame.into_data() {
                return Ok(Some(data.into()));
            }
        }
        Ok(None)
    }
}

fn unanswered(error: &ApiError) -> UserClusterError {
    UserClusterError::Request {
        action: "pass the request on".to_owned(),
        why: error.to_string(),
    }
}

/// The configuration of a client for a context.
async fn config(path: Option<&Path>, context: Option<&str>) -> Result<Config, UserClusterError> {
    let kubeconfig = path.map_or_else(Kubeconfig::read, Kubeconfig::read_from);
    let options = KubeConfigOptions {
        context: context.map(str::to_owned),
        ..KubeConfigOptions::default()
    };
    let config = match kubeconfig {
        Ok(kubeconfig) => Config::from_custom_kubeconfig(kubeconfig, &options).await,
        Err(error) => Err(error),
    };
    config.map_err(|error| {
        let why = unreadable(&error);
        // Without a path, only this error knows the file.
        let file = match &error {
            KubeconfigError::ReadConfig(_, file) => Some(&**file),
            _ => path,
        };
        UserClusterError::Kubeconfig(match file {
            Some(file) => format!("{}: {why}", file.display()),
            None => why,
        })
    })
}
