//! All routes with their limits, and the OpenAPI document that describes them.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::{Extension, Router};
use tokio::sync::Semaphore;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::middleware::{self, TimeLimit};
use crate::problem::Problem;
use crate::routes::interpreters::commands;
use crate::routes::{interpret, interpreters, service, status};
use crate::{AppState, Limits};

/// The document root; paths and schemas come from the routes.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "kindsight",
        description = "Status of composite applications in all their clusters, and the meaning of the status of each Kubernetes resource.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    tags(
        (name = "status", description = "Status of deployment intent groups and clusters."),
        (name = "interpreters", description = "Interpreters, which judge the status of resources: list, change, and judge objects with them."),
        (name = "service", description = "Health and description of this service."),
    ),
)]
struct ApiDoc;

/// All routes, with every limit in place.
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
        .layer(from_fn_with_state(
            limits.uri_bytes_max,
            middleware::limit_uri,
        ))
        .layer(CatchPanicLayer::custom(middleware::answer_panic))
        // An answer is good for one moment, and is of the type it says.
        .layer(set(header::CACHE_CONTROL, "no-store"))
        .layer(set(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(from_fn(middleware::log_request))
}

fn set(header: HeaderName, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::overriding(header, HeaderValue::from_static(value))
}

/// The document that is served at `/openapi.json`, as JSON with line breaks.
pub fn openapi() -> String {
    let document = documented(Limits::default()).into_openapi();
    document.to_pretty_json().unwrap_or_default()
}

fn documented(limits: Limits) -> OpenApiRouter<AppState> {
    let slots = |max| {
        let slots = Arc::new(Semaphore::new(max));
        from_fn_with_state(slots, middleware::limit_requests)
    };
    let time = |max: Duration, advice| {
        from_fn_with_state(TimeLimit { max, advice }, middleware::limit_time)
    };
    let body = |max: usize| from_fn_with_state(max, middleware::limit_body);
    let interpret = OpenApiRouter::new()
        .routes(routes!(interpret::interpret))
        .layer(DefaultBodyLimit::max(limits.interpret_bytes_max))
        .layer(body(limits.interpret_bytes_max))
        .layer(slots(limits.interpret_requests_max));
    let queries = OpenApiRouter::new()
        .routes(routes!(status::dig_status))
        .routes(routes!(status::cluster_status))
        .routes(routes!(interpreters::list))
        .routes(routes!(interpreters::inspect))
        .merge(interpret)
        .layer(time(limits.request_time_max, ""));
    let limited = queries
        .merge(heavy_commands(limits).layer(time(limits.catalog_time_max, interpreters::TOO_LONG)))
        .layer(slots(limits.requests_max));
    // They wait for nothing else, so that what does harm can be taken out at any time.
    let quick = quick_commands(limits)
        .layer(slots(limits.quick_commands_max))
        .layer(time(limits.catalog_time_max, interpreters::TOO_LONG));
    let service = OpenApiRouter::new()
        .routes(routes!(service::index))
        .routes(routes!(service::healthz))
        .routes(routes!(service::readyz))
        .routes(routes!(service::openapi_json))
        .layer(time(limits.request_time_max, ""));
    OpenApiRouter::with_openapi(ApiDoc::openapi())
        .merge(limited)
        .merge(quick.layer(from_fn(middleware::refuse_cross_origin)))
        .merge(service)
}

/// Routes of commands that take seconds: loads and shadow runs, each with slots of their own.
fn heavy_commands(limits: Limits) -> OpenApiRouter<AppState> {
    let slots = |max| {
        let slots = Arc::new(Semaphore::new(max));
        from_fn_with_state(slots, middleware::limit_requests)
    };
    let body = |max: usize| from_fn_with_state(max, middleware::limit_body);
    let load = OpenApiRouter::new()
        .routes(routes!(interpreters::load))
        .layer(DefaultBodyLimit::max(limits.component_bytes_max))
        .layer(body(limits.component_bytes_max))
        .layer(slots(limits.catalog_requests_max));
    let shadow = OpenApiRouter::new()
        .routes(routes!(commands::shadow))
        .layer(DefaultBodyLimit::max(limits.catalog_json_bytes_max))
        .layer(body(limits.catalog_json_bytes_max))
        .layer(slots(limits.shadow_requests_max));
    load.merge(shadow)
        .layer(from_fn(middleware::refuse_cross_origin))
}

/// Routes of commands that take milliseconds.
fn quick_commands(limits: Limits) -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(commands::remove))
        .routes(routes!(commands::remove_unused))
        .routes(routes!(commands::promote))
        .routes(routes!(commands::rollback))
        .routes(routes!(commands::disable))
        .routes(routes!(commands::enable))
        .routes(routes!(commands::set, commands::clear))
        .layer(DefaultBodyLimit::max(limits.catalog_json_bytes_max))
        .layer(from_fn_with_state(
            limits.catalog_json_bytes_max,
            middleware::limit_body,
        ))
}

async fn wrong_method(request: Request) -> Problem {
    let method = request.method();
    let detail =
        format!("this route does not answer {method}; the header `Allow` says what it does");
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, detail)
}
