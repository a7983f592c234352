//! The connection between a store and the place of its data.

/// The connection of a store, as [`Store::connection`](crate::Store::connection) reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connection {
    /// The store answers, and its watch receives every change.
    Connected,
    /// The store does not answer, or its watch receives no changes. Reconnecting is tried without
    /// end.
    Away {
        /// The time at which the connection was lost, in milliseconds since 1970.
        since_ms: u64,
        /// The reason, as a fragment of a sentence.
        reason: String,
    },
}
