//! The read model: the published state that answers queries, and the stream of its changes.
//!
//! ```text
//! pipeline ──▶ ReadModelWriter ──▶ Snapshot, Histories ──▶ ReadModel ──▶ VisibleModel ──▶ rest
//!                                                              └──▶ writer of last-known state
//!                                          └──Changed──▶ Subscription
//! ```
//!
//! Reading and writing are different types. A [`ReadModel`] is a cheap handle that only reads. A
//! [`ReadModelWriter`] cannot be cloned, so a read model has one writer.
//!
//! A query holds a lock only while it clones a few [`Arc`](std::sync::Arc)s, and builds its answer from
//! these. Later changes do not affect the answer.
#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod published;
mod reader;
mod subscription;
mod writer;

#[cfg(test)]
mod tests;

pub use reader::{ReadModel, VisibleModel};
pub use subscription::{Changed, ChangedSubjects, Lagged, SUBSCRIPTION_CHANGES_MAX, Subscription};
pub use writer::ReadModelWriter;
