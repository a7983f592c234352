//! The REST API: routes, status codes, limits, the OpenAPI document.
//!
//! status, interpreter -> **rest** -> people, tools
//!
//! Handlers contain no logic: they read a request, pass it to another crate, and write the answer, which
//! is a type of `kindsight-api`. This is the only crate with status codes. Every error is an RFC
//! 9457 problem document with the mistake and a correction. The document at `/openapi.json` is made
//! from the declarations of the routes.
//!
//! [`router()`] has all routes; [`serve()`] serves connections until the stop. [`AppState`] gives handlers access to
//! other crates: a read model, a [`Judge`], a [`Confirm`] and an [`InterpreterCatalog`]. This crate does not depend on the crates of
//! interpreters.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod allowed;
mod answer;
mod app;
mod audit;
mod blocking;
mod caller;
mod catalog;
mod command;
mod confirm;
mod connections;
mod dialect;
mod health_scopes;
mod instances;
mod judge;
mod lifecycle;
mod limits;
mod metrics;
mod middleware;
mod notifications;
mod problem;
mod push;
mod query_pairs;
mod registry;
mod router;
mod routes;
mod rules;
mod serve;
mod slots;
mod stream;
mod submission;
mod waits;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use kindsight_access::AccessControl;
use kindsight_api::status::Dialect;
use kindsight_read_model::ReadModel;

pub use allowed::{AllowedHost, AllowedNameError, AllowedNames, AllowedOrigin};
pub use blocking::spawn_blocking;
pub use catalog::{Command, InterpreterCatalog, Promote, Upload};
pub use confirm::Confirm;
pub use health_scopes::ReadHealthScopes;
pub use instances::RbInstances;
pub use judge::Judge;
pub use lifecycle::{GroupCommand, GroupLifecycle};
pub use limits::{
    ANSWER_BYTES_MAX, ANSWERS_BYTES_MAX, BODIES_BYTES_MAX, CATALOG_JSON_BYTES_MAX,
    CATALOG_REQUESTS_MAX, CATALOG_TIME_MAX, COMPONENT_BYTES_MAX, CONNECTIONS_MAX, DRAIN_MAX,
    GROUP_BYTES_MAX, HEAD_TIME_MAX, HEARTBEAT, IDLE_MAX, INTERPRET_BYTES_MAX,
    INTERPRET_OBJECTS_MAX, INTERPRET_REQUESTS_MAX, LIST_GATHER, Limits, METRICS_REQUESTS_MAX,
    NEEDS_REQUESTS_MAX, PEERS_MAX, PUSH_REQUESTS_MAX, QUICK_COMMANDS_MAX, REGISTRATION_BYTES_MAX,
    REPLICAS_MAX, REQUEST_TIME_MAX, REQUESTS_MAX, SHADOW_REQUESTS_MAX, STALL_MAX, STREAMS_MAX,
    TRANSFER_RATE_MIN, URI_BYTES_MAX,
};
pub use metrics::{AnsweredRequest, Metrics};
pub use middleware::REQUEST_ID_BYTES_MAX;
pub use notifications::Notifications;
pub use push::TakePush;
pub use registry::ClusterRegistry;
pub use router::{metrics_router, openapi, router};
pub use serve::{Ended, serve};
pub use slots::{Slots, SlotsUse};
pub use submission::{Submission, SubmissionError, read_submission};
pub use waits::ClusterWaits;

/// The state of the handlers, with their access to other crates.
#[derive(Clone)]
pub struct AppState {
    /// The read model, which has the answers to status queries.
    pub read_model: ReadModel,
    /// The interpreters, for objects in requests.
    pub judge: Arc<dyn Judge>,
    /// The clusters, for confirmations.
    pub confirm: Arc<dyn Confirm>,
    /// The clusters, for streams.
    pub waits: Arc<dyn ClusterWaits>,
    /// The clusters whose agents push.
    pub pushes: Arc<dyn TakePush>,
    /// The health scopes.
    pub scopes: Arc<dyn ReadHealthScopes>,
    /// The catalog of interpreters.
    pub catalog: Arc<dyn InterpreterCatalog>,
    /// The lifecycle of groups; `None` if changes of groups are disabled.
    pub lifecycle: Option<Arc<dyn GroupLifecycle>>,
    /// The clusters that operators register; `None` if the registration is disabled.
    pub clusters: Option<Arc<dyn ClusterRegistry>>,
    /// The receivers of notifications; `None` if there are none.
    pub notifications: Option<Arc<dyn Notifications>>,
    /// Applications in the form of ONAP's Kubernetes plugin; `None` if its routes are disabled.
    pub instances: Option<Arc<dyn RbInstances>>,
    /// Lists the missing parts as texts until queries can be answered; empty when the server is ready.
    /// Called on every `GET /readyz`, so it must be quick.
    pub missing: Arc<dyn Fn() -> Vec<String> + Send + Sync>,
    /// Lists texts for an operator about problems of a ready server, for `GET /readyz`. Must be as quick
    /// as `missing`.
    pub notes: Arc<dyn Fn() -> Vec<String> + Send + Sync>,
    /// The scheme, host and port of the upstream host of a replica; `None` for a server that is no replica.
    pub replica_of: Option<Arc<str>>,
    /// The time, in Unix milliseconds.
    pub clock: Arc<dyn Fn() -> i64 + Send + Sync>,
    /// Authentication and rights; `None` if every client may do everything.
    pub access: Option<Arc<AccessControl>>,
    /// Hosts and origins that are allowed.
    pub allowed_names: Arc<AllowedNames>,
    /// The wire dialect of answers to status queries that do not select a dialect.
    pub dialect: Dialect,
    /// Limits on requests and connections.
    pub limits: Limits,
    /// The slots of these limits.
    pub slots: Slots,
    /// The metrics of the server.
    pub metrics: Arc<dyn Metrics>,
}

impl fmt::Debug for AppState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AppState")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
