//! Metrics of the server, for the REST API, whose crate does not depend on their registry.

use std::time::Duration;

/// The metrics of the server. A trait, because the registry is in another crate.
pub trait Metrics: Send + Sync {
    /// Counts a request when its answer begins. Must be quick, and must not block.
    fn answered(&self, request: &AnsweredRequest<'_>);

    /// All metrics in the text format of Prometheus, version 0.0.4. Takes some milliseconds.
    fn text(&self) -> String;
}

/// A request whose answer begins.
#[derive(Debug, Clone, Copy)]
pub struct AnsweredRequest<'a> {
    /// The path of its route with names of parameters, such as `/v2/interpreters/{name}`; `None` if no route has the
    /// path of the request.
    pub route: Option<&'a str>,
    /// Its method. A client can send any method.
    pub method: &'a str,
    /// The status code.
    pub status: u16,
    /// The time since the head of the request was complete.
    pub duration: Duration,
}
