//! All routes with their limits, and the OpenAPI document that describes them.

mod bodies;
mod document;

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use kindsight_api::push::{MEDIA_TYPE, PUSH_BYTES_MAX};
use tokio::sync::Semaphore;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::limits::{
    GROUP_BYTES_MAX, METRICS_REQUESTS_MAX, NEEDS_REQUESTS_MAX, PUSH_REQUESTS_MAX,
    REGISTRATION_BYTES_MAX, SIGN_IN_BYTES_MAX,
};
use crate::middleware::{self, AnswerBytes, Guards, RouteLimits, TooLargeUploads};
use crate::problem::Problem;
use crate::routes::interpreters::commands;
use crate::routes::lifecycle::network_intents;
use crate::routes::{
    applications, confirmation, health_scopes, history, interpret, interpreters, k8splugin,
    lifecycle, missing_rules, notify, page, push, recorded, registration, replication, service,
    session, status, watch,
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

/// A layer with the limits of a group of routes.
macro_rules! limited {
    ($limits:expr) => {
        from_fn_with_state(Arc::new($limits), middleware::limit_route)
    };
}

/// All routes, with every limit in place.
pub fn router(state: AppState) -> Router {
    let uploads = TooLargeUploads {
        catalog: Some(Arc::clone(&state.catalog)),
        bytes_max: state.limits.component_bytes_max,
    };
    guarded(documented(state.limits, &state.slots, uploads), state)
}

/// Only the metrics and the liveness, for a listener without access control.
pub fn metrics_router(state: AppState) -> Router {
    let state = AppState {
        access: None,
        ..state
    };
    let health = RouteLimits::new(state.limits.request_time_max);
    let health = OpenApiRouter::new()
        .routes(routes!(service::healthz))
        .layer(limited!(health));
    guarded(health.merge(metrics(state.limits)), state)
}

/// The detail of a problem about an unknown route.
fn known_routes(document: &utoipa::openapi::OpenApi) -> String {
    let paths: Vec<&str> = document.paths.paths.keys().map(String::as_str).collect();
    format!("there is no such route; there are {}", paths.join(", "))
}

/// Routes with the checks, limits and records that every request has.
fn guarded(routes: OpenApiRouter<App>, state: AppState) -> Router {
    let (routes, document) = routes.split_for_parts();
    let known = known_routes(&document);
    let document = Bytes::from(document.to_json().unwrap_or_default());
    let answers_bytes = Arc::new(AnswerBytes::new(permits(state.limits.answers_bytes_max)));
    let guards = Arc::new(Guards::new(&state, Arc::clone(&answers_bytes)));
    let streams = Arc::new(Streams::new(
        &state.limits,
        &state.slots,
        answers_bytes,
        Arc::clone(&state.waits),
    ));
    routes
        .fallback(move || std::future::ready(Problem::new(StatusCode::NOT_FOUND, known.clone())))
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(guards, middleware::guard))
        .with_state(App::new(state, streams, document))
}

/// The document that is served at `/openapi.json`, as JSON with line breaks.
pub fn openapi() -> String {
    let limits = Limits::default();
    let uploads = TooLargeUploads {
        catalog: None,
        bytes_max: limits.component_bytes_max,
    };
    let document = documented(limits, &Slots::new(&limits), uploads).into_openapi();
    document.to_pretty_json().unwrap_or_default()
}

fn documented(limits: Limits, slots: &Slots, uploads: TooLargeUploads) -> OpenApiRouter<App> {
    let bodies = Bodies::new(&limits);
    // A request takes its slots when its body is complete.
    let requests = Arc::clone(&slots.requests.free);
    OpenApiRouter::with_openapi(ApiDoc::openapi())
        .merge(queries(limits, &requests))
        .merge(judging(limits, &bodies, &requests))
        .merge(groups(limits, &bodies, &requests))
        .merge(registrations(limits, &bodies, &requests))
        .merge(pushes(limits, &bodies))
        .merge(heavy_commands(limits, &bodies, &requests, uploads))
        // These commands do not wait for others, so that a harmful interpreter can be removed at any time.
        .merge(quick_commands(limits, &bodies))
        .merge(service(limits))
        .merge(metrics(limits))
        .merge(sessions(limits, &bodies))
}

/// Routes of queries without a body.
fn queries(limits: Limits, requests: &Arc<Semaphore>) -> OpenApiRouter<App> {
    let all = RouteLimits::new(limits.request_time_max).slots(requests);
    OpenApiRouter::new()
        .routes(routes!(status::dig_status))
        .routes(routes!(status::cluster_status))
        .routes(routes!(status::logical_cloud_status))
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
        .routes(routes!(replication::replication))
        .routes(routes!(notify::list))
        .routes(routes!(notify::test))
        .routes(routes!(notify::resend))
        .routes(routes!(k8splugin::list))
        .routes(routes!(k8splugin::get))
        .routes(routes!(k8splugin::status))
        .layer(limited!(all))
}

/// Routes of the page, the health and the description of this service.
fn service(limits: Limits) -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(page::index))
        .routes(routes!(page::file))
        .routes(routes!(service::healthz))
        .routes(routes!(service::readyz))
        .routes(routes!(service::openapi_json))
        .layer(limited!(RouteLimits::new(limits.request_time_max)))
}

