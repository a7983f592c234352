//! Reads the stores outside the pipeline's thread.
//!
//! The reader keeps every context in memory, applies the changed keys of a step, and passes on the contexts and
//! records that differ as one [`StoreChanges`]. Only the reader reads contexts and records while the server runs.

mod changes;
mod outages;
mod records;

use std::collections::BTreeSet;

use kindsight_appcontext::{
    AppContextChanges, AppContextWatch, AppContexts, ContextImages, ContextUpdate,
    Error as ContextError, Records,
};
use kindsight_model::{ContextId, RecordSubject};
use kindsight_store::{Error as StoreError, Revision, chain};

use crate::Error;
use crate::bundle_queue::BundleQueue;
pub use changes::StoreChanges;
pub(crate) use changes::{ContextChange, RecordsChange};
pub(crate) use records::ReadRecords;

/// Time after which a store that could not be read is read again, in milliseconds.
const READ_AGAIN_MS: i64 = 1000;

/// Time after which contexts are read again that could not be read while the store answered, in milliseconds. Most
/// of them cannot be read before a user repairs them.
const UNREAD_AGAIN_MS: i64 = 60_000;

/// Reads the stores of a pipeline. Made by [`Pipeline::load`](crate::Pipeline::load), and run by
/// [`follow`](crate::follow).
#[must_use = "changes after the load have to be followed"]
pub struct StoreReader {
    contexts: AppContexts,
    records: Records,
    /// Recognizes the reports that the pipeline stored itself.
    bundles: BundleQueue,
    images: ContextImages,
    /// The load read every context at this revision or later.
    contexts_at: Revision,
    /// The load read every record at this revision or later.
    records_at: Revision,
    /// True while the store of contexts is away. Everything is read again before it counts as back.
    is_away: bool,
    /// When a store is read again that is connected and could not be read, in Unix milliseconds.
    contexts_again_at_ms: Option<i64>,
    /// When the records are read again that could not be read, in Unix milliseconds.
    records_again_at_ms: Option<i64>,
    /// Contexts that could not be read while the store answered.
    unread: BTreeSet<ContextId>,
    /// When these contexts are read again, in Unix milliseconds.
    unread_again_at_ms: Option<i64>,
    changes: StoreChanges,
}

impl StoreReader {
    pub(crate) fn new(contexts: AppContexts, records: Records, bundles: BundleQueue) -> Self {
        Self {
            contexts,
            records,
            bundles,
            images: ContextImages::default(),
            contexts_at: Revision::default(),
            records_at: Revision::default(),
            is_away: false,
            contexts_again_at_ms: None,
            records_again_at_ms: None,
            unread: BTreeSet::new(),
            unread_again_at_ms: None,
            changes: StoreChanges::default(),
        }
    }

