//! The stream of changes: contexts and records that were created, changed or deleted.

use std::collections::BTreeSet;

use kindsight_model::{ContextId, RecordSubject};
use kindsight_store::{Change, Changes, Revision, Watch};

use crate::Result;
use crate::keys::{self, Subject};

#[cfg(test)]
mod tests;

/// The contexts or records that one batch of the store changed, at least one.
///
/// [`ContextImages::take`](crate::ContextImages::take) applies the changed keys of contexts. A
/// record must be read again; if it is not found, it was deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppContextChanges {
    /// The revision of the batch. A writer finds its own in [`Recorded::Written`](crate::Recorded).
    pub revision: Revision,
    /// The contexts with a change that a snapshot shows.
    pub contexts: BTreeSet<ContextId>,
    /// The subjects whose record changed.
    pub subjects: BTreeSet<RecordSubject>,
    /// The changed keys of contexts, in the order of the batch.
    pub(crate) keys: Vec<(ContextId, Change)>,
}

impl AppContextChanges {
    /// Sorts the changed keys by context and record.
    fn of(batch: Changes) -> Self {
        let mut changes = Self {
            revision: batch.revision,
            contexts: BTreeSet::new(),
            subjects: BTreeSet::new(),
            keys: Vec::new(),
        };
        for change in batch.changes {
            match keys::subject(&change.key) {
                Some(Subject::Context(id)) => {
                    changes.contexts.insert(id.clone());
                    changes.keys.push((id, change));
                }
                Some(Subject::Record(subject)) => drop(changes.subjects.insert(subject)),
                None => {}
            }
        }
        changes
    }

    fn is_empty(&self) -> bool {
        self.contexts.is_empty() && self.subjects.is_empty()
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
    /// Other keys are skipped, such as the keys of the catalog or of another writer's work queue.
    ///
    /// Dropping the future at any moment loses no change.
    ///
    /// # Errors
    /// As [`Watch::next`]: read everything again and begin a new watch, or stop.
    pub async fn next(&mut self) -> Result<AppContextChanges> {
        loop {
            let changes = AppContextChanges::of(self.watch.next().await?);
            if !changes.is_empty() {
                return Ok(changes);
            }
        }
    }

    /// Returns the next batch that changes a context or a record, or `None` if none arrived since
    /// the last one. Does not wait.
    ///
    /// # Errors
    /// As [`Watch::try_next`].
    pub fn try_next(&mut self) -> Result<Option<AppContextChanges>> {
        while let Some(changes) = self.watch.try_next()? {
            let changes = AppContextChanges::of(changes);
            if !changes.is_empty() {
                return Ok(Some(changes));
            }
        }
        Ok(None)
    }
}
