//! Limits on requests and connections.

use std::time::Duration;

/// The largest body of `POST /v2/interpret`, in bytes: four objects of the largest size.
pub const INTERPRET_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The most objects in one `POST /v2/interpret`.
pub const INTERPRET_OBJECTS_MAX: usize = 10_000;
/// The longest path and query, in bytes: some hundred names to filter by.
pub const URI_BYTES_MAX: usize = 8 * 1024;
/// The longest head of a request, in bytes: four of the longest paths, with headers. Every connection
/// can make the server hold so many.
pub(crate) const HEAD_BYTES_MAX: usize = 32 * 1024;
/// The most requests below `/v2` in progress at a time. Further ones are told to come back. A request
/// counts from the end of its body on, so that who sends slowly keeps nobody out.
pub const REQUESTS_MAX: usize = 256;
/// The most `POST /v2/interpret` that are judged at a time; counted from the end of their bodies on.
pub const INTERPRET_REQUESTS_MAX: usize = 16;
/// The largest component that is accepted, in bytes. The catalog may accept less.
pub const COMPONENT_BYTES_MAX: usize = 32 * 1024 * 1024;
/// The largest body of every other command to an interpreter, in bytes: that of the largest schema
/// of settings.
pub const CATALOG_JSON_BYTES_MAX: usize = 64 * 1024;
/// The most bytes of bodies that are held at a time, of all requests, also of those that are still
/// being sent: four of the largest components and sixteen of the largest `POST /v2/interpret`.
pub const BODIES_BYTES_MAX: usize = 256 * 1024 * 1024;
/// The most bytes that are read and dropped of a body that is too large, so that its sender gets to
/// read the error; the sender of a larger one may find the connection broken.
pub(crate) const DROPPED_BYTES_MAX: usize = 4 * COMPONENT_BYTES_MAX;
/// The most loads of components in progress at a time: bounds the memory of the components, and the
/// number of compilations at a time. Counted from the end of their bodies on.
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
/// The largest answer about a status, in bytes: 100,000 resources in full are about 60 MiB.
pub const ANSWER_BYTES_MAX: usize = 128 * 1024 * 1024;
/// The most bytes of answers that wait for their readers, of all connections: two of the largest.
/// Answers below [`SMALL_ANSWER_BYTES_MAX`] are not counted. Who would need more is told to come back,
/// and the slowest reader is cut off.
pub const ANSWERS_BYTES_MAX: usize = 256 * 1024 * 1024;
/// The size up to which an answer is made where it is asked for, and is not counted, in bytes: it is
/// made in some ten microseconds, and those of all connections are less than one of the largest.
pub(crate) const SMALL_ANSWER_BYTES_MAX: usize = 16 * 1024;
/// The most large answers that are made at a time. Further ones wait. Two keep two processors busy,
/// and the memory of answers that are not counted yet is that of two of the largest.
pub(crate) const ANSWERS_MADE_MAX: usize = 2;
/// The most streams of changes that are open at a time, of those that are answered below `/watch`. Each
/// takes a connection; half of them stay for everything else.
pub const STREAMS_MAX: usize = 512;
/// The time after which a stream without an event is sent a comment, so that who follows it, and what is in
/// between, knows that it is alive.
pub const HEARTBEAT: Duration = Duration::from_secs(15);
/// The time for which the changes of all applications are gathered into one event of `/v2/applications/watch`.
pub const LIST_GATHER: Duration = Duration::from_millis(250);
/// The most streams that ended for which it is known what was sent, so that they can go on where they were.
pub(crate) const RESUMABLE_MAX: usize = 64;
/// The time for which that is known.
pub(crate) const RESUMABLE_FOR: Duration = Duration::from_mins(1);
/// The most connections at a time. Where there is no place for a further one, that which has been
/// longest without a complete request is closed.
pub const CONNECTIONS_MAX: usize = 1024;
/// The longest that the head of a request may take, from its first byte to its last.
pub const HEAD_TIME_MAX: Duration = Duration::from_secs(10);
/// The time in which a body that is sent, or an answer that is read, has to move on by
/// [`TRANSFER_RATE_MIN`] bytes for each second. Long enough for a connection that loses packets.
pub const STALL_MAX: Duration = Duration::from_secs(10);
/// The slowest that a body may be sent and an answer may be read, in bytes each second: that of a poor
/// mobile connection. Who is slower would hold memory for nothing.
pub const TRANSFER_RATE_MIN: u64 = 4 * 1024;
/// The longest a connection may be open without a request. Longer than [`CATALOG_TIME_MAX`], so that
/// who waits for one command can use the connection of another.
pub const IDLE_MAX: Duration = Duration::from_secs(150);
/// The longest that requests in progress are waited for when the server stops: together with what
/// follows, less than the ten seconds after which most supervisors kill.
pub const DRAIN_MAX: Duration = Duration::from_secs(8);

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
    /// See [`BODIES_BYTES_MAX`].
    pub bodies_bytes_max: usize,
    /// See [`ANSWER_BYTES_MAX`].
    pub answer_bytes_max: usize,
    /// See [`ANSWERS_BYTES_MAX`].
    pub answers_bytes_max: usize,
    /// See [`STREAMS_MAX`].
    pub streams_max: usize,
    /// See [`HEARTBEAT`].
    pub heartbeat: Duration,
    /// See [`CONNECTIONS_MAX`].
    pub connections_max: usize,
    /// See [`HEAD_TIME_MAX`].
    pub head_time_max: Duration,
    /// See [`STALL_MAX`].
    pub stall_max: Duration,
    /// See [`TRANSFER_RATE_MIN`].
    pub transfer_rate_min: u64,
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
            bodies_bytes_max: BODIES_BYTES_MAX,
            answer_bytes_max: ANSWER_BYTES_MAX,
            answers_bytes_max: ANSWERS_BYTES_MAX,
            streams_max: STREAMS_MAX,
            heartbeat: HEARTBEAT,
            connections_max: CONNECTIONS_MAX,
            head_time_max: HEAD_TIME_MAX,
            stall_max: STALL_MAX,
            transfer_rate_min: TRANSFER_RATE_MIN,
            idle_max: IDLE_MAX,
            drain_max: DRAIN_MAX,
        }
    }
}
