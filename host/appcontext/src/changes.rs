//! The stream of changes: contexts and records that were created, changed or deleted.

use std::collections::BTreeSet;

use kindsight_model::{ClusterName, ContextId, DigName};
use kindsight_store::{Changes, Revision, Watch};

use crate::Result;
use crate::keys::{self, Subject};

#[cfg(test)]
mod tests;

/// The contexts or the records that one batch of the store changed. At least one.
///
/// It does not tell the kinds of the changes: read each of them again; one that is not found was
/// deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppContextChanges {
    /// The revision of the batch. A writer finds its own in [`Recorded::Written`](crate::Recorded).
    pub revision: Revision,
    /// The contexts with a change that a snapshot shows.
    pub contexts: BTreeSet<ContextId>,
    /// The deployment intent groups whose record changed.
    pub digs: BTreeSet<DigName>,
    /// The clusters whose record changed.
    pub clusters: BTreeSet<ClusterName>,
}

impl AppContextChanges {
    /// Sorts the changed keys by what they are about.
    fn of(batch: &Changes) -> Self {
        let mut changes = Self {
            revision: batch.revision,
            contexts: BTreeSet::new(),
            digs: BTreeSet::new(),
            clusters: BTreeSet::new(),
        };
        for subject in batch.changes.iter().filter_map(|it| keys::subject(&it.key)) {
            match subject {
                Subject::Context(id) => changes.contexts.insert(id),
                Subject::Dig(name) => changes.digs.insert(name),
                Subject::Cluster(name) => changes.clusters.insert(name),
            };
        }
        changes
    }

    fn is_empty(&self) -> bool {
        self.contexts.is_empty() && self.digs.is_empty() && self.clusters.is_empty()
    }
}

/// The changes from a revision on: of contexts, made by
/// [`AppContexts::watch`](crate::AppContexts::watch), or of records, made by
/// [`Records::watch`](crate::Records::watch).
#[derive(Debug)]
pub struct AppContextWatch {
    watch: Watch,
}

impl AppContextWatch {
    pub(crate) fn new(watch: Watch) -> Self {
        Self { watch }
    }

    /// Waits for the next batch that changes a context or a record, in the order of the batches.
    /// Keys that are not read here are passed over, such as those of the catalog or of another
    /// writer's work queue.
    ///
    /// The future may be dropped at any moment; nothing is lost with it.
    ///
    /// # Errors
    /// As [`Watch::next`]: read everything again and begin a new watch, or stop.
    pub async fn next(&mut self) -> Result<AppContextChanges> {
        loop {
            let changes = AppContextChanges::of(&self.watch.next().await?);
            if !changes.is_empty() {
                return Ok(changes);
            }
        }
    }
}
