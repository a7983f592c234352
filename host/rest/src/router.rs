//! All routes with their limits, and the OpenAPI document that describes them.

mod bodies;
mod document;

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::{Extension, Router};
use kindsight_api::push::{MEDIA_TYPE, PUSH_BYTES_MAX};
use tokio::sync::Semaphore;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answers;
use crate::limits::{
    GROUP_BYTES_MAX, METRICS_REQUESTS_MAX, NEEDS_REQUESTS_MAX, PUSH_REQUESTS_MAX,
    REGISTRATION_BYTES_MAX, SIGN_IN_BYTES_MAX,
};
use crate::middleware::{self, AnswerBytes, Authorization, HostNames, RequestIds, TimeLimit};
use crate::problem::Problem;
use crate::routes::interpreters::commands;
use crate::routes::lifecycle::network_intents;
use crate::routes::{
    applications, confirmation, health_scopes, history, interpret, interpreters, k8splugin,
    lifecycle, missing_rules, notify, page, push, recorded, registration, service, session, status,
    watch,
};
use crate::slots::permits;
use crate::stream::Streams;
use crate::{AppState, Limits, Slots};
use bodies::Bodies;
use document::ApiDoc;

/// Media types of a body of JSON.
const JSON: [&str; 1] = ["application/json"];
/// Media types of a report that an agent pushes.
const LINES: [&str; 1] = [MEDIA_TYPE];
/// Media types of a component.
const COMPONENT: [&str; 2] = ["application/wasm", "application/octet-stream"];

/// A layer that admits as many concurrent requests as there are slots.
macro_rules! slots {
    ($slots:expr) => {
        from_fn_with_state(Arc::clone($slots), middleware::limit_requests)
    };
}

/// A layer that ends requests after some time.
macro_rules! time {
    ($max:expr, $advice:expr) => {
        from_fn_with_state(
            TimeLimit {
                max: $max,
                advice: $advice,
            },
            middleware::limit_time,
        )
    };
}

/// A layer that reads bodies of limited size and of these types.
macro_rules! body {
    ($bodies:expr, $max:expr, $types:expr) => {
        body!($bodies, $max, $types, None)
    };
    ($bodies:expr, $max:expr, $types:expr, $raised_by:expr) => {
        from_fn_with_state(
            $bodies.rules($max, $types, $raised_by),
            middleware::read_body,
        )
    };
}

/// All routes, with every limit in place.
pub fn router(state: AppState) -> Router {
    let limits = state.limits;
    let answers_bytes = Arc::new(AnswerBytes::new(permits(limits.answers_bytes_max)));
    let streams = Arc::new(Streams::new(
        &limits,
        &state.slots,
        Arc::clone(&answers_bytes),
        Arc::clone(&state.waits),
    ));
    let (routes, document) = documented(limits, &state.slots).split_for_parts();
    let known = known_routes(&document);
    let document = Bytes::from(document.to_json().unwrap_or_default());
    let routes = routes
        .layer(Extension(service::Document(document)))
        .layer(Extension(Arc::clone(&state.catalog)))
        .layer(Extension(Arc::new(Answers::new(&limits))))
        .layer(Extension(streams));
    guarded(routes, known, answers_bytes, state)
}

/// Only the metrics and the liveness, for a listener without access control.
pub fn metrics_router(state: AppState) -> Router {
    let limits = state.limits;
    let state = AppState {
        access: None,
        ..state
    };
    let routes = OpenApiRouter::new()
        .routes(routes!(service::healthz))
        .merge(metrics())
        .layer(time!(limits.request_time_max, ""));
    let (routes, document) = routes.split_for_parts();
    let answers_bytes = Arc::new(AnswerBytes::new(permits(limits.answers_bytes_max)));
    guarded(routes, known_routes(&document), answers_bytes, state)
}

/// The detail of a problem about an unknown route.
fn known_routes(document: &utoipa::openapi::OpenApi) -> String {
    let paths: Vec<&str> = document.paths.paths.keys().map(String::as_str).collect();
    format!("there is no such route; there are {}", paths.join(", "))
}

