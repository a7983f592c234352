//! Log and metrics of requests.

use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::http::Method;
use axum::response::Response;

use crate::metrics::{AnsweredRequest, Metrics};

/// Method, path and begin of a request. Not its query: the names in it may be private.
pub(crate) struct RequestLog {
    method: Method,
    /// `None` if the log omits it.
    path: Option<String>,
    route: Option<MatchedPath>,
    begun: Instant,
}

impl RequestLog {
    /// Begins to measure a request.
    pub(crate) fn begin(request: &Request) -> Self {
        let is_logged = tracing::enabled!(tracing::Level::DEBUG);
        Self {
            method: request.method().clone(),
            path: is_logged.then(|| request.uri().path().to_owned()),
            route: request.extensions().get().cloned(),
            begun: Instant::now(),
        }
    }

    /// Logs and counts the request with its status and duration.
    pub(crate) fn end(self, metrics: &dyn Metrics, response: &Response) {
        let (status, duration) = (response.status().as_u16(), self.begun.elapsed());
        metrics.answered(&AnsweredRequest {
            route: self.route.as_ref().map(MatchedPath::as_str),
            method: self.method.as_str(),
            status,
            duration,
        });
        tracing::debug!(
            http.method = %self.method,
            http.path = self.path,
            http.status = status,
            duration_ms = duration.as_millis(),
            "answered a request"
        );
    }
}
