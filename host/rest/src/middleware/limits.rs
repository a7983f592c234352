//! Limits on requests: time, length of the URI, size of the body, number at a time.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::Semaphore;

use crate::limits::DROPPED_BYTES_MAX;
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

/// Refuses a body of which `Content-Length` says that it is too large.
///
/// A client that waits to be asked for it (`Expect`) reads the error at once, and has sent nothing. Any
/// other is sending already, and most look for an answer only when they are done: what they send is
/// dropped as it comes, or they would find a broken connection instead of the error.
pub(crate) async fn limit_body(State(max): State<usize>, request: Request, next: Next) -> Response {
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if length.is_none_or(|length| length <= max) {
        return next.run(request).await;
    }
    if !request.headers().contains_key(header::EXPECT) {
        drop_body(request.into_body()).await;
    }
    Problem::too_large(max).into_response()
}

/// Reads a body and keeps nothing of it, up to its end or [`DROPPED_BYTES_MAX`].
async fn drop_body(mut body: Body) {
    let mut dropped = 0;
    while dropped < DROPPED_BYTES_MAX
        && let Some(Ok(frame)) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await
    {
        dropped += frame.data_ref().map_or(0, Bytes::len);
    }
}

/// Refuses more than so many requests at a time, so that those in progress still end.
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
