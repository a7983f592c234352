//! What is done around every request, whatever it asks for.

use std::any::Any;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::Semaphore;

use crate::limits::DROPPED_BYTES_MAX;
use crate::problem::{INTERNAL, Problem};

/// Notes what was asked and how it ended. The query is left out: names in it are nobody's business.
pub(crate) async fn note(request: Request, next: Next) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let begun = Instant::now();
    let response = next.run(request).await;
    tracing::debug!(
        http.method = %method,
        http.path = path,
        http.status = response.status().as_u16(),
        duration_ms = begun.elapsed().as_millis(),
        "answered a request"
    );
    response
}

/// Tells browsers and proxies that an answer is good for one moment, and is what it says it is.
pub(crate) async fn set_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    response
}

/// How long a request may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeLimit {
    pub(crate) max: Duration,
    /// What its sender is told beside that it was too long; may be empty.
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

/// Refuses what a page of another site makes a browser ask.
///
/// A browser sends some requests to any address without asking first, also to one that only its own
/// machine reaches; it says in `Origin` for whose page. Programs send no `Origin`.
pub(crate) async fn refuse_foreign(request: Request, next: Next) -> Response {
    if is_foreign(request.headers()) {
        let detail = "a page of another origin asks for this; `Origin` has to be left out, or name the host that is asked";
        return Problem::new(StatusCode::FORBIDDEN, detail).into_response();
    }
    next.run(request).await
}

/// Whether an `Origin` is anything but `scheme://` and the `Host`. That of a page without an origin
/// is the word `null`.
fn is_foreign(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).map(HeaderValue::as_bytes);
    let origins = headers.get_all(header::ORIGIN).iter();
    let mut authorities = origins.map(|origin| {
        let (_scheme, authority) = origin.to_str().ok()?.split_once("://")?;
        Some(authority.as_bytes())
    });
    authorities.any(|authority| match (authority, host) {
        (Some(authority), Some(host)) => !authority.eq_ignore_ascii_case(host),
        _ => true,
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

/// Refuses a body that is said to be too large.
///
/// A client that waits to be asked for it reads why at once, and has sent nothing. Any other is sending
/// already, and most look for an answer only when they are done: what they send is dropped as it comes,
/// or they would find a broken connection instead of the reason.
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

/// A fault of ours costs one request its answer. What happened is for the log, not for the reader.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the layer hands over the panic"
)]
pub(crate) fn answer_panic(panic: Box<dyn Any + Send>) -> Response {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    tracing::error!(panic = text.unwrap_or("no text"), "a handler panicked");
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL).into_response()
}
