//! Requests that a replica cannot answer.

use axum::extract::{MatchedPath, Request};
use axum::http::StatusCode;

use crate::problem::Problem;
use crate::rules::is_answered_by_replica;

/// Refuses a request whose answer a replica of `upstream` does not have, and names the upstream host.
pub(super) fn refuse_on_replica(upstream: &str, request: &Request) -> Result<(), Problem> {
    let Some(path) = request.extensions().get().map(MatchedPath::as_str) else {
        return Ok(());
    };
    let method = request.method();
    if is_answered_by_replica(method, path) {
        return Ok(());
    }
    let detail = format!(
        "this server is a replica of {upstream}, and does not answer {method} {path}; send the request to {upstream}"
    );
    Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, detail))
}
