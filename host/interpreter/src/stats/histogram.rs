//! A latency histogram that many threads update.
//!
//! The histogram of `prometheus-client` does not replace it: each observation locks a mutex, and its counts cannot be
//! read back for percentiles (docs/decisions/0070-latency-of-calls-is-counted-here.md).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Each power of two has 16 buckets, so the width of a bucket is 3 to 6 percent of its time.
const STEP_BITS: u32 = 4;
const STEPS: u64 = 1 << STEP_BITS;
/// Durations under 256 ns count as 256 ns. No call of a component is shorter.
const OCTAVE_FIRST: u32 = 8;
/// Number of powers of two, up to 34 seconds. Longer durations count as 34 seconds. The deadline of
/// a call is in milliseconds.
const OCTAVES: u32 = 27;
const BUCKETS: usize = (OCTAVES << STEP_BITS) as usize;

/// Latency of calls in whole microseconds, at least one, or all 0 if no call was timed.
///
/// All first calls were timed, and one in eight of the later calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Latency {
    /// Median, with an error of up to 3 percent.
    pub p50_us: u64,
    /// 90th percentile, with an error of up to 3 percent.
    pub p90_us: u64,
    /// 99th percentile, with an error of up to 3 percent.
    pub p99_us: u64,
    /// The longest timed call.
    pub max_us: u64,
}

/// The first power of two in nanoseconds that limits a bucket of [`TimedCalls`]: 16 µs.
const TIMED_FIRST_POWER: u32 = 14;
/// Number of limited buckets of [`TimedCalls`]. Each limit is four times the previous limit; the last one is 4.3 s.
const TIMED_BUCKETS: u32 = 10;

/// Timed calls in some wide buckets, for metrics.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TimedCalls {
    /// The upper limit of each bucket in seconds, ascending, with the number of calls that are shorter and are in no
    /// earlier bucket. The last limit is infinite.
    pub buckets: Vec<(f64, u64)>,
    /// Number of timed calls.
    pub count: u64,
    /// Time of all timed calls together, in seconds.
    pub sum: f64,
}

impl TimedCalls {
    /// Adds the calls of another interpreter. The buckets of all interpreters have the same limits.
    pub fn add(&mut self, other: &Self) {
        if self.buckets.is_empty() {
            self.buckets = other.buckets.iter().map(|(limit, _)| (*limit, 0)).collect();
        }
        for ((_, sum), (_, count)) in self.buckets.iter_mut().zip(&other.buckets) {
            *sum += count;
        }
        self.count += other.count;
        self.sum += other.sum;
    }
}

/// Counts of durations by their logarithm.
pub(super) struct Histogram {
    buckets: [AtomicU64; BUCKETS],
    sum_ns: AtomicU64,
    max_ns: AtomicU64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            buckets: [const { AtomicU64::new(0) }; BUCKETS],
            sum_ns: AtomicU64::new(0),
            max_ns: AtomicU64::new(0),
        }
    }
}

impl Histogram {
    pub(super) fn add(&self, took: Duration) {
        let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        if let Some(bucket) = self.buckets.get(bucket(ns)) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        self.sum_ns.fetch_add(ns, Ordering::Relaxed);
        if ns > self.max_ns.load(Ordering::Relaxed) {
            self.max_ns.fetch_max(ns, Ordering::Relaxed);
        }
    }

    pub(super) fn read(&self) -> Latency {
        let counts = self.counts();
        let max_ns = self.max_ns.load(Ordering::Relaxed);
        let at = |percent| percentile(&counts, percent).map_or(0, |ns| micros(ns.min(max_ns)));
        let longest = percentile(&counts, 100).map_or(0, |_| micros(max_ns));
        Latency {
            p50_us: at(50),
            p90_us: at(90),
            p99_us: at(99),
            max_us: longest,
        }
    }

    pub(super) fn timed_calls(&self) -> TimedCalls {
        let sum = Duration::from_nanos(self.sum_ns.load(Ordering::Relaxed));
        let counts = self.counts();
        let mut first = 0;
        let buckets = (0..TIMED_BUCKETS).map(|number| {
            let power = TIMED_FIRST_POWER + 2 * number;
            // The limit is also a limit of the narrow buckets.
            let end = bucket(1 << power);
            let count = counts.get(first..end).unwrap_or_default().iter().sum();
            first = end;
            (Duration::from_nanos(1 << power).as_secs_f64(), count)
        });
        let mut buckets: Vec<(f64, u64)> = buckets.collect();
        let longer = counts.get(first..).unwrap_or_default().iter().sum();
        buckets.push((f64::INFINITY, longer));
        TimedCalls {
            buckets,
            count: counts.iter().sum(),
            sum: sum.as_secs_f64(),
        }
    }

