//! Limits and times of notifications.

use std::time::Duration;

/// Maximum number of receivers. Each has a thread, a connection and metrics.
pub const RECEIVERS_MAX: usize = 32;
/// Maximum number of followed subjects of a receiver. A subject takes about 500 bytes in memory and in the store.
pub const SUBJECTS_MAX: usize = 50_000;
/// Maximum number of events that wait for one receiver. An event takes at most about 4 KB, so 32 receivers take at most
/// 128 MB, and usually a tenth of it.
pub const QUEUE_MAX: usize = 1000;
/// Maximum number of dead letters that are kept for one receiver. The oldest are removed first.
pub const DEAD_LETTERS_MAX: usize = 100;
/// Maximum number of requests with one event. With the waits of the backoff, they take about a day.
pub const ATTEMPTS_MAX: u32 = 300;
/// Maximum number of alerts in one request to Alertmanager, as Prometheus has it.
pub(crate) const ALERTS_MAX: usize = 64;
/// Maximum size of the error of a receiver in answers and in the store, in bytes.
pub(crate) const ERROR_BYTES_MAX: usize = 300;
/// The smallest and the largest key of signatures, in bytes.
pub const KEY_BYTES_MIN: usize = 16;
/// See [`KEY_BYTES_MIN`].
pub const KEY_BYTES_MAX: u64 = 4096;

/// The time for which a state must hold before its transition is sent, unless the configuration has another one.
pub const HOLD: Duration = Duration::from_secs(30);
/// The longest such time.
pub const HOLD_MAX: Duration = Duration::from_hours(24);
/// The time for an answer of a receiver, unless the configuration has another one.
pub const TIMEOUT: Duration = Duration::from_secs(10);
/// The longest such time. A test of a receiver must end within the time of a request to kindsight (30 s).
pub const TIMEOUT_MAX: Duration = Duration::from_secs(20);

/// The time for which changes of the read model are gathered.
pub(crate) const GATHER: Duration = Duration::from_millis(250);
/// The first and the longest wait after a failed request. Each is extended at random by up to its own length.
pub(crate) const RETRY_FIRST: Duration = Duration::from_secs(1);
/// See [`RETRY_FIRST`].
pub(crate) const RETRY_LONGEST: Duration = Duration::from_mins(5);
/// The longest wait that a receiver can ask for with the header `Retry-After`.
pub(crate) const RETRY_AFTER_MAX: Duration = Duration::from_mins(15);
/// The interval at which a server that does not send asks for the lease, and the wait after a failure of the store.
pub(crate) const LEASE_RETRY: Duration = Duration::from_secs(3);
/// The longest time until the removal of a delivered event is written. After a kill within this time, the event is sent
/// again with the same id.
pub(crate) const REMOVAL_DELAY: Duration = Duration::from_millis(500);
/// The time for which a stop waits for running requests.
pub(crate) const STOP_WAIT: Duration = Duration::from_secs(1);
/// Maximum number of commands that wait for the worker. A further command is refused.
pub(crate) const COMMANDS_MAX: usize = 8;
/// The time for which a command waits for the worker.
pub(crate) const COMMAND_WAIT: Duration = Duration::from_secs(10);
/// The interval at which firing alerts are repeated. An Alertmanager that restarted has forgotten them.
pub(crate) const REPEAT: Duration = Duration::from_mins(1);
/// The time after which Alertmanager resolves an alert that is not repeated, in milliseconds.
pub(crate) const ALERT_VALID_MS: i64 = 15 * 60 * 1000;
/// Number of applications that are compared before other tasks run.
pub(crate) const COMPARED_AT_A_TIME: usize = 64;
