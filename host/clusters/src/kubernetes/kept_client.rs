//! A client for single requests, whose connection is kept for the next request.

use std::time::Instant;

use tokio::sync::Mutex;

use super::Access;
use super::connection::{ApiClient, ApiError};
use super::session::credentials;

/// The client of one API server. It connects at the first request, and again after [`KeptClient::forget`].
pub(super) struct KeptClient {
    access: Access,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    client: Option<KeptConnection>,
    /// The last failed attempt to connect. It answers all requests that waited for the attempt.
    failed: Option<(Instant, ApiError)>,
}

/// A client, and the property of its configuration that requests need.
#[derive(Clone)]
pub(super) struct KeptConnection {
    pub(super) client: ApiClient,
    /// True if the kubeconfig itself impersonates a user. Its headers would replace the headers of a request.
    pub(super) impersonates: bool,
}

impl KeptClient {
    /// A client that is not connected.
    pub(super) fn new(access: Access) -> Self {
        Self {
            access,
            kept: Mutex::default(),
        }
    }

    /// The kept client, or a new client.
    ///
    /// # Errors
    /// The credentials or certificates cannot be used, or the server cannot be reached.
    pub(super) async fn get(&self) -> Result<KeptConnection, ApiError> {
        let asked = Instant::now();
        let mut kept = self.kept.lock().await;
        if let Some(client) = &kept.client {
            return Ok(client.clone());
        }
        if let Some((at, error)) = &kept.failed
            && *at >= asked
        {
            return Err(error.clone());
        }
        match self.connect().await {
            Ok(client) => Ok(kept.client.insert(client).clone()),
            Err(error) => {
                kept.failed = Some((Instant::now(), error.clone()));
                Err(error)
            }
        }
    }

    /// Closes the connection. The next request reads the credentials again.
    pub(super) async fn forget(&self) {
        self.kept.lock().await.client = None;
    }

    async fn connect(&self) -> Result<KeptConnection, ApiError> {
        let mut config = self.access.config().await.map_err(ApiError::Unreachable)?;
        let plugin = credentials(&mut config).await;
        // A token of a plugin is not renewed before its end: the server then refuses it, and the plugin runs again.
        let (token, _) = plugin.map_err(|error| ApiError::Credentials(error.to_string()))?;
        let auth = &config.auth_info;
        let impersonates = auth.impersonate.is_some()
            || auth.impersonate_uid.is_some()
            || auth.impersonate_groups.is_some()
            || auth.impersonate_user_extra.is_some();
        Ok(KeptConnection {
            client: ApiClient::connected(config, token).await?,
            impersonates,
        })
    }
}
