//! The catalog of interpreters: loaded, tried, swapped and rolled back while the host serves.
//!
//! ```text
//! IncomingComponent ─▶ load (received, validated, compiled, tried) ─▶ candidate ─▶ live ─▶ previous
//!                                                             │            ▲         │
//!                                                          refused         └ rollback ┴─▶ rolled back
//! ```
//!
//! Every change is made on a copy of the state, assembled as a set, written to the store and only then
//! published: a crash leaves the old or the new, and a refusal leaves what is live alone. Readers see
//! the published snapshot and wait for nobody; slow work (compiling, trying, validating) is done with
//! nothing locked, and a change takes the lock of writers for milliseconds.
//!
//! Hosts that share a store share one catalog: each [follows](Catalog::follow) what the others change,
//! and none overwrites what it has not seen.
#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod admit;
mod catalog;
mod check;
mod circuit_breaker;
mod commands;
mod commit;
mod conditional;
mod directory;
mod follow;
mod incoming;
mod loading;
mod not_stored;
mod reconcile;
mod refused;
mod set_settings;
mod settings;
mod snapshot;
mod state;
mod store;
mod takeover;

pub use catalog::{Catalog, CatalogLimits, CatalogOptions, Clock};
pub use check::check_stored;
pub use circuit_breaker::{BreakerState, Faulting};
pub use commands::Shadow;
pub use conditional::Conditional;
pub use directory::{ComponentDirectory, watch_directory};
pub use follow::{Panicked, follow_hosts, run_breaker};
pub use incoming::IncomingComponent;
pub use reconcile::OpenError;
pub use refused::RefusedComponent;
pub use settings::checked_settings;
pub use state::{Entry, Event, SourceVersions, Version};
pub use takeover::{lost_kinds, pattern_text, takeover_lines};
