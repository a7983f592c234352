//! The catalog of interpreters: loaded, tried, swapped and rolled back while the host serves.
//!
//! ```text
//! IncomingComponent ─▶ load (received, validated, compiled, tried) ─▶ candidate ─▶ live ─▶ previous
//!                                                             │            ▲         │
//!                                                          refused         └ rollback ┴─▶ rolled back
//! ```
//!
//! Every change is made on a copy of the state, assembled as a set, written to the store and only
//! then published. A crash leaves either the old or the new state, and a refusal does not affect
//! live interpreters. Readers use the published snapshot and never wait. Slow work (compiling,
//! trying, validating) is done without a lock, and a change holds the writers' lock only for
//! milliseconds.
//!
//! Hosts that share a store share one catalog: each [follows](Catalog::follow) the changes of the
//! others, and no host overwrites changes that it has not seen.
#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod admit;
mod artifact;
mod catalog;
mod check;
mod circuit_breaker;
mod commands;
mod commit;
mod conditional;
mod declared;
mod directory;
mod follow;
mod incoming;
mod loading;
mod not_stored;
mod promote;
mod reconcile;
mod refused;
mod rollback;
mod set_settings;
mod settings;
mod shadow;
mod snapshot;
mod state;
mod store;
mod takeover;
mod version_order;
mod version_trial;

pub use artifact::{ArtifactSource, follow_artifact, follow_artifacts_in_turn, forget_artifacts};
pub use catalog::{Catalog, CatalogLimits, CatalogOptions, Clock};
pub use check::check_stored;
pub use circuit_breaker::{BreakerState, Counted, Faulting};
pub use conditional::Conditional;
pub use declared::{DeclaredIn, DeclaredSettings};
pub use directory::{ComponentDirectory, watch_directory};
pub use follow::{Panicked, follow_hosts, run_breaker};
pub use incoming::IncomingComponent;
pub use promote::Promote;
pub use reconcile::OpenError;
pub use refused::RefusedComponent;
pub use settings::checked_settings;
pub use shadow::Shadow;
pub use state::{Entry, Event, FORMAT as STATE_FORMAT, SourceVersions, Version};
pub use takeover::{lost_kinds, pattern_text, takeover_lines};
pub use version_trial::KnownObjects;
