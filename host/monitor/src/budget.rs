//! The pace of writes: a budget of bytes for the cluster, and an interval for each report.

use std::time::Duration;

use tokio::time::Instant;

/// Seconds of the rate that may be spent at once, so that a first change is written immediately.
const BURST_SECONDS: i64 = 2;
/// Bytes of a report that extend its interval by one second.
const BYTES_PER_INTERVAL_SECOND: u64 = 100_000;
/// Longest interval between two writes of one report.
const INTERVAL_MAX: Duration = Duration::from_mins(1);

/// A budget of bytes that refills at a constant rate. The last write may exceed it, and the next write then waits.
#[derive(Debug)]
pub(crate) struct ByteBudget {
    bytes_per_second: i64,
    balance: i64,
    refilled_at: Instant,
}

impl ByteBudget {
    /// A full budget.
    pub(crate) fn new(bytes_per_second: u32, now: Instant) -> Self {
        let bytes_per_second = i64::from(bytes_per_second.max(1));
        Self {
            bytes_per_second,
            balance: bytes_per_second * BURST_SECONDS,
            refilled_at: now,
        }
    }

    /// The time of the next write.
    pub(crate) fn ready_at(&mut self, now: Instant) -> Instant {
        self.refill(now);
        let debt = u64::try_from(-self.balance).unwrap_or_default();
        let rate = u64::try_from(self.bytes_per_second).unwrap_or(1);
        now + Duration::from_micros(debt.saturating_mul(1_000_000) / rate)
    }

    /// Notes a write.
    pub(crate) fn spend(&mut self, bytes: usize) {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        self.balance = self.balance.saturating_sub(bytes);
    }

    fn refill(&mut self, now: Instant) {
        let elapsed = now.saturating_duration_since(self.refilled_at);
        let millis = i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX);
        let refill = self.bytes_per_second.saturating_mul(millis) / 1_000;
        if refill > 0 {
            self.refilled_at = now;
            let full = self.bytes_per_second * BURST_SECONDS;
            self.balance = self.balance.saturating_add(refill).min(full);
        }
    }
}

/// The time between two writes of a report of this size.
pub(crate) fn interval(shortest: Duration, bytes: usize) -> Duration {
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    let by_size = Duration::from_millis(bytes.saturating_mul(1_000) / BYTES_PER_INTERVAL_SECOND);
    by_size.min(INTERVAL_MAX).max(shortest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_allows_a_burst_and_then_its_rate() {
        let start = Instant::now();
        let mut budget = ByteBudget::new(1_000, start);
        assert_eq!(budget.ready_at(start), start);
        budget.spend(2_500);
        assert_eq!(budget.ready_at(start), start + Duration::from_millis(500));
        let later = start + Duration::from_millis(500);
        assert_eq!(budget.ready_at(later), later);
        let much_later = start + Duration::from_hours(1);
        assert_eq!(budget.ready_at(much_later), much_later);
        budget.spend(3_000);
        let next = budget.ready_at(much_later);
        assert_eq!(
            next,
            much_later + Duration::from_secs(1),
            "a budget has a limit"
        );
    }

    #[test]
    fn the_interval_grows_with_the_size_of_the_report() {
        let shortest = Duration::from_secs(1);
        assert_eq!(interval(shortest, 10), shortest);
        assert_eq!(interval(shortest, 900_000), Duration::from_secs(9));
        assert_eq!(interval(shortest, usize::MAX), INTERVAL_MAX);
    }
}
