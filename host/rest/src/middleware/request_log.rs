//! Log of requests.

use std::time::Instant;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;

/// Logs method, path, status and duration of a request. Not its query: the names in it may be private.
pub(crate) async fn log_request(request: Request, next: Next) -> Response {
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