/// Routes with the checks, limits and records that every request has.
fn guarded(
    routes: Router<AppState>,
    known: String,
    answers_bytes: Arc<AnswerBytes>,
    state: AppState,
) -> Router {
    let metrics = Arc::clone(&state.metrics);
    let allowed = Arc::clone(&state.allowed_names);
    let control = state.access.clone();
    let names = HostNames {
        allowed: Arc::clone(&allowed),
        has_access_control: control.is_some(),
    };
    let authorization = Authorization::new(control, state.limits.request_time_max);
    routes
        .fallback(move || std::future::ready(Problem::new(StatusCode::NOT_FOUND, known.clone())))
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(
            Arc::new(authorization),
            middleware::authorize,
        ))
        .layer(from_fn_with_state(allowed, middleware::refuse_cross_origin))
        .layer(from_fn_with_state(
            Arc::new(names),
            middleware::refuse_foreign_host,
        ))
        .layer(from_fn_with_state(
            state.limits.uri_bytes_max,
            middleware::limit_uri,
        ))
        .layer(from_fn_with_state(answers_bytes, middleware::count_answer))
        .layer(CatchPanicLayer::custom(middleware::answer_panic))
        // An answer is valid for one moment, and has the declared type.
        .layer(set(header::CACHE_CONTROL, "no-store"))
        .layer(set(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(from_fn_with_state(metrics, middleware::log_request))
        .layer(from_fn_with_state(
            Arc::<RequestIds>::default(),
            middleware::identify_request,
        ))
        .with_state(state)
}

fn set(header: HeaderName, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::overriding(header, HeaderValue::from_static(value))
}

/// The document that is served at `/openapi.json`, as JSON with line breaks.
pub fn openapi() -> String {
    let limits = Limits::default();
    let document = documented(limits, &Slots::new(&limits)).into_openapi();
    document.to_pretty_json().unwrap_or_default()
}

fn documented(limits: Limits, slots: &Slots) -> OpenApiRouter<AppState> {
    let bodies = Bodies::new(&limits);
    // A request takes its slots when its body is complete.
    let requests = Arc::clone(&slots.requests.free);
    let statuses = OpenApiRouter::new()
        .routes(routes!(status::dig_status))
        .routes(routes!(status::cluster_status))
        .routes(routes!(status::logical_cloud_status))
        // The dialect of an answer depends on it.
        .layer(SetResponseHeaderLayer::appending(
            header::VARY,
            HeaderValue::from_name(header::ACCEPT),
        ));
    let queries = statuses
        .routes(routes!(confirmation::dig_confirmation))
        .routes(routes!(confirmation::cluster_confirmation))
        .routes(routes!(confirmation::logical_cloud_confirmation))
        .routes(routes!(history::dig_history))
        .routes(routes!(health_scopes::health))
        .routes(routes!(applications::applications))
        .routes(routes!(applications::clusters))
        .routes(routes!(watch::watch_status))
        .routes(routes!(watch::watch_cluster_status))
        .routes(routes!(watch::watch_logical_cloud_status))
        .routes(routes!(watch::watch_applications))
        .routes(routes!(interpreters::list))
        .routes(routes!(interpreters::inspect))
        .routes(routes!(missing_rules::missing_rules))
        .routes(routes!(recorded::fixture))
        .routes(routes!(notify::list))
        .routes(routes!(notify::test))
        .routes(routes!(notify::resend))
        .routes(routes!(k8splugin::list))
        .routes(routes!(k8splugin::get))
        .routes(routes!(k8splugin::status))
        .layer(slots!(&requests))
        .merge(judging(limits, &bodies, &requests))
        .merge(groups(&bodies, &requests))
        .merge(registrations(&bodies, &requests))
        .merge(pushes(&bodies))
        .layer(time!(limits.request_time_max, ""));
    let heavy = heavy_commands(limits, &bodies, &requests)
        .layer(time!(limits.catalog_time_max, interpreters::TOO_LONG));
    // These commands do not wait for others, so that a harmful interpreter can be removed at any time.
    let quick = quick_commands(limits, &bodies)
        .layer(time!(limits.catalog_time_max, interpreters::TOO_LONG));
    let service = OpenApiRouter::new()
        .routes(routes!(page::index))
        .routes(routes!(page::file))
        .routes(routes!(service::healthz))
        .routes(routes!(service::readyz))
        .merge(metrics())
        .merge(sessions(&bodies))
        .routes(routes!(service::openapi_json))
        .layer(time!(limits.request_time_max, ""));
    OpenApiRouter::with_openapi(ApiDoc::openapi())
        .merge(queries)
        .merge(heavy)
        .merge(quick)
        .merge(service)
}

/// The routes of sign-in.
fn sessions(bodies: &Bodies) -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(session::show, session::sign_in, session::sign_out))
        .routes(routes!(session::oidc::begin))
        .routes(routes!(session::oidc::callback))
        .layer(DefaultBodyLimit::disable())
        .layer(body!(bodies, SIGN_IN_BYTES_MAX, &JSON))
}

/// The route of the metrics, with few requests at a time.
fn metrics() -> OpenApiRouter<AppState> {
    let own = Arc::new(Semaphore::new(METRICS_REQUESTS_MAX));
    OpenApiRouter::new()
        .routes(routes!(service::metrics))
        .layer(slots!(&own))
}

/// The route that judges objects.
fn judging(limits: Limits, bodies: &Bodies, requests: &Arc<Semaphore>) -> OpenApiRouter<AppState> {
    let own = Arc::new(Semaphore::new(permits(limits.interpret_requests_max)));
    OpenApiRouter::new()
        .routes(routes!(interpret::interpret))
        .layer(slots!(&own))
        .layer(slots!(requests))
        .layer(DefaultBodyLimit::disable())
        .layer(body!(bodies, limits.interpret_bytes_max, &JSON))
}

