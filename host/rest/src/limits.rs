//! Limits on requests and connections.

use std::time::Duration;

/// The largest body of `POST /v2/interpret`, in bytes: four objects of the largest size.
pub const INTERPRET_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The most objects in one `POST /v2/interpret`.
pub const INTERPRET_OBJECTS_MAX: usize = 10_000;
/// The longest path and query, in bytes: some hundred names to filter by.
pub const URI_BYTES_MAX: usize = 8 * 1024;
/// The most requests below `/v2` in progress at a time. Further ones are told to come back.
pub const REQUESTS_MAX: usize = 256;
/// The most `POST /v2/interpret` in progress at a time: bounds the memory of their bodies.
pub const INTERPRET_REQUESTS_MAX: usize = 16;
/// The largest component that is accepted, in bytes. The catalog may accept less.
pub const COMPONENT_BYTES_MAX: usize = 32 * 1024 * 1024;
/// The largest body of every other command to an interpreter, in bytes: that of the largest schema
/// of settings.
pub const CATALOG_JSON_BYTES_MAX: usize = 64 * 1024;
/// The most bytes that are read and dropped of a body that is too large, so that its sender gets to
/// read the error; the sender of a larger one may find the connection broken.
pub(crate) const DROPPED_BYTES_MAX: usize = 4 * COMPONENT_BYTES_MAX;
/// The most loads of components in progress at a time: bounds the memory of the components, and the
/// number of compilations at a time.
pub const CATALOG_REQUESTS_MAX: usize = 4;
/// The most shadow runs in progress or waiting at a time. The server does fewer at a time.
pub const SHADOW_REQUESTS_MAX: usize = 4;
/// The most other commands to interpreters in progress at a time, such as rollbacks. They wait for no
/// load, no shadow run and no query, and each takes milliseconds; with bodies of at most
/// [`CATALOG_JSON_BYTES_MAX`] they take 4 MiB.
pub const QUICK_COMMANDS_MAX: usize = 64;
/// The longest a command to an interpreter may take, with reading its body: a compilation of 30
/// seconds that waits for two others, and half a minute to send and try the component.
pub const CATALOG_TIME_MAX: Duration = Duration::from_mins(2);
/// The longest any other request may take until its answer begins, with reading its body.
pub const REQUEST_TIME_MAX: Duration = Duration::from_secs(30);
/// The most connections at a time. Further ones wait to be accepted.
pub const CONNECTIONS_MAX: usize = 1024;
/// The longest a connection may be without a byte in either direction. Longer than
/// [`CATALOG_TIME_MAX`], or a slow request would lose its connection before its answer.
pub const IDLE_MAX: Duration = Duration::from_secs(150);
/// The longest that requests in progress are waited for when the server stops.
pub const DRAIN_MAX: Duration = Duration::from_secs(10);

/// Limits on requests and connections. The default is the constants of the same names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// See [`INTERPRET_BYTES_MAX`].
    pub interpret_bytes_max: usize,
    /// See [`INTERPRET_OBJECTS_MAX`].
    pub interpret_objects_max: usize,
    /// See [`URI_BYTES_MAX`].
    pub uri_bytes_max: usize,
    /// See [`REQUESTS_MAX`].
    pub requests_max: usize,
    /// See [`INTERPRET_REQUESTS_MAX`].
    pub interpret_requests_max: usize,
    /// See [`COMPONENT_BYTES_MAX`].
    pub component_bytes_max: usize,
    /// See [`CATALOG_JSON_BYTES_MAX`].
    pub catalog_json_bytes_max: usize,
    /// See [`CATALOG_REQUESTS_MAX`].
    pub catalog_requests_max: usize,
    /// See [`SHADOW_REQUESTS_MAX`].
    pub shadow_requests_max: usize,
    /// See [`QUICK_COMMANDS_MAX`].
    pub quick_commands_max: usize,
    /// See [`CATALOG_TIME_MAX`].
    pub catalog_time_max: Duration,
    /// See [`REQUEST_TIME_MAX`].
    pub request_time_max: Duration,
    /// See [`CONNECTIONS_MAX`].
    pub connections_max: usize,
    /// See [`IDLE_MAX`].
    pub idle_max: Duration,
    /// See [`DRAIN_MAX`].
    pub drain_max: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            interpret_bytes_max: INTERPRET_BYTES_MAX,
            interpret_objects_max: INTERPRET_OBJECTS_MAX,
            uri_bytes_max: URI_BYTES_MAX,
            requests_max: REQUESTS_MAX,
            interpret_requests_max: INTERPRET_REQUESTS_MAX,
            component_bytes_max: COMPONENT_BYTES_MAX,
            catalog_json_bytes_max: CATALOG_JSON_BYTES_MAX,
            catalog_requests_max: CATALOG_REQUESTS_MAX,
            shadow_requests_max: SHADOW_REQUESTS_MAX,
            quick_commands_max: QUICK_COMMANDS_MAX,
            catalog_time_max: CATALOG_TIME_MAX,
            request_time_max: REQUEST_TIME_MAX,
            connections_max: CONNECTIONS_MAX,
            idle_max: IDLE_MAX,
            drain_max: DRAIN_MAX,
        }
    }
}
