//! Metrics of notifications. The number of receivers is limited by `kindsight_notify::RECEIVERS_MAX`.

use std::fmt;

use kindsight_notify::{Counts, Notifications};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::samples::{counters, gauges, number};

/// Reads the counts of the receivers.
pub(super) struct NotifyCollector(pub(super) Option<Notifications>);

impl fmt::Debug for NotifyCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NotifyCollector")
    }
}

impl NotifyCollector {
    /// A value of each receiver.
    fn values<V>(&self, value: fn(&Counts) -> V) -> impl Iterator<Item = ([(&str, &str); 1], V)> {
        let receivers = self.0.iter().flat_map(Notifications::counts);
        receivers.map(move |(name, counts)| ([("receiver", name)], value(counts)))
    }
}

impl Collector for NotifyCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let to = &mut encoder;
        let waiting = self.values(|counts| number(counts.waiting()));
        let help = "Notifications that wait for delivery by this server.";
        gauges(to, "notifications_waiting", help, waiting)?;
        let help = "Notifications that the receiver accepted.";
        let delivered = self.values(Counts::delivered);
        counters(to, "notifications_delivered", help, delivered)?;
        let help = "Requests to the receiver that failed.";
        let failed = self.values(Counts::failed);
        counters(to, "notification_requests_failed", help, failed)?;
        let help = "Notifications that were merged into a later one because the queue was full.";
        let merged = self.values(Counts::merged);
        counters(to, "notifications_merged", help, merged)?;
        let help = "Notifications that were given up: the dead letters.";
        let dead_letters = self.values(Counts::dead_letters);
        counters(to, "notifications_given_up", help, dead_letters)
    }
}
