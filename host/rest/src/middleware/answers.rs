//! The bytes of answers that wait for their readers.

use std::sync::Arc;

use axum::body::{Body, HttpBody as _};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::Semaphore;

use crate::answer::Counted;
use crate::connections::{Activity, Wait};
use crate::limits::SMALL_ANSWER_BYTES_MAX;
use crate::problem::Problem;

/// Counts the bytes of a large answer until they are sent. Where they would be too many, the client is
/// told to come back, and the connection of the slowest reader is closed, to make room until then.
pub(crate) async fn count_answer(
    State(bytes): State<Arc<Semaphore>>,
    request: Request,
    next: Next,
) -> Response {
    let activity = request.extensions().get::<Arc<Activity>>().cloned();
    let response = next.run(request).await;
    let size = response.body().size_hint().lower();
    if size <= SMALL_ANSWER_BYTES_MAX as u64 {
        return response;
    }
    let count = u32::try_from(size).unwrap_or(u32::MAX);
    if let Ok(held) = bytes.try_acquire_many_owned(count) {
        return response.map(|body| Body::new(Counted::new(body, held)));
    }
    if let Some(connections) = activity.and_then(|it| it.connections()) {
        connections.close_slowest(Wait::Answer);
    }
    Problem::busy().into_response()
}
