//! Reports that wait, and the store's notifications of those that were stored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_model::{ClusterName, ContextId, DeploymentId};
use kindsight_store::Revision;

/// Maximum number of reports that wait to be stored; of more, the oldest is dropped.
pub const BUNDLES_WAITING_MAX: usize = 4096;
/// Maximum size of all reports that wait to be stored, in bytes; of more, the oldest is dropped.
pub const BUNDLES_WAITING_BYTES_MAX: usize = 128 * 1024 * 1024;

/// Maximum number of own changes that the store has not notified of yet; of more, the oldest is forgotten
/// and read again.
const OWN_REVISIONS_MAX: usize = 64 * 1024;

/// An app in a cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) deployment: DeploymentId,
    pub(super) cluster: ClusterName,
}

/// A report that waits.
pub(super) struct Waiting {
    pub(super) number: u64,
    pub(super) status_json: Arc<str>,
}

/// Reports that wait, and own changes.
#[derive(Default)]
pub(super) struct State {
    pub(super) waiting: BTreeMap<Place, Waiting>,
    /// The order in which they are stored.
    pub(super) order: BTreeMap<u64, Place>,
    /// The number of the last one that came.
    last: u64,
    pub(super) bytes: usize,
    /// The number of those that were dropped since all were stored.
    pub(super) dropped: usize,
    /// The context that is written to now.
    pub(super) writing: Option<ContextId>,
    /// Revisions of own changes that the store has not notified of yet.
    pub(super) own: BTreeSet<Revision>,
}

impl State {
    /// Adds a report. One that replaces another keeps its turn.
    pub(super) fn push(&mut self, place: Place, status_json: Arc<str>) {
        self.bytes += status_json.len();
        if let Some(known) = self.waiting.get_mut(&place) {
            self.bytes = self.bytes.saturating_sub(known.status_json.len());
            known.status_json = status_json;
        } else {
            self.last += 1;
            let number = self.last;
            self.add(
                place,
                Waiting {
                    number,
                    status_json,
                },
            );
        }
        while self.waiting.len() > BUNDLES_WAITING_MAX || self.bytes > BUNDLES_WAITING_BYTES_MAX {
            let Some((_, oldest)) = self.order.pop_first() else {
                return;
            };
            let dropped = self.waiting.remove(&oldest);
            let bytes = dropped.map_or(0, |it| it.status_json.len());
            self.bytes = self.bytes.saturating_sub(bytes);
            if self.dropped == 0 {
                tracing::warn!(
                    waiting_max = BUNDLES_WAITING_MAX,
                    bytes_max = BUNDLES_WAITING_BYTES_MAX,
                    "too many reports wait to be stored; the oldest are dropped"
                );
            }
            self.dropped += 1;
        }
    }

    /// Puts one back that could not be stored, unless a newer one came.
    pub(super) fn put_back(&mut self, place: Place, waiting: Waiting) {
        if !self.waiting.contains_key(&place) {
            self.bytes += waiting.status_json.len();
            self.add(place, waiting);
        }
    }

    /// Adds a report that is not there, at its turn.
    fn add(&mut self, place: Place, waiting: Waiting) {
        self.order.insert(waiting.number, place.clone());
        self.waiting.insert(place, waiting);
    }

    /// Notes an own change, of which the store will notify.
    pub(super) fn note_own(&mut self, revision: Revision) {
        self.own.insert(revision);
        if self.own.len() > OWN_REVISIONS_MAX {
            self.own.pop_first();
        }
    }
}
