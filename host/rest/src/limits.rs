//! How much is accepted.

use std::time::Duration;

/// The largest body of `POST /v2/interpret`, in bytes: four objects of the largest size.
pub const INTERPRET_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The most objects in one `POST /v2/interpret`.
pub const INTERPRET_OBJECTS_MAX: usize = 10_000;
/// The longest path and query, in bytes: some hundred names to filter by.
pub const URI_BYTES_MAX: usize = 8 * 1024;
/// The most requests below `/v2` that are worked on at a time. Further ones are told to come back.
pub const REQUESTS_MAX: usize = 256;
/// The most `POST /v2/interpret` that are worked on at a time: bounds what their bodies take.
pub const INTERPRET_REQUESTS_MAX: usize = 16;
/// The longest a request may take until its answer begins, with reading its body.
pub const REQUEST_TIME_MAX: Duration = Duration::from_secs(30);
/// The most connections at a time. Further ones wait to be accepted.
pub const CONNECTIONS_MAX: usize = 1024;
/// The longest a connection may be without a byte in either direction. Longer than
/// [`REQUEST_TIME_MAX`], or a slow request would be cut off before it is told so.
pub const IDLE_MAX: Duration = Duration::from_mins(1);
/// The longest that requests in progress are waited for when the server stops.
pub const DRAIN_MAX: Duration = Duration::from_secs(10);

/// How much is accepted. The default is the constants of the same names.
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
            request_time_max: REQUEST_TIME_MAX,
            connections_max: CONNECTIONS_MAX,
            idle_max: IDLE_MAX,
            drain_max: DRAIN_MAX,
        }
    }
}
