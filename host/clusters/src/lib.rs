//! What the clusters said, as a stream of events for each of them.
//!
//! **cluster -> clusters** -> appcontext -> interpreter -> status -> rest
//!
//! A cluster can be a folder of bundle files: [`DirectoryCluster`]. Whatever the source, the same
//! rules hold: one bad object never ends a stream, what was said is not said again while it stays
//! the same, and a source that cannot be reached is tried again for as long as the process runs.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod directory;
mod event;

pub use directory::{
    DirectoryCluster, FILES_MAX, POLL_EVERY, ParseClusterError, QUIET_FOR, QUIET_WITHIN,
};
pub use event::ClusterEvent;
