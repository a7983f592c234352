//! Tells the reader: the REST API.
//!
//! status, interpreter -> **rest** -> people, tools
//!
//! Handlers hold no logic: a request is read, handed to another room, and what comes back is
//! written. This is the only place that knows status codes; every error is an RFC 9457 problem
//! document that says what was wrong and what would be right. What is served is described by the
//! document at `/openapi.json`, which is made of the same declarations as the routes.
//!
//! [`router`] is the whole URL surface; [`serve`] answers connections until it is told to stop. The
//! state holds what the handlers need of other rooms, and nothing of how they do it.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod catalog;
mod command;
mod connection;
mod edge;
mod judge;
mod limits;
mod problem;
mod router;
mod routes;
mod serve;
mod submission;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use kindsight_status::ReadModel;

pub use catalog::{Command, InterpreterCatalog};
pub use judge::Judge;
pub use limits::{
    CATALOG_JSON_BYTES_MAX, CATALOG_REQUESTS_MAX, CATALOG_TIME_MAX, COMPONENT_BYTES_MAX,
    CONNECTIONS_MAX, DRAIN_MAX, IDLE_MAX, INTERPRET_BYTES_MAX, INTERPRET_OBJECTS_MAX,
    INTERPRET_REQUESTS_MAX, Limits, REQUEST_TIME_MAX, REQUESTS_MAX, URI_BYTES_MAX,
};
pub use router::{openapi, router};
pub use serve::{Ended, serve};
pub use submission::{Submission, SubmissionError, read_submission};

/// What the handlers need of the other rooms. Cloned for every request.
#[derive(Clone)]
pub struct AppState {
    /// Where status queries find their answers.
    pub read_model: Arc<ReadModel>,
    /// The interpreters, for objects that are sent.
    pub judge: Arc<dyn Judge>,
    /// The catalog of interpreters.
    pub catalog: Arc<dyn InterpreterCatalog>,
    /// What is still missing before queries can be answered, in words; empty when nothing is.
    /// Asked on every `GET /readyz`, so it has to be quick.
    pub missing: Arc<dyn Fn() -> Vec<String> + Send + Sync>,
    /// The time, in Unix milliseconds.
    pub clock: Arc<dyn Fn() -> i64 + Send + Sync>,
    /// How much is accepted.
    pub limits: Limits,
}

impl fmt::Debug for AppState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AppState")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
