//! Options of a monitor.

use std::time::Duration;

use kindsight_clusters::KubernetesCluster;
use kindsight_model::BundleFormat;
use kindsight_push::PushOptions;

use crate::MonitorIdentity;

/// Options of a running monitor.
#[derive(Debug, Clone)]
pub struct MonitorOptions {
    /// The cluster whose apps are reported.
    pub cluster: KubernetesCluster,
    /// The name of this monitor for other monitors.
    pub identity: MonitorIdentity,
    /// True if the monitor creates ResourceBundleStates for apps without one, and deletes them with the apps.
    pub may_create: bool,
    /// Time until a watch is renewed, which shows withdrawn permissions. Refused Kinds are requested again as often.
    pub watch_lifetime: Duration,
    /// The form of the reports.
    pub format: BundleFormat,
    /// The server that the reports are pushed to; none for a monitor that only writes.
    pub push: Option<PushOptions>,
    /// The pace of writes.
    pub limits: WriteLimits,
}

/// Limits on the writes of a monitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteLimits {
    /// Shortest time between two writes of one report. The time grows by one second for each 100 KB of the report.
    pub interval_min: Duration,
    /// Bytes of reports that are written per second to the cluster, on average.
    pub bytes_per_second: u32,
}

/// Shortest time between two writes of one report, without a setting.
pub const WRITE_INTERVAL_MIN: Duration = Duration::from_secs(1);
/// Bytes that are written per second, without a setting.
pub const BYTES_PER_SECOND: u32 = 1_000_000;
impl Default for WriteLimits {
    fn default() -> Self {
        Self {
            interval_min: WRITE_INTERVAL_MIN,
            bytes_per_second: BYTES_PER_SECOND,
        }
    }
}
