//! Notifications of transitions: events about applications, resources and connections, sent to configured receivers.
//!
//! ```text
//! read model ─changes─▶ Observer ─observations─▶ Mailbox ─events─▶ Sender ─HTTP─▶ receiver
//!                                                  │  ▲
//!                                                  ▼  │ after a start
//!                                                 store
//! ```
//!
//! A [`Notifier`] has a *mailbox* for each receiver. The mailbox knows the last state of each subject that the
//! receiver's patterns match. A new state becomes an event when it has held for the configured time. The event waits in
//! the store until the receiver accepts it.
//!
//! # Guarantees
//!
//! - An event is stored before it is sent, and removed after the receiver accepted it. So it is delivered at least once,
//!   and a repetition has the same id.
//! - One request at a time runs for each receiver, in the order of the events. So the events of a subject are in order.
//! - Each receiver has its own thread. A slow receiver delays only itself.
//! - The last state of each subject is stored with its event, so a change during a downtime is noticed at the start.
//! - One server at a time sends: the server with the lease `notify`.
//! - A receiver that does not know ids gets a remark in a repetition, or no repetition: before the first request with an
//!   event, the store gets a mark that the request may have begun.
//!
//! # Writes
//!
//! All changes of the mailboxes are made in memory first, and then written together. Requests wait until the events that
//! they carry are written. The keys below `/kindsight/notify/<receiver>/` are named so that their order is the order in
//! which a part of the changes may be written without loss; [`keys`] describes it.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod backoff;
mod event;
mod handle;
mod keys;
mod limits;
mod mailbox;
mod message;
mod notifier;
mod observer;
mod queue;
mod receiver;
mod sender;
mod settings;
mod signature;
mod subject;
mod unsaved;
mod worker;

#[cfg(test)]
mod tests;

pub use handle::{Counts, Notifications};
pub use limits::{
    ATTEMPTS_MAX, DEAD_LETTERS_MAX, HOLD, HOLD_MAX, KEY_BYTES_MAX, KEY_BYTES_MIN, QUEUE_MAX,
    RECEIVERS_MAX, SUBJECTS_MAX, TIMEOUT, TIMEOUT_MAX,
};
pub use notifier::Notifier;
pub use settings::{
    Filter, ReceiverSettings, ResourcePattern, ResourcePatternError, SettingsError,
};
pub use signature::{SIGNATURE_HEADER, verify};
