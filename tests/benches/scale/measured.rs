//! Figures of a process, from `/proc`.

use std::iter::Sum;
use std::time::Duration;

/// Processor time and memory of a process.
#[derive(Clone, Copy, Default)]
pub(crate) struct Usage {
    pub(crate) time: Duration,
    /// Resident memory in bytes.
    pub(crate) memory: u64,
}

impl Usage {
    pub(crate) fn of(process: u32) -> Self {
        let status = std::fs::read_to_string(format!("/proc/{process}/status"));
        let status = status.unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
        Self {
            time: processor_time(process),
            memory: kib.unwrap_or_default() * 1024,
        }
    }

    /// Processor time since an earlier usage, in seconds.
    pub(crate) fn seconds_since(self, before: Self) -> f64 {
        self.time.saturating_sub(before.time).as_secs_f64()
    }

    /// Memory above an earlier usage, in bytes.
    pub(crate) fn memory_above(self, before: Self) -> u64 {
        self.memory.saturating_sub(before.memory)
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(usages: I) -> Self {
        usages.fold(Self::default(), |sum, usage| Self {
            time: sum.time + usage.time,
            memory: sum.memory + usage.memory,
        })
    }
}

/// Processor time of all threads that run, in the unit of the scheduler. A thread that ended is not counted.
fn processor_time(process: u32) -> Duration {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task"));
    let tasks = tasks.into_iter().flatten().filter_map(Result::ok);
    let nanoseconds = tasks.map(|task| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        let time = text.split(' ').next().and_then(|time| time.parse().ok());
        time.unwrap_or(0_u64)
    });
    Duration::from_nanos(nanoseconds.sum())
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
pub(crate) fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
pub(crate) fn ratio(one: u64, other: u64) -> f64 {
    one as f64 / other.max(1) as f64
}
