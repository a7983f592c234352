//! States that an orchestrator keeps in MongoDB, read by polling.
//!
//! ```text
//! MongoDB ─▶ documents with a stateInfo ─▶ StateInfo by subject ─▶ differences ─▶ StatesNews
//! ```
//!
//! Only this crate uses the MongoDB driver. It writes nothing: a user with the role `read` is
//! sufficient. If a document cannot be read, its last state is kept and other documents are not
//! affected. If MongoDB is unavailable, connecting is tried without end.
#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod connection;
mod document;
mod failure;
mod faults;
mod following;
mod layout;
mod limits;
mod options;
mod reading;
mod states;

pub use following::StatesSource;
pub use limits::{ACTIONS_MAX, DOCUMENT_BYTES_MAX, DOCUMENTS_MAX, STATES_BYTES_MAX};
pub use options::{Error, MongodbOptions};
