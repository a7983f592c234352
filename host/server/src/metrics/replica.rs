//! Metrics of a replica. They exist only with `--replica-of`.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::samples::{counters, gauge, seconds};
use crate::replica::ReplicaState;

/// Reads the state of the connection to the upstream host.
#[derive(Debug)]
pub(super) struct ReplicaCollector {
    pub(super) state: ReplicaState,
    /// The time, in Unix milliseconds.
    pub(super) clock: fn() -> i64,
}

impl Collector for ReplicaCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let state = self.state.connection.borrow().clone();
        let to = &mut encoder;
        let is_connected = state.has_snapshot && state.error.is_none();
        let help = "1 while the replica follows its upstream host, else 0.";
        gauge(
            to,
            "replica_connected",
            help,
            f64::from(u8::from(is_connected)),
        )?;
        if let Some(fresh_ms) = state.fresh_ms {
            let lag_ms = (self.clock)().saturating_sub(fresh_ms);
            let help = "Time since the last complete batch of the upstream host. Without changes, there is a batch every two seconds.";
            gauge(to, "replica_lag_seconds", help, seconds(lag_ms))?;
        }
        let counts = [
            ("connections", state.connections),
            ("batches", state.batches),
            ("bytes", state.bytes),
        ];
        let counts = counts.map(|(count, value)| ([("count", count)], value));
        let help = "Connections to the upstream host that were begun, and batches and bytes that were received.";
        counters(to, "replica_received", help, counts)
    }
}
