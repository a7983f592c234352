//! Health scopes of OAM (`core.oam.dev`): the health of an application that an object of the Kind `HealthScope` selects.
//!
//! ```text
//! API server ─▶ HealthScope ─▶ ScopeBook ─StatusUpdate─▶ sender ─▶ API server
//! read-model ─▶ ContextView ──────┘ └─▶ ScopeHealths ─▶ rest, metrics
//! ```
//!
//! The index of the cluster selects the workloads of a scope. The pipeline judges them and rolls them up, as for any other
//! application. This crate turns the result into the words of OAM. It has no I/O and no clock.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod body;
mod book;
mod health;
mod healths;
mod scope;

pub use book::{ScopeBook, StatusUpdate};
pub use health::{Health, ScopeStatus, WORKLOADS_SHOWN_MAX, WorkloadHealth};
pub use healths::{ClusterHealths, FoundScope, ScopeHealths};
pub use scope::{HealthScope, ScopePlace, WorkloadRef};

/// API version of the Kind.
pub const API_VERSION: &str = "core.oam.dev/v1alpha2";
/// The Kind.
pub const KIND: &str = "HealthScope";
/// The plural in the paths of the API.
pub const PLURAL: &str = "healthscopes";
/// Maximum number of scopes of one cluster. The status of further ones, in order of their names, is not written.
pub const SCOPES_MAX: usize = 1_000;
