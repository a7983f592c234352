//! Changes of the mailboxes that are not in the store yet.

use std::collections::BTreeMap;
use std::time::Duration;

use kindsight_store::{Batch, OPERATION_BYTES, Store};
use serde::Serialize;
use tokio::time::Instant;

use crate::limits::REMOVAL_DELAY;

/// Number of removals that are written without a wait.
const REMOVALS_MAX: usize = 64;

/// Writes by key. The order of the keys is the order of the writes; see [`crate::keys`]. A later write of a key replaces an
/// earlier one, so their number is limited by the number of subjects and events.
#[derive(Debug, Default)]
pub(crate) struct Unsaved {
    writes: BTreeMap<String, Option<Vec<u8>>>,
    /// True if there is a value. Requests wait until it is written.
    has_values: bool,
    /// The time of the first write.
    since: Option<Instant>,
}

impl Unsaved {
    /// Adds a value.
    pub(crate) fn put(&mut self, key: String, value: &impl Serialize) {
        // The values are maps with text keys, which can always be written.
        let bytes = serde_json::to_vec(value).unwrap_or_default();
        self.writes.insert(key, Some(bytes));
        self.has_values = true;
        self.since.get_or_insert_with(Instant::now);
    }

    /// Adds a removal.
    pub(crate) fn delete(&mut self, key: String) {
        self.writes.insert(key, None);
        self.since.get_or_insert_with(Instant::now);
    }

    /// Returns whether a value is not in the store yet.
    pub(crate) fn has_values(&self) -> bool {
        self.has_values
    }

    /// The time at which the writes are due; `None` if there are none.
    pub(crate) fn due(&self) -> Option<Instant> {
        let since = self.since?;
        let is_hurried = self.has_values || self.writes.len() >= REMOVALS_MAX;
        let delay = if is_hurried {
            Duration::ZERO
        } else {
            REMOVAL_DELAY
        };
        Some(since + delay)
    }

    /// Takes all writes, in batches that the store accepts.
    pub(crate) fn take(&mut self, store: &dyn Store) -> Vec<Batch> {
        let limits = store.limits();
        let (mut batches, mut batch) = (Vec::new(), Batch::new());
        let (mut count, mut bytes) = (0, 0);
        for (key, value) in std::mem::take(self).writes {
            let size = OPERATION_BYTES + key.len() + value.as_ref().map_or(0, Vec::len);
            if count > 0 && (count == limits.batch_writes || bytes + size > limits.batch_bytes) {
                batches.push(std::mem::take(&mut batch));
                (count, bytes) = (0, 0);
            }
            batch = match value {
                Some(value) => batch.put(key, value),
                None => batch.delete(key),
            };
            (count, bytes) = (count + 1, bytes + size);
        }
        if count > 0 {
            batches.push(batch);
        }
        batches
    }
}
