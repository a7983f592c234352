//! The connection between a store and what keeps its data.

/// The connection of a store, as [`Store::connection`](crate::Store::connection) reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connection {
    /// It answers, and every change is heard.
    Connected,
    /// It does not answer, or its changes are not heard. A store tries for ever.
    Away {
        /// The time since when it is away, in milliseconds since 1970.
        since_ms: u64,
        /// The reason, as a fragment of a sentence.
        reason: String,
    },
}
