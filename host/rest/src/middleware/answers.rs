//! Limit on the bytes of answers that wait for their readers.

use std::sync::Arc;

use axum::body::{Body, HttpBody as _};
use axum::response::{IntoResponse, Response};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::answer::Counted;
use crate::connections::{Activity, Wait, take_bytes};
use crate::limits::SMALL_ANSWER_BYTES_MAX;
use crate::problem::Problem;

/// The most large answers that wait for room at a time: their bytes are not counted yet.
const WAITING_MAX: usize = 2;

/// The bytes of all answers.
#[derive(Debug)]
pub(crate) struct AnswerBytes {
    left: Arc<Semaphore>,
    waiting: Semaphore,
}

impl AnswerBytes {
    /// Creates the limit.
    pub(crate) fn new(bytes: usize) -> Self {
        Self {
            left: Arc::new(Semaphore::new(bytes)),
            waiting: Semaphore::new(WAITING_MAX),
        }
    }

    /// Takes `bytes` for an answer; `None` if slower readers do not free enough bytes in time.
    pub(crate) async fn hold(
        &self,
        bytes: u64,
        activity: Option<&Activity>,
    ) -> Option<OwnedSemaphorePermit> {
        let count = u32::try_from(bytes).unwrap_or(u32::MAX);
        if let Ok(held) = Arc::clone(&self.left).try_acquire_many_owned(count) {
            return Some(held);
        }
        let _waiting = self.waiting.try_acquire().ok()?;
        take_bytes(&self.left, count, activity, Wait::Answer).await
    }

    /// Counts the bytes of a large answer until they are sent. If the bytes exceed the limit, the connections of the
    /// slowest readers are closed. If this does not free enough bytes in time, the client gets 503 with `Retry-After`.
    pub(crate) async fn count(&self, response: Response, activity: Option<&Activity>) -> Response {
        let size = response.body().size_hint().lower();
        if size <= SMALL_ANSWER_BYTES_MAX as u64 {
            return response;
        }
        match self.hold(size, activity).await {
            Some(held) => response.map(|body| Body::new(Counted::new(body, held))),
            None => Problem::busy().into_response(),
        }
    }
}
