//! Metrics of the host itself: queues, memory and state.

use std::fmt;
use std::sync::Arc;

use kindsight_interpreter::Interpreters;
use kindsight_pipeline::{BUNDLES_WAITING_MAX, BundleQueue, QueuedEvent, Unsynced};
use kindsight_read_model::ReadModel;
use kindsight_rest::{Slots, SlotsUse};
use kindsight_status::TRANSITIONS_BYTES_MAX;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use tokio::sync::mpsc;

use super::samples::{bytes, gauge, gauges, number};

/// Reads the lengths of queues.
pub(super) struct QueueCollector {
    pub(super) interpreters: Arc<Interpreters>,
    pub(super) bundles: BundleQueue,
    pub(super) events_tx: mpsc::Sender<QueuedEvent>,
    pub(super) slots: Slots,
}

impl fmt::Debug for QueueCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("QueueCollector")
    }
}

impl QueueCollector {
    /// The queues with their lengths and limits.
    fn queues(&self, bundles: usize) -> [(&'static str, SlotsUse); 7] {
        let used = |taken, max| SlotsUse { taken, max };
        let events_max = self.events_tx.max_capacity();
        let events = events_max.saturating_sub(self.events_tx.capacity());
        let queued = self.interpreters.queued();
        let queue_max = self.interpreters.limits().queue_max;
        [
            ("pipeline-events", used(events, events_max)),
            ("worker-reported", used(queued.reported, queue_max)),
            ("worker-sent", used(queued.sent, queue_max)),
            ("bundles", used(bundles, BUNDLES_WAITING_MAX)),
            ("requests", self.slots.requests()),
            ("streams", self.slots.streams()),
            ("connections", self.slots.connections()),
        ]
    }
}

impl Collector for QueueCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let to = &mut encoder;
        let (bundles, bundles_bytes) = self.bundles.waiting();
        let queues = self.queues(bundles);
        let values = |value: fn(&SlotsUse) -> usize| {
            let queues = queues.iter();
            queues.map(move |(name, queue)| ([("queue", *name)], number(value(queue))))
        };
        let help = "Items in a queue, and open requests, streams and connections.";
        gauges(to, "queue_length", help, values(|it| it.taken))?;
        let help = "Maximum length of a queue.";
        gauges(to, "queue_limit", help, values(|it| it.max))?;
        let help = "Size of the reports of monitors that wait to be stored.";
        gauge(to, "bundles_waiting_bytes", help, bytes(bundles_bytes))
    }
}

/// Reads the memory of the large parts.
pub(super) struct MemoryCollector {
    pub(super) interpreters: Arc<Interpreters>,
    pub(super) read_model: ReadModel,
}

impl fmt::Debug for MemoryCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemoryCollector")
    }
}

impl Collector for MemoryCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let to = &mut encoder;
        let memo = usize::try_from(self.interpreters.memo().bytes).unwrap_or(usize::MAX);
        let used = [
            ("trees", kindsight_model::tree_bytes()),
            ("texts", kindsight_model::text_bytes()),
            ("memo", memo),
            ("histories", self.read_model.history_bytes()),
        ];
        let limits = [
            ("trees", kindsight_model::tree_budget()),
            ("memo", self.interpreters.limits().memo_bytes_max),
            ("histories", TRANSITIONS_BYTES_MAX),
        ];
        let part = |(name, size): (&'static str, usize)| ([("part", name)], bytes(size));
        let help = "Memory of parsed objects (trees), of their JSON (texts), of remembered verdicts (memo) and of transitions (histories).";
        gauges(to, "memory_bytes", help, used.map(part))?;
        let help =
            "Limits of the memory. The JSON of objects has only limits for each object and report.";
        gauges(to, "memory_limit_bytes", help, limits.map(part))
    }
}

/// Reads the state of the server and of its stores.
pub(super) struct StateCollector {
    pub(super) read_model: ReadModel,
    pub(super) unsynced: Arc<Unsynced>,
}

impl fmt::Debug for StateCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StateCollector")
    }
}

impl Collector for StateCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let to = &mut encoder;
        let version = [([("version", env!("CARGO_PKG_VERSION"))], 1.0)];
        gauges(
            to,
            "build_info",
            "1, with the version of the server.",
            version,
        )?;
        let unsynced = number(self.unsynced.borrow().len());
        let help = "Clusters about which queries cannot be answered yet; the server is ready at 0.";
        gauge(to, "clusters_unsynced", help, unsynced)?;
        let (contexts, states) = self.read_model.inspect(|snapshot| {
            let (contexts, states) = (snapshot.store_away(), snapshot.state_store_away());
            (contexts.is_some(), states.is_some())
        });
        let away = [("contexts", contexts), ("states", states)];
        let away = away.map(|(store, is_away)| ([("store", store)], number(usize::from(is_away))));
        let help =
            "1 if the store of AppContexts or of lifecycle states cannot be reached, else 0.";
        gauges(to, "store_away", help, away)
    }
}
