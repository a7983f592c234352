//! Requests that a replica cannot answer.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;
use crate::rules::is_answered_by_replica;

/// Refuses a request whose answer a replica does not have, and names the upstream host. `None` for a server that is no
/// replica.
pub(crate) async fn refuse_on_replica(
    State(upstream): State<Option<Arc<str>>>,
    request: Request,
    next: Next,
) -> Response {
    let path = request.extensions().get().map(MatchedPath::as_str);
    match (upstream, path) {
        (Some(upstream), Some(path)) if !is_answered_by_replica(request.method(), path) => {
            let method = request.method();
            let detail = format!(
                "this server is a replica of {upstream}, and does not answer {method} {path}; send the request to {upstream}"
            );
            Problem::new(StatusCode::MISDIRECTED_REQUEST, detail).into_response()
        }
        _ => next.run(request).await,
    }
}