/// Routes of the content and the lifecycle of groups and network intents.
fn groups(bodies: &Bodies, requests: &Arc<Semaphore>) -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(lifecycle::get, lifecycle::put, lifecycle::delete))
        .routes(routes!(lifecycle::approve))
        .routes(routes!(lifecycle::instantiate))
        .routes(routes!(lifecycle::update))
        .routes(routes!(lifecycle::rollback))
        .routes(routes!(lifecycle::dry_run))
        .routes(routes!(lifecycle::terminate))
        .routes(routes!(lifecycle::stop))
        .routes(routes!(
            network_intents::get,
            network_intents::put,
            network_intents::delete
        ))
        .routes(routes!(network_intents::apply))
        .routes(routes!(network_intents::terminate))
        .routes(routes!(network_intents::dry_run))
        .layer(slots!(requests))
        .layer(DefaultBodyLimit::disable())
        .layer(body!(bodies, GROUP_BYTES_MAX, &JSON))
}

/// Routes of the registration of clusters.
fn registrations(bodies: &Bodies, requests: &Arc<Semaphore>) -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(
            registration::get,
            registration::put,
            registration::delete
        ))
        .layer(slots!(requests))
        .layer(DefaultBodyLimit::disable())
        .layer(body!(bodies, REGISTRATION_BYTES_MAX, &JSON))
}

/// Routes of agents that push. They have their own slots: an agent waits for most of the time.
fn pushes(bodies: &Bodies) -> OpenApiRouter<AppState> {
    let reports = Arc::new(Semaphore::new(PUSH_REQUESTS_MAX));
    let needs = Arc::new(Semaphore::new(NEEDS_REQUESTS_MAX));
    let reports = OpenApiRouter::new()
        .routes(routes!(push::push))
        .layer(slots!(&reports))
        .layer(DefaultBodyLimit::disable())
        .layer(body!(bodies, PUSH_BYTES_MAX, &LINES));
    let needs = OpenApiRouter::new()
        .routes(routes!(push::needs))
        .layer(slots!(&needs));
    reports.merge(needs)
}

/// Routes of commands that take seconds: loads and shadow runs, with separate slots. A comparison of a component takes a
/// slot of a shadow run, because it lasts as long.
fn heavy_commands(
    limits: Limits,
    bodies: &Bodies,
    requests: &Arc<Semaphore>,
) -> OpenApiRouter<AppState> {
    let loads = Arc::new(Semaphore::new(permits(limits.catalog_requests_max)));
    let noted = from_fn_with_state(limits.component_bytes_max, middleware::note_too_large);
    let load = OpenApiRouter::new()
        .routes(routes!(interpreters::load))
        .routes(routes!(interpreters::load_by_its_name))
        .layer(slots!(&loads))
        .layer(slots!(requests))
        .layer(DefaultBodyLimit::disable())
        .layer(body!(
            bodies,
            limits.component_bytes_max,
            &COMPONENT,
            Some("--component-bytes-max")
        ))
        .layer(noted);
    let shadows = Arc::new(Semaphore::new(permits(limits.shadow_requests_max)));
    let shadow = OpenApiRouter::new()
        .routes(routes!(commands::shadow))
        .layer(slots!(&shadows))
        .layer(slots!(requests))
        .layer(DefaultBodyLimit::disable())
        .layer(body!(bodies, limits.catalog_json_bytes_max, &JSON));
    let comparison = OpenApiRouter::new()
        .routes(routes!(interpreters::compare))
        .layer(slots!(&shadows))
        .layer(slots!(requests))
        .layer(DefaultBodyLimit::disable())
        .layer(body!(
            bodies,
            limits.component_bytes_max,
            &COMPONENT,
            Some("--component-bytes-max")
        ));
    load.merge(shadow).merge(comparison)
}

/// Routes of commands that take milliseconds.
fn quick_commands(limits: Limits, bodies: &Bodies) -> OpenApiRouter<AppState> {
    let own = Arc::new(Semaphore::new(permits(limits.quick_commands_max)));
    OpenApiRouter::new()
        .routes(routes!(commands::remove))
        .routes(routes!(commands::remove_unused))
        .routes(routes!(commands::promote))
        .routes(routes!(commands::rollback))
        .routes(routes!(commands::disable))
        .routes(routes!(commands::enable))
        .routes(routes!(commands::set, commands::clear))
        .layer(slots!(&own))
        .layer(DefaultBodyLimit::disable())
        .layer(body!(bodies, limits.catalog_json_bytes_max, &JSON))
}

async fn wrong_method(request: Request) -> Problem {
    let method = request.method();
    let detail =
        format!("this route does not answer {method}; the header `Allow` says what it does");
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, detail)
}
