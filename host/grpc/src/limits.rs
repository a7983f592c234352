//! Limits of the server. An orchestrator has one connection and few calls at a time.

/// Maximum number of open connections. Further connections wait in the system.
pub const CONNECTIONS_MAX: usize = 64;
/// Maximum number of calls at a time over one connection. Further calls wait for the client.
pub const CONNECTION_CALLS_MAX: u32 = 32;
/// Maximum number of calls at a time. Further calls are refused with `RESOURCE_EXHAUSTED`.
pub const CALLS_MAX: usize = 64;
/// Maximum length of a message, in bytes. A message has the ID of a context.
pub const MESSAGE_BYTES_MAX: usize = 4 * 1024;
/// Maximum size of the headers of a call, in bytes.
pub(crate) const HEADERS_BYTES_MAX: u32 = 16 * 1024;
/// Maximum time of a call, in seconds. Work that began is completed nevertheless.
pub const CALL_SECONDS_MAX: u64 = 10;
/// Maximum time of a TLS handshake, and of the begin of HTTP/2 after it, in seconds.
pub const HANDSHAKE_SECONDS_MAX: u64 = 10;
/// Time without a message after which the server checks a connection, in seconds.
pub(crate) const KEEPALIVE_SECONDS: u64 = 60;
/// Maximum time of the answer to a check of a connection, in seconds.
pub(crate) const KEEPALIVE_ANSWER_SECONDS_MAX: u64 = 20;
/// Maximum time for calls in progress at the stop, in seconds.
pub(crate) const DRAIN_SECONDS_MAX: u64 = 8;
/// Maximum size of the answer of a controller, in bytes.
pub(crate) const CONTROLLER_ANSWER_BYTES_MAX: usize = 64 * 1024;
/// Maximum length of the reason of a controller for a failure, in bytes.
pub(crate) const CONTROLLER_TEXT_BYTES_MAX: usize = 600;
