//! Log and metrics of requests.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;

use crate::metrics::{AnsweredRequest, Metrics};

/// Logs and counts method, path, status and duration of a request. Not its query: the names in it may be private.
pub(crate) async fn log_request(
    State(metrics): State<Arc<dyn Metrics>>,
    request: Request,
    next: Next,
) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let begun = Instant::now();
    let response = next.run(request).await;
    let (status, duration) = (response.status().as_u16(), begun.elapsed());
    metrics.answered(&AnsweredRequest {
        route: route.as_ref().map(MatchedPath::as_str),
        method: method.as_str(),
        status,
        duration,
    });
    tracing::debug!(
        http.method = %method,
        http.path = path,
        http.status = status,
        duration_ms = duration.as_millis(),
        "answered a request"
    );
    response
}