/// The routes of sign-in.
fn sessions(limits: Limits, bodies: &Bodies) -> OpenApiRouter<App> {
    let rules = bodies.rules(SIGN_IN_BYTES_MAX, &JSON, None);
    let all = RouteLimits::new(limits.request_time_max).body(rules);
    OpenApiRouter::new()
        .routes(routes!(session::show, session::sign_in, session::sign_out))
        .routes(routes!(session::oidc::begin))
        .routes(routes!(session::oidc::callback))
        .layer(limited!(all))
}

/// The route of the metrics, with few requests at a time.
fn metrics(limits: Limits) -> OpenApiRouter<App> {
    let own = Arc::new(Semaphore::new(METRICS_REQUESTS_MAX));
    OpenApiRouter::new()
        .routes(routes!(service::metrics))
        .layer(limited!(
            RouteLimits::new(limits.request_time_max).slots(&own)
        ))
}

/// The route that judges objects.
fn judging(limits: Limits, bodies: &Bodies, requests: &Arc<Semaphore>) -> OpenApiRouter<App> {
    let own = Arc::new(Semaphore::new(permits(limits.interpret_requests_max)));
    let all = RouteLimits::new(limits.request_time_max)
        .body(bodies.rules(limits.interpret_bytes_max, &JSON, None))
        .slots(requests)
        .slots(&own);
    OpenApiRouter::new()
        .routes(routes!(interpret::interpret))
        .layer(limited!(all))
}

/// Routes of the content and the lifecycle of groups and network intents.
fn groups(limits: Limits, bodies: &Bodies, requests: &Arc<Semaphore>) -> OpenApiRouter<App> {
    let all = RouteLimits::new(limits.request_time_max)
        .body(bodies.rules(GROUP_BYTES_MAX, &JSON, None))
        .slots(requests);
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
        .layer(limited!(all))
}

/// Routes of the registration of clusters.
fn registrations(limits: Limits, bodies: &Bodies, requests: &Arc<Semaphore>) -> OpenApiRouter<App> {
    let all = RouteLimits::new(limits.request_time_max)
        .body(bodies.rules(REGISTRATION_BYTES_MAX, &JSON, None))
        .slots(requests);
    OpenApiRouter::new()
        .routes(routes!(
            registration::get,
            registration::put,
            registration::delete
        ))
        .layer(limited!(all))
}

/// Routes of agents that push. They have their own slots: an agent waits for most of the time.
fn pushes(limits: Limits, bodies: &Bodies) -> OpenApiRouter<App> {
    let reports = Arc::new(Semaphore::new(PUSH_REQUESTS_MAX));
    let needs = Arc::new(Semaphore::new(NEEDS_REQUESTS_MAX));
    let time = || RouteLimits::new(limits.request_time_max);
    let rules = bodies.rules(PUSH_BYTES_MAX, &LINES, None);
    let reports = OpenApiRouter::new()
        .routes(routes!(push::push))
        .layer(limited!(time().body(rules).slots(&reports)));
    let needs = OpenApiRouter::new()
        .routes(routes!(push::needs))
        .layer(limited!(time().slots(&needs)));
    reports.merge(needs)
}

/// Routes of commands that take seconds: loads and shadow runs, with separate slots. A comparison of a component takes a
/// slot of a shadow run, because it lasts as long.
fn heavy_commands(
    limits: Limits,
    bodies: &Bodies,
    requests: &Arc<Semaphore>,
    uploads: TooLargeUploads,
) -> OpenApiRouter<App> {
    let loads = Arc::new(Semaphore::new(permits(limits.catalog_requests_max)));
    let shadows = Arc::new(Semaphore::new(permits(limits.shadow_requests_max)));
    let flag = Some("--component-bytes-max");
    let component = || bodies.rules(limits.component_bytes_max, &COMPONENT, flag);
    let json = bodies.rules(limits.catalog_json_bytes_max, &JSON, None);
    let limited = |body, own| {
        let time = RouteLimits::new(limits.catalog_time_max).advice(interpreters::TOO_LONG);
        limited!(time.body(body).slots(requests).slots(own))
    };
    let load = OpenApiRouter::new()
        .routes(routes!(interpreters::load))
        .routes(routes!(interpreters::load_by_its_name))
        .layer(limited(component(), &loads))
        .layer(from_fn_with_state(uploads, middleware::note_too_large));
    let shadow = OpenApiRouter::new()
        .routes(routes!(commands::shadow))
        .layer(limited(json, &shadows));
    let comparison = OpenApiRouter::new()
        .routes(routes!(interpreters::compare))
        .layer(limited(component(), &shadows));
    load.merge(shadow).merge(comparison)
}

/// Routes of commands that take milliseconds.
fn quick_commands(limits: Limits, bodies: &Bodies) -> OpenApiRouter<App> {
    let own = Arc::new(Semaphore::new(permits(limits.quick_commands_max)));
    let all = RouteLimits::new(limits.catalog_time_max)
        .advice(interpreters::TOO_LONG)
        .body(bodies.rules(limits.catalog_json_bytes_max, &JSON, None))
        .slots(&own);
    OpenApiRouter::new()
        .routes(routes!(commands::remove))
        .routes(routes!(commands::remove_unused))
        .routes(routes!(commands::promote))
        .routes(routes!(commands::rollback))
        .routes(routes!(commands::disable))
        .routes(routes!(commands::enable))
        .routes(routes!(commands::set, commands::clear))
        .layer(limited!(all))
}

async fn wrong_method(request: Request) -> Problem {
    let method = request.method();
    let detail =
        format!("this route does not answer {method}; the header `Allow` says what it does");
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, detail)
}
