//! Limits on requests and connections.

use std::time::Duration;

/// The largest body of `POST /v2/interpret`, in bytes: four objects of the largest size.
pub const INTERPRET_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The most objects in one `POST /v2/interpret`.
pub const INTERPRET_OBJECTS_MAX: usize = 10_000;
/// The longest path and query, in bytes: some hundred names to filter by.
pub const URI_BYTES_MAX: usize = 8 * 1024;
/// The longest head of a request, in bytes: four of the longest paths, with headers. The server may hold as many
/// bytes for every connection.
pub(crate) const HEAD_BYTES_MAX: usize = 32 * 1024;
/// The most requests below `/v2` in progress at a time. Further requests get 503 with `Retry-After`. A request
/// counts from the end of its body on, so that slow senders do not block other clients.
pub const REQUESTS_MAX: usize = 256;
/// The most `POST /v2/interpret` requests that are judged at a time, counted from the end of their bodies on.
pub const INTERPRET_REQUESTS_MAX: usize = 16;
/// The largest component that is accepted, in bytes. The catalog may accept less.
pub const COMPONENT_BYTES_MAX: usize = 32 * 1024 * 1024;
/// The largest body of every other command to an interpreter, in bytes: the size of the largest schema
/// of settings.
pub const CATALOG_JSON_BYTES_MAX: usize = 64 * 1024;
/// The largest content of a deployment intent group, in bytes. etcd stores values of up to 1.4 MiB.
pub const GROUP_BYTES_MAX: usize = 1024 * 1024;
/// The largest registration of a cluster, in bytes.
pub const REGISTRATION_BYTES_MAX: usize = 64 * 1024;
/// The largest body of a sign-in, in bytes: the longest token that fits into a cookie, with its name.
pub(crate) const SIGN_IN_BYTES_MAX: usize = 8 * 1024;

/// The most bytes of request bodies in memory at a time, including bodies that are still being
/// sent: four of the largest components and sixteen of the largest `POST /v2/interpret`.
pub const BODIES_BYTES_MAX: usize = 256 * 1024 * 1024;
/// The most bytes of an oversized body that are read and dropped, so that its sender can read the error. The
/// sender of a still larger body may find the connection broken.
pub(crate) const DROPPED_BYTES_MAX: usize = 4 * COMPONENT_BYTES_MAX;
/// The most loads of components in progress at a time, counted from the end of their bodies on. Bounds the memory of the
/// components and the number of concurrent compilations.
pub const CATALOG_REQUESTS_MAX: usize = 4;
/// The most shadow runs in progress or waiting at a time, including comparisons of components, which each hold a
/// component. The server runs fewer at a time.
pub const SHADOW_REQUESTS_MAX: usize = 4;
/// The most `GET /metrics` in progress at a time. Each takes some milliseconds of one thread.
pub const METRICS_REQUESTS_MAX: usize = 2;
/// The most other commands to interpreters in progress at a time, such as rollbacks. They do not wait for loads, shadow
/// runs and queries, and each takes milliseconds. Their bodies of at most [`CATALOG_JSON_BYTES_MAX`] take 4 MiB in
/// total.
pub const QUICK_COMMANDS_MAX: usize = 64;
/// The most reports of agents that are decoded at a time. Each takes the memory of its lines, 16 MiB at most.
pub const PUSH_REQUESTS_MAX: usize = 16;
/// The most requests at a time whose blocking thread waits for other servers: dry runs, which ask API servers about each
/// resource, and tests of receivers of notifications. All requests share 64 blocking threads.
pub(crate) const REMOTE_CALLS_MAX: usize = 8;
/// The most agents that wait for needs at a time: one for each pushed cluster.
pub const NEEDS_REQUESTS_MAX: usize = 512;
/// The longest a command to an interpreter may take, including the time to read its body: three compilations of one
/// minute in succession, and half a minute to send and try the component.
pub const CATALOG_TIME_MAX: Duration = Duration::from_secs(210);
/// The longest any other request may take until its answer begins, including the time to read its body.
pub const REQUEST_TIME_MAX: Duration = Duration::from_secs(30);
/// The largest answer about a status, in bytes: 100,000 resources with all details take about 60 MiB.
pub const ANSWER_BYTES_MAX: usize = 128 * 1024 * 1024;
/// The most bytes of answers that wait for their readers, over all connections: two of the largest answers. Answers
/// below [`SMALL_ANSWER_BYTES_MAX`] do not count. Over this limit, the slowest reader is disconnected. If too few bytes
/// become free, the new request gets 503 with `Retry-After`.
pub const ANSWERS_BYTES_MAX: usize = 256 * 1024 * 1024;
/// The size up to which an answer is written on the executor and does not count as waiting, in bytes. Such an answer
/// takes some ten microseconds, and the small answers of all connections together are smaller than one of the largest.
pub(crate) const SMALL_ANSWER_BYTES_MAX: usize = 16 * 1024;
/// The size of the cache of small status answers, in bytes: some hundred answers of [`SMALL_ANSWER_BYTES_MAX`], or a
/// thousand of common size. An answer leaves the cache for an answer that is requested more often.
pub(crate) const CACHED_ANSWERS_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The most large answers that are written at a time. Further answers wait. Two answers occupy two processors, and take
/// at most the memory of two of the largest answers before their bytes count.
pub(crate) const ANSWERS_MADE_MAX: usize = 2;
/// The most open streams of changes (`/watch`). Each takes a connection; half of the connections are left for other
/// requests.
pub const STREAMS_MAX: usize = 512;
/// The most replicas that follow this server at a time. Each takes a connection, and at most the memory of the views that
/// it was sent last.
pub const REPLICAS_MAX: usize = 16;
/// The most other hosts that share clusters with this server: it follows as many, and as many follow it at a time.
/// Replicas take none of their slots, because a host cannot show the clusters of a host that it does not follow.
pub const PEERS_MAX: usize = 64;
/// The time after which a stream without an event gets a comment, so that the client and proxies know that the stream is
/// alive.
pub const HEARTBEAT: Duration = Duration::from_secs(15);
/// The time for which the changes of all applications are gathered into one event of `/v2/applications/watch`.
pub const LIST_GATHER: Duration = Duration::from_millis(250);
/// The most ended streams whose last event is kept, so that a client can resume them.
pub(crate) const RESUMABLE_MAX: usize = 64;
/// The time for which the last event of an ended stream is kept.
pub(crate) const RESUMABLE_FOR: Duration = Duration::from_mins(1);
/// The most connections at a time. To accept a further connection, the server closes the connection that has been
/// longest without a complete request.
pub const CONNECTIONS_MAX: usize = 1024;
/// The longest that the head of a request may take, from its first byte to its last.
pub const HEAD_TIME_MAX: Duration = Duration::from_secs(10);
/// The period over which the rate of a body or an answer must reach [`TRANSFER_RATE_MIN`]. Long enough for a connection
/// that loses packets.
pub const STALL_MAX: Duration = Duration::from_secs(10);
/// The lowest rate at which a client may send a body or read an answer, in bytes per second: the rate of a poor mobile
/// connection. A slower client would occupy memory without benefit.
pub const TRANSFER_RATE_MIN: u64 = 4 * 1024;
/// The longest a connection may be open without a request. Longer than [`CATALOG_TIME_MAX`], so that a client can reuse
/// the connection of one command while another command runs.
pub const IDLE_MAX: Duration = Duration::from_mins(4);
/// The longest that a stopping server waits for requests in progress. Together with the rest of the stop, this is less
/// than the ten seconds after which most supervisors kill a process.
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
