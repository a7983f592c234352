//! gRPC of orchestrators: the server of rsync, and the client of controllers.
//!
//! access -> **grpc** -> status-notify, server
//!
//! ```text
//! orchestrator ──installapp──▶ Listener ─▶ Rsync ─▶ ContextWork
//!                                 │          └ role `deployer`, audit log
//!                                 └ loopback address, or TLS with certificates of clients
//!
//! lifecycle ─▶ Controllers ──contextupdate──▶ controllers
//! ```
//!
//! An orchestrator of EMCO writes an `AppContext` into its etcd, and calls rsync with the ID of the context. This crate
//! answers these calls. [`ContextWork`], which the server implements, records the work. The reverse direction is
//! [`Controllers`]: kindsight has written a context, and controllers change it. The crate reads and writes no context.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod client;
mod controllers;
mod limits;
mod listener;
pub mod proto;
mod rsync;

pub use client::Client;
pub use controllers::{
    Controller, ControllerFailed, ControllerKind, ControllerSettings, ControllerSettingsError,
    ControllerTls, Controllers,
};
pub use limits::{
    CALL_SECONDS_MAX, CALLS_MAX, CONNECTION_CALLS_MAX, CONNECTIONS_MAX, HANDSHAKE_SECONDS_MAX,
    MESSAGE_BYTES_MAX,
};
pub use listener::{Listener, ListenerLimits};
pub use rsync::{ContextWork, Rsync, WorkError, WorkSubject};