    fn counts(&self) -> Vec<u64> {
        let counts = self.buckets.iter();
        counts.map(|count| count.load(Ordering::Relaxed)).collect()
    }
}

/// Index of the bucket of a duration.
fn bucket(ns: u64) -> usize {
    let ns = ns.max(1 << OCTAVE_FIRST);
    let octave = ns.ilog2();
    let step = (ns >> (octave - STEP_BITS)) % STEPS;
    let bucket = u64::from(octave - OCTAVE_FIRST) * STEPS + step;
    usize::try_from(bucket).map_or(BUCKETS - 1, |bucket| bucket.min(BUCKETS - 1))
}

/// The middle of a bucket.
fn middle_ns(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let (octave, step) = (bucket / STEPS, bucket % STEPS);
    // Half a step more: the steps are counted in halves.
    ((STEPS + step) * 2 + 1) << (octave + u64::from(OCTAVE_FIRST - STEP_BITS) - 1)
}

/// The middle of the bucket in which `percent` of all counts are reached, or `None` if all buckets
/// are empty.
fn percentile(counts: &[u64], percent: u64) -> Option<u64> {
    let total: u64 = counts.iter().sum();
    let rank = total.saturating_mul(percent).div_ceil(100).max(1);
    let mut passed = 0;
    let bucket = counts.iter().position(|count| {
        passed += count;
        passed >= rank
    })?;
    Some(middle_ns(bucket))
}

/// Rounds to microseconds, to at least one.
fn micros(ns: u64) -> u64 {
    (ns.saturating_add(500) / 1000).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: impl IntoIterator<Item = Duration>) -> Latency {
        let histogram = Histogram::default();
        for took in times {
            histogram.add(took);
        }
        histogram.read()
    }

    #[test]
    fn every_duration_is_in_a_bucket_that_is_near_it() {
        for exponent in OCTAVE_FIRST..OCTAVE_FIRST + OCTAVES {
            for ns in [
                1_u64 << exponent,
                (1 << exponent) + (1 << (exponent - 1)) + 7,
            ] {
                let middle = middle_ns(bucket(ns));
                let off = middle.abs_diff(ns);
                assert!(off * 31 <= ns, "{ns} ns is {off} ns off");
            }
        }
        assert_eq!(bucket(0), 0);
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn buckets_follow_each_other_without_a_gap() {
        let mut last = 0;
        for ns in (256..2_000_000).step_by(7) {
            let bucket = bucket(ns);
            assert!(bucket == last || bucket == last + 1, "{ns} ns");
            last = bucket;
        }
    }

    #[test]
    fn percentiles_match_the_added_values() {
        let latency = of((1..=1000).map(Duration::from_micros));
        let near = |is: u64, right: u64| is.abs_diff(right) * 100 <= right * 4;
        assert!(near(latency.p50_us, 500), "{latency:?}");
        assert!(near(latency.p90_us, 900), "{latency:?}");
        assert!(near(latency.p99_us, 990), "{latency:?}");
        assert_eq!(latency.max_us, 1000);
    }

    #[test]
    fn wide_buckets_have_each_call_once() {
        let histogram = Histogram::default();
        let times = [1, 16_383, 16_384, 65_535, 5_000_000_000];
        for ns in times {
            histogram.add(Duration::from_nanos(ns));
        }
        let timed = histogram.timed_calls();
        assert_eq!(timed.buckets.len(), 11);
        assert_eq!(timed.buckets[..2], [(0.000_016_384, 2), (0.000_065_536, 2)]);
        assert_eq!(timed.buckets[2..10].iter().map(|it| it.1).sum::<u64>(), 0);
        assert_eq!(timed.buckets[10], (f64::INFINITY, 1));
        assert_eq!(timed.count, 5);
        assert!((timed.sum - 5.000_098_303).abs() < 1e-9, "{timed:?}");
    }

    #[test]
    fn no_percentile_is_over_the_longest() {
        let latency = of([Duration::from_nanos(8_193)]);
        assert_eq!(
            latency,
            Latency {
                p50_us: 8,
                p90_us: 8,
                p99_us: 8,
                max_us: 8
            }
        );
        let latency = of([Duration::ZERO, Duration::from_hours(1)]);
        assert_eq!((latency.p50_us, latency.max_us), (1, 3_600_000_000));
    }

    #[test]
    fn an_empty_histogram_has_zero_latencies() {
        assert_eq!(of([]), Latency::default());
    }
}
