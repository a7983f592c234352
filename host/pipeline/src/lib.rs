//! The pipeline: from events to the read model.
//!
//! ```text
//! cluster ─▶ ClusterEvent ─────────────────┐
//! store ───▶ StoreReader ─▶ StoreChanges ──┤
//! states ──▶ StatesNews ───────────────────┴▶ Pipeline ─▶ kept ─▶ judged ─▶ projected ─▶ ReadModel
//! ```
//!
//! One thread at a time runs the pipeline, so a placement is never judged twice at once. The workers of the
//! engine share the judging. Queries never wait for the pipeline: they read the read model. Each change is
//! processed once, and the worst input affects only its own application.
#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod affected;
mod application_state;
mod applications;
mod background_thread;
mod bundle_queue;
mod cluster_state;
mod due;
mod due_queue;
mod event;
mod follow;
mod groups;
mod judge;
mod live_kinds;
mod log_limit;
mod multimap;
mod needs;
mod pipeline;
mod placement;
mod progress;
mod publisher;
mod recheck;
mod recorded;
mod remembered;
mod remotes;
mod run;
mod shared;
mod store_reader;
mod swap;
mod unclaimed;
mod view_change;
mod waiting_reports;

#[cfg(test)]
mod tests;

pub use application_state::ReportedObjects;
pub use bundle_queue::{BUNDLES_WAITING_BYTES_MAX, BUNDLES_WAITING_MAX, BundleQueue};
pub use cluster_state::KIND_GRACE;
pub use event::{Event, QueuedEvent};
pub use follow::{Stores, follow};
pub use pipeline::Pipeline;
pub use progress::Progress;
pub use remembered::{REMEMBERED_BYTES_MAX, REMEMBERED_VERSION, RememberedFile};
pub use run::{PipelineRun, ReportedRequests, RunError, Unsynced};
pub use shared::{GONE_FOR, Timeouts};
pub use store_reader::{StoreChanges, StoreReader};

/// The reason why the pipeline could not load what is stored.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store could not be read.
    #[error("read {what}")]
    Store {
        /// The part that was read.
        what: String,
        /// The store's error.
        source: kindsight_appcontext::Error,
    },
    /// The thread could not be started.
    #[error("start the thread of the pipeline")]
    Thread(#[from] std::io::Error),
}
