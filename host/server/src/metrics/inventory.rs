//! Metrics of the updates of A&AI. They exist only with `[aai]`.

use std::fmt;

use kindsight_aai::Health;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::samples::{counters, gauge, gauges, number};

/// Reads the state of the updates.
#[derive(Debug)]
pub(super) struct InventoryCollector(pub(super) Health);

impl Collector for InventoryCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let to = &mut encoder;
        let counts = self.0.counts();
        let results = [
            ("written", counts.written),
            ("unchanged", counts.unchanged),
            ("deleted", counts.deleted),
            ("conflict", counts.conflicts),
            ("failed", counts.failures),
            ("refused", counts.refusals),
        ];
        let results = results.map(|(result, count)| ([("result", result)], count));
        let help = "Results of updates of A&AI. After a conflict, the object is read again.";
        counters(to, "aai_updates", help, results)?;
        let items = [
            ("all", counts.items),
            ("waiting", counts.waiting),
            ("refused", counts.refused),
            ("left-off", counts.left_off),
        ];
        let items = items.map(|(state, count)| ([("state", state)], number(count)));
        let help = "Objects that A&AI has or should have: all of them, waiting updates, refused objects, and objects over the limit.";
        gauges(to, "aai_items", help, items)?;
        let is_away = if counts.is_away { 1.0 } else { 0.0 };
        let help = "1 while A&AI does not answer.";
        gauge(to, "aai_away", help, is_away)
    }
}
