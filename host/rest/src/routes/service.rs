//! Health and description of this service.

use crate::blocking::spawn_blocking;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use kindsight_api::problem::ProblemDocument;

use crate::answer::internal;
use crate::app::App;
use crate::caller::Sender;
use crate::problem::Problem;

/// Liveness
#[utoipa::path(get, path = "/healthz", tag = "service", responses((status = 200, description = "The service is alive.", body = String, content_type = "text/plain", example = "ok")))]
pub(crate) async fn healthz() -> &'static str {
    "ok"
}

/// Readiness
///
/// With access control, only a user with the role `viewer` for everything gets the list and the further lines.
#[utoipa::path(
    get,
    path = "/readyz",
    tag = "service",
    responses(
        (status = 200, description = "Queries can be answered. Further lines name stores that are away and interpreters that fail too often.", body = String, content_type = "text/plain", example = "ok"),
        (status = 503, description = "Queries cannot be answered yet; the problem lists what is missing.", body = ProblemDocument, content_type = "application/problem+json"),
    ),
)]
pub(crate) async fn readyz(State(app): State<App>, sender: Sender) -> Result<String, Problem> {
    let shows_details = sender.visible().is_everything();
    let missing = (app.missing)();
    if missing.is_empty() {
        if !shows_details {
            return Ok("ok".to_owned());
        }
        let lines = [vec!["ok".to_owned()], (app.notes)()].concat();
        return Ok(lines.join("\n"));
    }
    if !shows_details {
        return Err(Problem::not_ready());
    }
    let detail = format!("not ready yet: {}", missing.join("; "));
    Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail))
}

/// Metrics
#[utoipa::path(get, path = "/metrics", tag = "service", responses((status = 200, description = "Metrics in the text format of Prometheus.", body = String, content_type = "text/plain")))]
pub(crate) async fn metrics(State(app): State<App>) -> Result<Response, Problem> {
    let text = spawn_blocking(move || app.metrics.text());
    let text = text.await.map_err(|_| internal())?;
    let format = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, format)], text).into_response())
}

/// OpenAPI document
#[utoipa::path(get, path = "/openapi.json", tag = "service", responses((status = 200, description = "The OpenAPI document.", body = serde_json::Value)))]
pub(crate) async fn openapi_json(State(app): State<App>) -> Response {
    let json = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, json)], app.document()).into_response()
}
