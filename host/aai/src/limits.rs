//! Limits of updates.

use std::time::Duration;

/// Maximum number of items of the inventory. Each takes about a kilobyte of memory. Further objects are not reported,
/// and counted.
pub const ITEMS_MAX: usize = 100_000;

/// Requests per second to A&AI without a setting. A&AI commits each write to a distributed graph, which takes some ten
/// milliseconds.
pub const REQUESTS_PER_SECOND: u32 = 20;

/// Maximum number of times that an update reads an object again after 409 or 412, before the item waits.
pub(crate) const CONFLICTS_MAX: u32 = 5;

/// Time for which changes are gathered, so that a Pod that starts causes few updates.
pub(crate) const GATHER: Duration = Duration::from_secs(1);

/// The shortest wait after a failure. Doubled with each further failure.
pub(crate) const RETRY_MIN: Duration = Duration::from_secs(1);

/// The longest wait while A&AI does not answer.
pub(crate) const AWAY_RETRY_MAX: Duration = Duration::from_mins(1);

/// The longest wait for an item that A&AI refuses, such as a vserver whose VNF is not in the inventory yet.
pub(crate) const REFUSED_RETRY_MAX: Duration = Duration::from_mins(10);

/// Time for which the end of the server waits for a request that was begun. Its result is found by reading after the next
/// start.
pub(crate) const STOP_WAIT: Duration = Duration::from_secs(1);

/// Time between two requests for the lease while another server has it.
pub(crate) const LEASE_RETRY: Duration = Duration::from_secs(5);

/// Time between two plans for applications whose clusters had not been listed.
pub(crate) const RECHECK: Duration = Duration::from_secs(10);

/// Maximum length of a text of A&AI in logs and answers, in bytes.
pub(crate) const TEXT_BYTES_MAX: usize = 300;
