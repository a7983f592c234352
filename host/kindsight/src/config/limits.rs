//! Flags for the limits of interpreters and of the REST API.

use std::time::Duration;

use clap::Args;
use kindsight_server::catalog::CatalogLimits;
use kindsight_server::interpreter::{Isolation, Limits, PARTS_MAX};

/// Limits of the interpreters.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits of interpreters")]
pub(crate) struct InterpreterArgs {
    /// Processor time for one verdict, in milliseconds; 100 ms are added for each MiB of input.
    #[arg(long, env = "KINDSIGHT_CALL_DEADLINE_MS", default_value_t = 50)]
    call_deadline_ms: u64,
    /// Memory of one instance, in bytes.
    #[arg(long, env = "KINDSIGHT_MEMORY_BYTES_MAX", default_value_t = 64 * 1024 * 1024)]
    memory_bytes_max: usize,
    /// Largest component, in bytes.
    #[arg(long, env = "KINDSIGHT_COMPONENT_BYTES_MAX", default_value_t = 32 * 1024 * 1024)]
    component_bytes_max: usize,
    /// Core instances, memories and tables of one component, each; at most 256.
    #[arg(long, env = "KINDSIGHT_PARTS_MAX", value_parser = clap::value_parser!(u16).range(1..=i64::from(PARTS_MAX)), default_value_t = 64)]
    parts_max: u16,
    /// Calls after which an instance is replaced by a new one.
    #[arg(long, env = "KINDSIGHT_CALLS_MAX", default_value_t = 1000)]
    pub(super) calls_max: u32,
    /// Memory of an instance above which it is replaced after a call, in bytes.
    #[arg(long, env = "KINDSIGHT_MEMORY_HIGH_WATER_BYTES", default_value_t = 16 * 1024 * 1024)]
    memory_high_water_bytes: usize,
    /// Time after which an idle instance is dropped, in seconds.
    #[arg(long, env = "KINDSIGHT_IDLE_SECONDS_MAX", default_value_t = 60)]
    idle_seconds_max: u64,
    /// Size of the cache of verdicts, in bytes of input.
    #[arg(long, env = "KINDSIGHT_MEMO_BYTES_MAX", default_value_t = 32 * 1024 * 1024)]
    memo_bytes_max: usize,
    /// Memory for parsed objects, in bytes; with 0, objects are parsed for each evaluation.
    #[arg(long, env = "KINDSIGHT_PARSED_BYTES_MAX", default_value_t = kindsight_server::PARSED_BYTES_MAX)]
    pub(crate) parsed_bytes_max: usize,
    /// Threads that run interpreters; 0 means one for each processor.
    #[arg(long, env = "KINDSIGHT_WORKERS", default_value_t = 0)]
    workers: usize,
    /// Length of the queue of batches (up to 64 objects each) that wait for a thread.
    #[arg(long, env = "KINDSIGHT_QUEUE_MAX", default_value_t = 256)]
    pub(super) queue_max: usize,
    /// Versions of each interpreter that can be rolled back to, for each source (directory, upload).
    #[arg(long, env = "KINDSIGHT_VERSIONS_KEPT_MAX", default_value_t = 5)]
    versions_kept_max: usize,
    /// Percentage of faults in the calls of the last minute at which the circuit breaker rolls an
    /// interpreter back to a version that does better; 0 turns the circuit breaker off.
    #[arg(long, env = "KINDSIGHT_BREAKER_FAULT_PERCENT", default_value_t = 50)]
    breaker_fault_percent: u64,
    /// Known objects on which a new version of an interpreter may fail although the live version has
    /// a verdict on them; a version that fails on more is refused.
    #[arg(long, env = "KINDSIGHT_PROMOTE_MAX_FAULTS", default_value_t = 0)]
    promote_max_faults: u64,
    /// Refuses a component with the version of other bytes that are live, or with an older version; without
    /// it, such a component is accepted with a warning.
    #[arg(long, env = "KINDSIGHT_REFUSE_OLD_VERSIONS")]
    refuse_old_versions: bool,
    /// Calls in the last minute below which the circuit breaker does nothing.
    #[arg(long, env = "KINDSIGHT_BREAKER_CALLS_MIN", default_value_t = 10)]
    breaker_calls_min: u64,
    /// Runs every call in a new instance: slower, but no state can leak from one object to the next.
    #[arg(long, env = "KINDSIGHT_ISOLATE_CALLS")]
    isolate_calls: bool,
}

