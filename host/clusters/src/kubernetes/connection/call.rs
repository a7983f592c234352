//! Requests whose answers are read completely, with any status.

use std::time::Duration;

use http::Request;
use http::header::RETRY_AFTER;
use kube::client::Body;
use tokio::time::timeout;

use super::{ApiClient, ApiError, LIMITS, read};

/// A complete answer.
pub(in crate::kubernetes) struct Reply {
    /// The status code.
    pub(in crate::kubernetes) code: u16,
    pub(in crate::kubernetes) body: Vec<u8>,
    /// The time that the server asks clients to wait before they try again.
    pub(in crate::kubernetes) retry_after: Option<Duration>,
}

impl ApiClient {
    /// The answer to a request, with any status and at most `bytes_max` bytes.
    ///
    /// # Errors
    /// There is no answer in time, or it is too large.
    pub(in crate::kubernetes) async fn call(
        &self,
        request: Request<Vec<u8>>,
        bytes_max: usize,
    ) -> Result<Reply, ApiError> {
        let answer = timeout(LIMITS.answer, self.exchange(request.map(Body::from))).await;
        let answer = answer.map_err(|_| {
            let seconds = LIMITS.answer.as_secs();
            ApiError::TimedOut(format!("no answer in {seconds} s"))
        })??;
        let retry_after = answer.headers().get(RETRY_AFTER);
        let retry_after = retry_after.and_then(|value| value.to_str().ok()?.trim().parse().ok());
        Ok(Reply {
            code: answer.status().as_u16(),
            retry_after: retry_after.map(Duration::from_secs),
            body: read(answer.into_body(), bytes_max).await?,
        })
    }
}
