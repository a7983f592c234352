//! Limits of the data that is read.

use std::time::Duration;

/// Maximum number of documents with a state. Documents beyond it, in the order of their ids, are
/// not read.
pub const DOCUMENTS_MAX: usize = 50_000;

/// Maximum size of one document with a state, in bytes of its requested fields.
pub const DOCUMENT_BYTES_MAX: usize = 1024 * 1024;

/// Maximum total size of all documents with a state, in bytes.
pub const STATES_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Maximum number of actions of one state. The last actions are kept.
pub const ACTIONS_MAX: usize = 1000;

/// Maximum number of documents in one answer of MongoDB.
pub(crate) const PAGE_DOCUMENTS_MAX: u32 = 500;

/// Maximum number of documents whose faults are logged individually. Other documents with faults
/// are only counted.
pub(crate) const FAULTS_MAX: usize = 100;

/// Maximum number of changes of one poll that are sent individually. If there are more, all states
/// are sent.
pub(crate) const CHANGES_MAX: usize = 500;

/// Maximum length of the text of a fault or a reason, in bytes.
pub(crate) const REASON_BYTES_MAX: usize = 500;

/// Maximum length of a document's value in the text of a fault, in bytes.
pub(crate) const SHOWN_BYTES_MAX: usize = 60;

/// The longest time until an unavailable MongoDB is tried again, plus a random part of up to a
/// half.
pub(crate) const RETRY_MAX: Duration = Duration::from_secs(20);
