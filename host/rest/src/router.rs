//! The whole URL surface, and the document that describes it.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, Request};
use axum::http::StatusCode;
use axum::{Extension, Router, middleware};
use tokio::sync::Semaphore;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::edge::TimeLimit;
use crate::problem::Problem;
use crate::routes::interpreters::commands;
use crate::routes::{interpret, interpreters, service, status};
use crate::{AppState, Limits, edge};

/// The document root; paths and schemas come from the routes.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "kindsight",
        description = "How composite applications fare in all their clusters, and what the status of each Kubernetes resource means.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    tags(
        (name = "status", description = "How applications and clusters fare."),
        (name = "interpreters", description = "What the status of a resource means, and who says so."),
        (name = "service", description = "This service itself."),
    ),
)]
struct ApiDoc;

/// Everything that is served, with every limit in place.
pub fn router(state: AppState) -> Router {
    let limits = state.limits;
    let (routes, document) = documented(limits).split_for_parts();
    let paths: Vec<&str> = document.paths.paths.keys().map(String::as_str).collect();
    let known = format!("there is no such route; there are {}", paths.join(", "));
    let document = document.to_json().unwrap_or_default();
    routes
        .with_state(state)
        .layer(Extension(Arc::new(service::Document(document))))
        .fallback(move || std::future::ready(Problem::new(StatusCode::NOT_FOUND, known.clone())))
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn_with_state(
            limits.uri_bytes_max,
            edge::limit_uri,
        ))
        .layer(CatchPanicLayer::custom(edge::answer_panic))
        .layer(middleware::from_fn(edge::set_headers))
        .layer(middleware::from_fn(edge::note))
}

/// The document that is served at `/openapi.json`, as JSON with line breaks.
pub fn openapi() -> String {
    let document = documented(Limits::default()).into_openapi();
    document.to_pretty_json().unwrap_or_default()
}

fn documented(limits: Limits) -> OpenApiRouter<AppState> {
    let slots =
        |max| middleware::from_fn_with_state(Arc::new(Semaphore::new(max)), edge::limit_requests);
    let time = |max: Duration, advice| {
        middleware::from_fn_with_state(TimeLimit { max, advice }, edge::limit_time)
    };
    let said = |max: usize| middleware::from_fn_with_state(max, edge::limit_body);
    let interpret = OpenApiRouter::new()
        .routes(routes!(interpret::interpret))
        .layer(DefaultBodyLimit::max(limits.interpret_bytes_max))
        .layer(said(limits.interpret_bytes_max))
        .layer(slots(limits.interpret_requests_max));
    let queries = OpenApiRouter::new()
        .routes(routes!(status::dig_status))
        .routes(routes!(status::cluster_status))
        .routes(routes!(interpreters::list))
        .routes(routes!(interpreters::inspect))
        .merge(interpret)
        .layer(time(limits.request_time_max, ""));
    let commands = changes(limits)
        .layer(slots(limits.catalog_requests_max))
        .layer(time(limits.catalog_time_max, interpreters::TOO_LONG))
        .layer(middleware::from_fn(edge::refuse_foreign));
    let limited = queries.merge(commands).layer(slots(limits.requests_max));
    let service = OpenApiRouter::new()
        .routes(routes!(service::index))
        .routes(routes!(service::healthz))
        .routes(routes!(service::readyz))
        .routes(routes!(service::openapi_json))
        .layer(time(limits.request_time_max, ""));
    OpenApiRouter::with_openapi(ApiDoc::openapi())
        .merge(limited)
        .merge(service)
}

/// What changes interpreters, or works on them for long.
fn changes(limits: Limits) -> OpenApiRouter<AppState> {
    let said = |max: usize| middleware::from_fn_with_state(max, edge::limit_body);
    let load = OpenApiRouter::new()
        .routes(routes!(interpreters::load))
        .layer(DefaultBodyLimit::max(limits.component_bytes_max))
        .layer(said(limits.component_bytes_max));
    let others = OpenApiRouter::new()
        .routes(routes!(commands::remove))
        .routes(routes!(commands::shadow))
        .routes(routes!(commands::promote))
        .routes(routes!(commands::rollback))
        .routes(routes!(commands::disable))
        .routes(routes!(commands::enable))
        .routes(routes!(commands::set, commands::clear))
        .layer(DefaultBodyLimit::max(limits.catalog_json_bytes_max))
        .layer(said(limits.catalog_json_bytes_max));
    load.merge(others)
}

async fn wrong_method(request: Request) -> Problem {
    let method = request.method();
    let detail =
        format!("this route does not answer {method}; the header `Allow` says what it does");
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, detail)
}
