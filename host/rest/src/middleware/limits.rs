//! Limits on requests: time, length of the URI, number at a time.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::body::BodyRules;
use crate::problem::Problem;

/// The limits of a group of routes.
///
/// One layer applies all of them. axum clones and boxes the remaining layers of a route in each layer, so the cost of a
/// request grows with the square of the number of its layers.
pub(crate) struct RouteLimits {
    time_max: Duration,
    /// Advice for the sender of a request that takes too long, appended to the error; may be empty.
    advice: &'static str,
    /// Rules for bodies; `None` if no handler reads a body.
    body: Option<BodyRules>,
    /// Slots of requests, which a request takes in this order when its body is complete.
    slots: Vec<Arc<Semaphore>>,
}

impl RouteLimits {
    /// Limits the time until an answer begins.
    pub(crate) fn new(time_max: Duration) -> Self {
        Self {
            time_max,
            advice: "",
            body: None,
            slots: Vec::new(),
        }
    }

    /// Adds advice for the sender of a request that takes too long.
    pub(crate) fn advice(self, advice: &'static str) -> Self {
        Self { advice, ..self }
    }

    /// Reads bodies by these rules before a handler is called.
    pub(crate) fn body(self, rules: BodyRules) -> Self {
        Self {
            body: Some(rules),
            ..self
        }
    }

    /// Admits as many concurrent requests as there are slots. A further call adds further slots.
    pub(crate) fn slots(mut self, slots: &Arc<Semaphore>) -> Self {
        self.slots.push(Arc::clone(slots));
        self
    }

    /// The answer to a request, if its body is valid and slots are free.
    async fn answer(&self, mut request: Request, next: Next) -> Result<Response, Problem> {
        let mut body_bytes = None;
        if let Some(rules) = &self.body {
            DefaultBodyLimit::disable().apply(&mut request);
            (request, body_bytes) = rules.read(request).await?;
        }
        let slots = self.take_slots()?;
        let answer = next.run(request).await;
        // The slots and the bytes of the body are held until the answer begins.
        drop((slots, body_bytes));
        Ok(answer)
    }

    /// Takes a slot of each kind, so that the requests in progress can complete.
    fn take_slots(&self) -> Result<Vec<SemaphorePermit<'_>>, Problem> {
        let slots = self.slots.iter();
        let taken = slots.map(|slots| slots.try_acquire().map_err(|_| Problem::busy()));
        taken.collect()
    }

    fn too_slow(&self) -> Problem {
        let (max, advice) = (self.time_max, self.advice);
        let detail = format!("the request took longer than {max:?}{advice}");
        Problem::new(StatusCode::REQUEST_TIMEOUT, detail)
    }
}

/// Applies the limits of a route to a request.
pub(crate) async fn limit_route(
    State(limits): State<Arc<RouteLimits>>,
    request: Request,
    next: Next,
) -> Response {
    let answer = timeout(limits.time_max, limits.answer(request, next)).await;
    let answer = answer.unwrap_or_else(|_| Err(limits.too_slow()));
    answer.into_response()
}

/// Checks the length of the path and query of a request, in bytes.
///
/// # Errors
/// Path and query that are longer than `max`.
pub(crate) fn check_uri(max: usize, request: &Request) -> Result<(), Problem> {
    let uri = request.uri().path_and_query();
    let bytes = uri.map_or(0, |uri| uri.as_str().len());
    if bytes > max {
        let detail = format!("path and query of {bytes} bytes are longer than {max} bytes");
        return Err(Problem::new(StatusCode::URI_TOO_LONG, detail));
    }
    Ok(())
}
