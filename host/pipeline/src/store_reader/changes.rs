//! Changes of the stores, as the reader passes them to the pipeline.

use kindsight_appcontext::ContextSnapshot;
use kindsight_model::{ContextId, RecordSubject};
use kindsight_status::RecordView;
use kindsight_store::Connection;
use tokio::sync::OwnedSemaphorePermit;

use super::records::ReadRecords;

/// The contexts and records that changed in one step, each of them once.
#[derive(Debug, Default)]
pub struct StoreChanges {
    pub(crate) contexts: Vec<(ContextId, ContextChange)>,
    pub(crate) records: Vec<RecordsChange>,
    /// The connection to the store of contexts, if it changed. Changes after an outage are in the same step as the
    /// end of the outage.
    pub(crate) connection: Option<Connection>,
    /// Returned when the pipeline has handled the changes: the reader collects further changes meanwhile.
    pub(crate) permit: Option<OwnedSemaphorePermit>,
}

/// A change of a context.
#[derive(Debug)]
pub(crate) enum ContextChange {
    Read(Box<ContextSnapshot>),
    Deleted,
    /// The context could not be read, for this reason. Its last known state stays.
    Unreadable(String),
    /// The context can be read again, and is as it was before.
    Readable,
}

/// A change of records.
#[derive(Debug)]
pub(crate) enum RecordsChange {
    /// The record of a subject; `None` if it was deleted.
    One(RecordSubject, Option<RecordView>),
    /// All records. Others do not exist any more.
    All(ReadRecords),
}

impl StoreChanges {
    pub(crate) fn is_empty(&self) -> bool {
        self.contexts.is_empty() && self.records.is_empty() && self.connection.is_none()
    }

    /// Adds the permit that is returned when the changes were handled.
    pub(crate) fn permitted_by(self, permit: OwnedSemaphorePermit) -> Self {
        Self {
            permit: Some(permit),
            ..self
        }
    }
}