    /// Reads every record for the load.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn load_records(&mut self) -> Result<ReadRecords, Error> {
        let read = records::read_all(&self.records)
            .map_err(failed("the records of groups and clusters"))?;
        self.records_at = read.revision;
        Ok(read)
    }

    /// Begins to read every context for the load; [`update_next`](Self::update_next) reads each.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn begin_load(&mut self) -> Result<(), Error> {
        self.contexts_at = self.read_all_again()?;
        Ok(())
    }

    /// Watches the contexts after the load.
    pub(crate) fn watch_contexts(&self) -> Result<AppContextWatch, ContextError> {
        self.contexts.watch(self.contexts_at)
    }

    /// Watches the records after the load.
    pub(crate) fn watch_records(&self) -> Result<AppContextWatch, ContextError> {
        self.records.watch(self.records_at)
    }

    /// Watches the contexts after the present revision, and reads all of them again.
    pub(crate) fn restart_contexts(
        &mut self,
        now_ms: i64,
    ) -> Result<AppContextWatch, ContextError> {
        let watch = self.contexts.watch(self.contexts.list()?.revision)?;
        self.resync_contexts(now_ms);
        Ok(watch)
    }

    /// Watches the records after the present revision, and reads all of them again.
    pub(crate) fn restart_records(&mut self, now_ms: i64) -> Result<AppContextWatch, ContextError> {
        let watch = self.records.watch(self.records.list()?.revision)?;
        self.resync_records(now_ms);
        Ok(watch)
    }

    /// Applies the changed keys of contexts. The pipeline's own reports cause no work.
    pub(crate) fn take_contexts(&mut self, changes: &AppContextChanges) {
        let bundles = &self.bundles;
        let is_own = |id: &ContextId| bundles.is_own(id, changes.revision);
        self.images.take(changes, is_own);
    }

    /// Reads the changed records.
    pub(crate) fn take_records(&mut self, changes: &AppContextChanges, now_ms: i64) {
        for subject in &changes.subjects {
            self.read_record(subject, now_ms);
        }
    }

    /// Reads a record, and the contexts that it names and that are not known yet: the two may be in two stores,
    /// whose changes are not ordered.
    fn read_record(&mut self, subject: &RecordSubject, now_ms: i64) {
        match records::read(&self.records, subject) {
            Ok(record) => {
                let named = record.iter().flat_map(|record| &record.actions);
                for id in named.filter_map(|action| action.instance.as_ref()) {
                    if !self.images.knows(id) {
                        self.images.read_again(id, Revision::default());
                    }
                }
                let change = RecordsChange::One(subject.clone(), record);
                self.changes.records.push(change);
            }
            Err(error) => {
                tracing::warn!(record = %subject, error = chain(&error), "record not readable; the last readable one stays");
                if is_of_the_store(&error) {
                    self.records_again_at_ms = Some(now_ms.saturating_add(READ_AGAIN_MS));
                }
            }
        }
    }

    /// Handles missed changes of records.
    pub(crate) fn resync_records(&mut self, now_ms: i64) {
        self.records_again_at_ms = None;
        match self.load_records() {
            Ok(read) => self.changes.records = vec![RecordsChange::All(read)],
            Err(error) => {
                let error = chain(&error);
                tracing::error!(
                    error,
                    "the records cannot be read again; their last known state stays"
                );
                self.records_again_at_ms = Some(now_ms.saturating_add(READ_AGAIN_MS));
            }
        }
    }

    /// Reads every context again, and finds the contexts that differ.
    fn read_contexts(&mut self, now_ms: i64) -> Result<(), Error> {
        self.read_all_again()?;
        self.update_pending(now_ms)
    }

    /// Updates every context whose keys changed.
    fn update_pending(&mut self, now_ms: i64) -> Result<(), Error> {
        let mut changed = Vec::new();
        let mut updated = Ok(true);
        while let Ok(true) = updated {
            updated = self.update_next(&mut changed, now_ms);
        }
        self.changes.contexts.append(&mut changed);
        updated.map(drop)
    }

    fn read_all_again(&mut self) -> Result<Revision, Error> {
        self.bundles.forget_own();
        let list = self
            .contexts
            .list()
            .map_err(failed("the list of AppContexts"))?;
        self.images.restart(&list.ids, list.revision);
        Ok(list.revision)
    }

    /// Updates the next context whose keys changed, and adds its change if it differs. Returns false after the last
    /// context.
    ///
    /// # Errors
    /// The store cannot be read. A context that alone cannot be read is a change.
    pub(crate) fn update_next(
        &mut self,
        changes: &mut Vec<(ContextId, ContextChange)>,
        now_ms: i64,
    ) -> Result<bool, Error> {
        let Some(id) = self.images.pending() else {
            return Ok(false);
        };
        let change = match self.images.update(&self.contexts, &id) {
            Ok(update) => {
                let was_unread = self.unread.remove(&id);
                match update {
                    ContextUpdate::Changed(snapshot) => Some(ContextChange::Read(snapshot)),
                    ContextUpdate::Deleted => Some(ContextChange::Deleted),
                    ContextUpdate::Unchanged => was_unread.then_some(ContextChange::Readable),
                }
            }
            Err(error) if is_of_the_store(&error) => {
                return Err(failed(&format!("AppContext {id}"))(error));
            }
            Err(error) => {
                self.unread.insert(id.clone());
                let at = now_ms.saturating_add(UNREAD_AGAIN_MS);
                self.unread_again_at_ms.get_or_insert(at);
                Some(ContextChange::Unreadable(chain(&error)))
            }
        };
        changes.extend(change.map(|change| (id, change)));
        Ok(true)
    }

    /// Reads again what could not be read and is due. Returns everything that changed since the last call.
    pub(crate) fn changes(&mut self, now_ms: i64) -> StoreChanges {
        let is_due = |at: Option<i64>| at.is_some_and(|at| at <= now_ms);
        if is_due(self.contexts_again_at_ms) {
            self.reconnect(now_ms);
        }
        if is_due(self.records_due_ms()) {
            self.resync_records(now_ms);
        }
        if is_due(self.unread_due_ms()) {
            self.unread_again_at_ms = None;
            for id in &self.unread {
                self.images.read_again(id, Revision::default());
            }
        }
        if !self.is_away
            && let Err(error) = self.update_pending(now_ms)
        {
            self.lose_store(chain(&error), now_ms);
        }
        std::mem::take(&mut self.changes)
    }
}

fn failed(what: &str) -> impl FnOnce(ContextError) -> Error + use<> {
    let what = what.to_owned();
    move |source| Error::Store { what, source }
}

/// Returns whether the store did not answer, so that its changes were missed. Other errors concern only the data
/// that was read.
fn is_of_the_store(error: &ContextError) -> bool {
    let ContextError::Store(error) = error else {
        return false;
    };
    matches!(
        error,
        StoreError::Unavailable { .. } | StoreError::Denied { .. } | StoreError::Closed
    )
}
