//! The checks, limits and records of every request, in one layer.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tracing::Instrument as _;

use super::answers::AnswerBytes;
use super::authorize::Authorization;
use super::cross_origin::refuse_cross_origin;
use super::host::{HostNames, NamedHost};
use super::limits::check_uri;
use super::panic::caught;
use super::replica::refuse_on_replica;
use super::request_id::RequestIds;
use super::request_log::RequestLog;
use crate::AppState;
use crate::allowed::AllowedNames;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::serve::RequestConnection;

/// The checks, limits and records of every request.
///
/// They share one layer for the reason that [`RouteLimits`](super::RouteLimits) gives.
pub(crate) struct Guards {
    ids: RequestIds,
    metrics: Arc<dyn Metrics>,
    answers_bytes: Arc<AnswerBytes>,
    uri_bytes_max: usize,
    names: HostNames,
    allowed: Arc<AllowedNames>,
    authorization: Authorization,
    /// The upstream host of a replica.
    replica_of: Option<Arc<str>>,
}

impl Guards {
    /// The guards of the routes with this state.
    pub(crate) fn new(state: &AppState, answers_bytes: Arc<AnswerBytes>) -> Self {
        let allowed = Arc::clone(&state.allowed_names);
        Self {
            ids: RequestIds::default(),
            metrics: Arc::clone(&state.metrics),
            answers_bytes,
            uri_bytes_max: state.limits.uri_bytes_max,
            names: HostNames {
                allowed: Arc::clone(&allowed),
                has_access_control: state.access.is_some(),
            },
            allowed,
            authorization: Authorization::new(state.access.clone(), state.limits.request_time_max),
            replica_of: state.replica_of.clone(),
        }
    }

    /// Answers a request, and records the answer.
    async fn recorded(&self, request: Request, next: Next) -> Response {
        let log = RequestLog::begin(&request);
        let mut response = caught(self.counted(request, next)).await;
        let headers = response.headers_mut();
        // An answer is valid for one moment, and has the declared type.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        let as_declared = HeaderValue::from_static("nosniff");
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, as_declared);
        log.end(&*self.metrics, &response);
        response
    }

    /// Answers a request, and counts the bytes of a large answer.
    async fn counted(&self, mut request: Request, next: Next) -> Response {
        let connection = request
            .extensions()
            .get::<Arc<RequestConnection>>()
            .cloned();
        let response = match self.admit(&mut request).await {
            Ok(host) => host.answer(next.run(request).await),
            Err(problem) => problem.into_response(),
        };
        let activity = connection.as_ref().map(|it| &*it.activity);
        self.answers_bytes.count(response, activity).await
    }

    /// Checks a request before its route is called, and finds out its sender.
    async fn admit(&self, request: &mut Request) -> Result<NamedHost, Problem> {
        check_uri(self.uri_bytes_max, request)?;
        let host = self.names.check(request)?;
        refuse_cross_origin(&self.allowed, request)?;
        self.authorization.authorize(request).await?;
        if let Some(upstream) = &self.replica_of {
            refuse_on_replica(upstream, request)?;
        }
        Ok(host)
    }
}

/// Passes a request on if it is admitted, and records the answer.
pub(crate) async fn guard(
    State(guards): State<Arc<Guards>>,
    request: Request,
    next: Next,
) -> Response {
    let id = guards.ids.identify(&request);
    let answering = guards.recorded(request, next).instrument(id.span());
    let mut response = answering.await;
    id.set(response.headers_mut());
    response
}
