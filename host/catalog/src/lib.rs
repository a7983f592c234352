//! The catalog of interpreters: loaded, tried, swapped and rolled back while the host serves.
//!
//! ```text
//! IncomingComponent ─▶ load (received, validated, compiled, tried) ─▶ candidate ─▶ live ─▶ previous
//!                                                             │            ▲         │
//!                                                          refused         └ rollback ┴─▶ rolled back
//! ```
//!
//! Every change is made on a copy of the state, assembled as a set, written to the store and only then
//! published: a crash leaves the old or the new, and a refusal leaves what is live alone. Slow work
//! (compiling, trying) is done without the lock; a change takes it for milliseconds.
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
mod circuit_breaker;
mod commands;
mod commit;
mod reconcile;
mod report;
mod settings;
mod shelf;
mod state;

pub use catalog::{Catalog, CatalogLimits, CatalogOptions, Clock};
pub use commands::Shadow;
pub use reconcile::OpenError;
pub use report::{Activation, IncomingComponent, Refusal, Report};
pub use shelf::{Shelf, ShelfError};
pub use state::{Entry, Event, SourceVersions, Version};
