//! Requests of a user, whose answers are passed on with any status.

use http::{Request, Response};
use kube::client::Body;

use super::{ApiClient, ApiError};

impl ApiClient {
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
