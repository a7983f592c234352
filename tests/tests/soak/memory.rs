//! The resident memory of the server over time.

use std::fmt;
use std::time::Duration;

/// Samples of the resident memory.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The time since the start, and the memory in KiB.
    samples: Vec<(Duration, u64)>,
}

/// The memory after a warm-up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trend {
    pub(crate) first_kb: u64,
    pub(crate) last_kb: u64,
    pub(crate) max_kb: u64,
    /// Growth by linear regression.
    pub(crate) kb_per_hour: f64,
    pub(crate) samples: usize,
}

impl Memory {
    /// Notes the memory of a process. A process that has just ended has none.
    pub(crate) fn sample(&mut self, at: Duration, process: u32) {
        let status = std::fs::read_to_string(format!("/proc/{process}/status"));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kb = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        self.samples.extend(kb.map(|kb| (at, kb)));
    }

    /// The trend of the samples since this time; none of fewer than two samples.
    pub(crate) fn trend(&self, since: Duration) -> Option<Trend> {
        let samples = self.samples.iter().filter(|(at, _)| *at >= since);
        let samples: Vec<&(Duration, u64)> = samples.collect();
        let (first, last) = (samples.first()?, samples.last()?);
        Some(Trend {
            first_kb: first.1,
            last_kb: last.1,
            max_kb: samples.iter().map(|(_, kb)| *kb).max()?,
            kb_per_hour: slope(&samples)?,
            samples: samples.len(),
        })
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kb = self.samples.last().map_or(0, |(_, kb)| *kb);
        write!(f, "{kb} KiB resident")
    }
}

/// The slope of the regression line, in KiB per hour; none if all samples have one time.
#[expect(
    clippy::cast_precision_loss,
    reason = "memory in KiB is far below the 2^53 that are exact"
)]
fn slope(samples: &[&(Duration, u64)]) -> Option<f64> {
    let count = samples.len() as f64;
    let points = samples
        .iter()
        .map(|(at, kb)| (at.as_secs_f64() / 3600.0, *kb as f64));
    let sums = points
        .clone()
        .fold((0.0, 0.0), |(x, y), (at, kb)| (x + at, y + kb));
    let (mean_at, mean_kb) = (sums.0 / count, sums.1 / count);
    let (mut products, mut squares) = (0.0, 0.0);
    for (at, kb) in points {
        products += (at - mean_at) * (kb - mean_kb);
        squares += (at - mean_at) * (at - mean_at);
    }
    (squares > 0.0).then(|| products / squares)
}
