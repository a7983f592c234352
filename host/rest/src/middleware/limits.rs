//! Limits on requests: time, length of the URI, number at a time.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::Semaphore;

use crate::problem::Problem;

/// Limit on the duration of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeLimit {
    /// The longest it may take until its answer begins.
    pub(crate) max: Duration,
    /// Advice for its sender, appended to the error; may be empty.
    pub(crate) advice: &'static str,
}

/// Ends a request that takes too long.
pub(crate) async fn limit_time(
    State(limit): State<TimeLimit>,
    request: Request,
    next: Next,
) -> Response {
    let answer = tokio::time::timeout(limit.max, next.run(request)).await;
    answer.unwrap_or_else(|_| {
        let detail = format!(
            "the request took longer than {:?}{}",
            limit.max, limit.advice
        );
        Problem::new(StatusCode::REQUEST_TIMEOUT, detail).into_response()
    })
}

/// Refuses a path and query that are too long.
pub(crate) async fn limit_uri(State(max): State<usize>, request: Request, next: Next) -> Response {
    let uri = request.uri().path_and_query();
    let bytes = uri.map_or(0, |uri| uri.as_str().len());
    if bytes > max {
        let detail = format!("path and query of {bytes} bytes are longer than {max} bytes");
        return Problem::new(StatusCode::URI_TOO_LONG, detail).into_response();
    }
    next.run(request).await
}

/// Refuses requests over the limit, so that the requests in progress can complete.
pub(crate) async fn limit_requests(
    State(slots): State<Arc<Semaphore>>,
    request: Request,
    next: Next,
) -> Response {
    match slots.try_acquire() {
        Ok(_slot) => next.run(request).await,
        Err(_) => Problem::busy().into_response(),
    }
}
