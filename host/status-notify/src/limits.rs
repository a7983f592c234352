//! Limits of the server. A client has one connection and few streams.

use std::time::Duration;

use kindsight_grpc::ListenerLimits;

/// Maximum number of registered clients. Further registrations are refused with `RESOURCE_EXHAUSTED`.
pub const CLIENTS_MAX: usize = 512;
/// Limits of connections: one for each client, and some for clients that deregister over another connection.
pub const LISTENER_LIMITS: ListenerLimits = ListenerLimits {
    connections_max: CLIENTS_MAX + 88,
    connection_calls_max: 128,
};
/// Maximum size of a registration, in bytes. It holds some thousand names to filter by.
pub const REGISTRATION_BYTES_MAX: usize = 64 * 1024;
/// Maximum length of a client ID, in bytes. EMCO's clients use a UUID.
pub const CLIENT_ID_BYTES_MAX: usize = 256;
/// Maximum size of a notification, in bytes: the default limit of the clients of gRPC. A larger one ends its stream.
pub const NOTIFICATION_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Maximum size of all notifications that wait for their clients, in bytes. Small notifications do not count.
pub const NOTIFICATIONS_BYTES_MAX: usize = 64 * 1024 * 1024;
/// A notification about at most this number of resources is small. It has some ten kilobytes.
pub(crate) const SMALL_RESOURCES_MAX: usize = 500;
/// Maximum number of notifications that are made at a time. The machine has other work.
pub(crate) const NOTIFICATIONS_MADE_MAX: usize = 2;
/// Time for which changes of the read model are gathered before clients are notified. EMCO gathers for three seconds.
pub const GATHER: Duration = Duration::from_millis(100);
