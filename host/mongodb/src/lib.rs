//! States that an orchestrator keeps in MongoDB: read, and followed by a poll.
//!
//! ```text
//! MongoDB ─▶ documents with a stateInfo ─▶ StateInfo by subject ─▶ differences ─▶ StatesNews
//! ```
//!
//! The only crate that names the driver of MongoDB. Nothing is written: a user with the role `read` suffices.
//! A document that cannot be read keeps its last state and costs no other one its own; a MongoDB that is away
//! is tried for ever.
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
