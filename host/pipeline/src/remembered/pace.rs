//! The pace at which large values are written.
//!
//! The value of an app in a cluster contains all its resources. Without a pace, an app of 5,000 resources of which one
//! changes all the time would be written completely every two seconds.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use kindsight_model::ClusterName;
use kindsight_status::{ApplicationKey, ClusterView};

use super::writer::WRITE_EVERY;

/// Average number of bytes that one app in a cluster may write each second.
const BYTES_PER_SECOND: u64 = 64 * 1024;

/// Maximum time for which a changed value waits.
const WAIT_MAX: Duration = Duration::from_mins(1);

/// A view whose value is in the file.
pub(super) struct WrittenView {
    pub(super) view: Arc<ClusterView>,
    pub(super) at_ms: i64,
}

/// A changed value that waits to be written.
struct WaitingValue {
    application: ApplicationKey,
    cluster: ClusterName,
    /// The latest time at which the value in the file was right.
    since_ms: i64,
}

/// The changed values that wait to be written, by their keys.
#[derive(Default)]
pub(super) struct WaitingValues(BTreeMap<String, WaitingValue>);

impl WaitingValues {
    /// The applications that have such values.
    pub(super) fn applications(&self) -> BTreeSet<ApplicationKey> {
        self.0
            .values()
            .map(|pace| pace.application.clone())
            .collect()
    }

    /// For each cluster with such values, the latest time at which all its values in the file were right.
    pub(super) fn first_by_cluster(&self) -> HashMap<&ClusterName, i64> {
        let mut first = HashMap::new();
        for value in self.0.values() {
            let since_ms = first.entry(&value.cluster).or_insert(i64::MAX);
            *since_ms = value.since_ms.min(*since_ms);
        }
        first
    }
}

/// The decision which changed values are written now.
pub(super) struct Pace<'w> {
    /// The views whose values are in the file, by the keys of the values.
    pub(super) written: &'w HashMap<String, WrittenView>,
    /// The values that waited before.
    pub(super) waited: &'w WaitingValues,
    /// The values that wait from now on.
    pub(super) waiting: WaitingValues,
    /// True if no value may wait.
    pub(super) is_last: bool,
    pub(super) now_ms: i64,
}

impl Pace<'_> {
    /// Returns whether the value of a view must be written now. `bytes` is the size of its value in the file.
    pub(super) fn is_due(
        &mut self,
        application: &ApplicationKey,
        key: &str,
        view: &ClusterView,
        bytes: Option<usize>,
    ) -> bool {
        let (Some(bytes), Some(written)) = (bytes, self.written.get(key)) else {
            return true;
        };
        if written.view.shares_resources_with(view) {
            return false;
        }
        let due_ms = written.at_ms.saturating_add(millis(wait(bytes)));
        if self.is_last || self.now_ms >= due_ms {
            return true;
        }
        let before = self.waited.0.get(key).map(|it| it.since_ms);
        let value = WaitingValue {
            application: application.clone(),
            cluster: view.cluster().clone(),
            since_ms: before.unwrap_or_else(|| self.now_ms.saturating_sub(millis(WRITE_EVERY))),
        };
        self.waiting.0.insert(key.to_owned(), value);
        false
    }
}

/// Time for which a change waits after a value of so many bytes was written. A small value is written each time.
fn wait(bytes: usize) -> Duration {
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    let wait = Duration::from_millis(bytes.saturating_mul(1000) / BYTES_PER_SECOND);
    if wait <= WRITE_EVERY {
        return Duration::ZERO;
    }
    wait.min(WAIT_MAX)
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_waits_by_the_size_of_its_value() {
        let seconds = |bytes| wait(bytes).as_secs();
        assert_eq!(seconds(0), 0);
        assert_eq!(seconds(128 * 1024), 0);
        assert_eq!(seconds(1024 * 1024), 16);
        assert_eq!(seconds(usize::MAX), 60);
    }
}