/// Limits of the REST API.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits of the REST API")]
pub(crate) struct RestArgs {
    /// Largest body of `POST /v2/interpret`, in bytes.
    #[arg(long, env = "KINDSIGHT_INTERPRET_BYTES_MAX", default_value_t = kindsight_server::rest::INTERPRET_BYTES_MAX)]
    interpret_bytes_max: usize,
    /// Maximum number of objects in one `POST /v2/interpret`.
    #[arg(long, env = "KINDSIGHT_INTERPRET_OBJECTS_MAX", default_value_t = kindsight_server::rest::INTERPRET_OBJECTS_MAX)]
    interpret_objects_max: usize,
    /// Maximum number of concurrent `POST /v2/interpret` requests.
    #[arg(long, env = "KINDSIGHT_INTERPRET_REQUESTS_MAX", default_value_t = kindsight_server::rest::INTERPRET_REQUESTS_MAX)]
    interpret_requests_max: usize,
    /// Largest JSON body of a command to an interpreter, in bytes.
    #[arg(long, env = "KINDSIGHT_CATALOG_JSON_BYTES_MAX", default_value_t = kindsight_server::rest::CATALOG_JSON_BYTES_MAX)]
    catalog_json_bytes_max: usize,
    /// Maximum number of concurrent loads of components.
    #[arg(long, env = "KINDSIGHT_CATALOG_REQUESTS_MAX", default_value_t = kindsight_server::rest::CATALOG_REQUESTS_MAX)]
    catalog_requests_max: usize,
    /// Timeout of a command to an interpreter, in seconds.
    #[arg(long, env = "KINDSIGHT_CATALOG_SECONDS_MAX", default_value_t = kindsight_server::rest::CATALOG_TIME_MAX.as_secs())]
    catalog_seconds_max: u64,
    /// Longest path and query string, in bytes.
    #[arg(long, env = "KINDSIGHT_URI_BYTES_MAX", default_value_t = kindsight_server::rest::URI_BYTES_MAX)]
    uri_bytes_max: usize,
    /// Maximum number of concurrent requests.
    #[arg(long, env = "KINDSIGHT_REQUESTS_MAX", default_value_t = kindsight_server::rest::REQUESTS_MAX)]
    requests_max: usize,
    /// Timeout of any other request until its response begins, in seconds.
    #[arg(long, env = "KINDSIGHT_REQUEST_SECONDS_MAX", default_value_t = kindsight_server::rest::REQUEST_TIME_MAX.as_secs())]
    request_seconds_max: u64,
    /// Maximum size of all request bodies that are held at a time, in bytes.
    #[arg(long, env = "KINDSIGHT_BODIES_BYTES_MAX", default_value_t = kindsight_server::rest::BODIES_BYTES_MAX)]
    bodies_bytes_max: usize,
    /// Largest answer about a status, in bytes.
    #[arg(long, env = "KINDSIGHT_ANSWER_BYTES_MAX", default_value_t = kindsight_server::rest::ANSWER_BYTES_MAX)]
    answer_bytes_max: usize,
    /// Maximum size of all answers that wait for their readers, in bytes.
    #[arg(long, env = "KINDSIGHT_ANSWERS_BYTES_MAX", default_value_t = kindsight_server::rest::ANSWERS_BYTES_MAX)]
    answers_bytes_max: usize,
    /// Maximum number of open streams of changes (`/watch`).
    #[arg(long, env = "KINDSIGHT_STREAMS_MAX", default_value_t = kindsight_server::rest::STREAMS_MAX)]
    streams_max: usize,
    /// Maximum number of open connections.
    #[arg(long, env = "KINDSIGHT_CONNECTIONS_MAX", default_value_t = kindsight_server::rest::CONNECTIONS_MAX)]
    connections_max: usize,
    /// Timeout of the head of a request, in seconds.
    #[arg(long, env = "KINDSIGHT_HEAD_SECONDS_MAX", default_value_t = kindsight_server::rest::HEAD_TIME_MAX.as_secs())]
    head_seconds_max: u64,
    /// Time in which the transfer of a body or an answer must reach --transfer-rate-min, in seconds.
    #[arg(long, env = "KINDSIGHT_STALL_SECONDS_MAX", default_value_t = kindsight_server::rest::STALL_MAX.as_secs())]
    stall_seconds_max: u64,
    /// Lowest rate at which a client may send a body or read an answer, in bytes per second.
    #[arg(long, env = "KINDSIGHT_TRANSFER_RATE_MIN", default_value_t = kindsight_server::rest::TRANSFER_RATE_MIN)]
    transfer_rate_min: u64,
    /// Time after which an idle connection is closed, in seconds.
    #[arg(long, env = "KINDSIGHT_CONNECTION_IDLE_SECONDS_MAX", default_value_t = kindsight_server::rest::IDLE_MAX.as_secs())]
    connection_idle_seconds_max: u64,
    /// Grace period for requests in progress when the server stops, in seconds.
    #[arg(long, env = "KINDSIGHT_DRAIN_SECONDS_MAX", default_value_t = kindsight_server::rest::DRAIN_MAX.as_secs())]
    drain_seconds_max: u64,
}

