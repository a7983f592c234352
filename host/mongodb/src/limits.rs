//! Limits of what is read.

use std::time::Duration;

/// The most documents with a state that are read; those after them, by their ids, are left out.
pub const DOCUMENTS_MAX: usize = 50_000;

/// The largest document with a state, in bytes, of what is asked for of it.
pub const DOCUMENT_BYTES_MAX: usize = 1024 * 1024;

/// The most bytes of all documents with a state at a time.
pub const STATES_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The most actions of one state: the last ones are kept.
pub const ACTIONS_MAX: usize = 1000;

/// The most documents of one answer of MongoDB.
pub(crate) const PAGE_DOCUMENTS_MAX: u32 = 500;

/// The most documents with faults that are told apart; of others their number is told.
pub(crate) const FAULTS_MAX: usize = 100;

/// The most changes of one poll that are told one by one; of more, everything is told anew.
pub(crate) const CHANGES_MAX: usize = 500;

/// The longest text of a fault or a reason, in bytes.
pub(crate) const REASON_BYTES_MAX: usize = 500;

/// The longest value of a document that a fault repeats, in bytes.
pub(crate) const SHOWN_BYTES_MAX: usize = 60;

/// The longest time until a MongoDB that is away is tried again, up to a half longer at random.
pub(crate) const RETRY_MAX: Duration = Duration::from_secs(20);
