//! Requests of a user, whose answers are passed on with any status.

use http::{Request, Response};
use kube::Config;
use kube::client::Body;

use super::{ApiClient, ApiError, Token};

impl ApiClient {
    /// A client with one connection, for a configuration that is not read again.
    ///
    /// # Errors
    /// The credentials or certificates cannot be used, or the server cannot be reached or refuses the credentials.
    pub(in crate::kubernetes) async fn of_user(
        config: Config,
        token: Token,
    ) -> Result<Self, ApiError> {
        Self::connected(config, token).await
    }

    /// The answer to a request, with any status. The caller limits the time.
    ///
    /// # Errors
    /// [`ApiError::Unreachable`] if there is no answer.
    pub(in crate::kubernetes) async fn exchange(
        &self,
        request: Request<Body>,
    ) -> Result<Response<Body>, ApiError> {
        let answer = self.client.send(request).await;
        answer.map_err(|error| match error {
            kube::Error::Service(cause) => ApiError::unreachable(cause),
            error => ApiError::unreachable(error),
        })
    }
}