impl InterpreterArgs {
    /// Limits of the engine.
    pub(crate) fn limits(&self) -> Limits {
        let default = Limits::default();
        Limits {
            call_deadline: Duration::from_millis(self.call_deadline_ms),
            memory_bytes_max: self.memory_bytes_max,
            component_bytes_max: self.component_bytes_max,
            parts_max: self.parts_max,
            calls_max: self.calls_max,
            memory_high_water_bytes: self.memory_high_water_bytes,
            idle_max: Duration::from_secs(self.idle_seconds_max),
            memo_bytes_max: self.memo_bytes_max,
            workers: if self.workers == 0 {
                default.workers
            } else {
                self.workers
            },
            queue_max: self.queue_max,
            isolation: if self.isolate_calls {
                Isolation::PerCall
            } else {
                Isolation::Pooled
            },
        }
    }

    /// Limits of the catalog.
    pub(crate) fn catalog_limits(&self) -> CatalogLimits {
        CatalogLimits {
            versions_kept_max: self.versions_kept_max,
            breaker_calls_min: self.breaker_calls_min,
            breaker_fault_percent: self.breaker_fault_percent,
            promote_faults_max: self.promote_max_faults,
            refuses_old_versions: self.refuse_old_versions,
        }
    }
}

impl RestArgs {
    /// Limits of the API. The largest component is limited once, by the interpreters' limit.
    pub(crate) fn limits(&self, interpreters: &Limits) -> kindsight_server::rest::Limits {
        kindsight_server::rest::Limits {
            component_bytes_max: interpreters.component_bytes_max,
            catalog_json_bytes_max: self.catalog_json_bytes_max,
            catalog_requests_max: self.catalog_requests_max,
            shadow_requests_max: kindsight_server::rest::SHADOW_REQUESTS_MAX,
            quick_commands_max: kindsight_server::rest::QUICK_COMMANDS_MAX,
            catalog_time_max: Duration::from_secs(self.catalog_seconds_max),
            interpret_bytes_max: self.interpret_bytes_max,
            interpret_objects_max: self.interpret_objects_max,
            uri_bytes_max: self.uri_bytes_max,
            requests_max: self.requests_max,
            interpret_requests_max: self.interpret_requests_max,
            request_time_max: Duration::from_secs(self.request_seconds_max),
            bodies_bytes_max: self.bodies_bytes_max,
            answer_bytes_max: self.answer_bytes_max,
            answers_bytes_max: self.answers_bytes_max,
            head_time_max: Duration::from_secs(self.head_seconds_max),
            stall_max: Duration::from_secs(self.stall_seconds_max),
            transfer_rate_min: self.transfer_rate_min,
            streams_max: self.streams_max,
            heartbeat: kindsight_server::rest::HEARTBEAT,
            connections_max: self.connections_max,
            idle_max: Duration::from_secs(self.connection_idle_seconds_max),
            drain_max: Duration::from_secs(self.drain_seconds_max),
        }
    }
}
