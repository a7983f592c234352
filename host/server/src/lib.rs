//! The server: every part of the host, started from one value of settings.
//!
//! ```text
//! clusters ─▶ events ─▶ pipeline ─▶ read model ─▶ rest
//! store ────▶            │                         │
//! catalog ◀──────────────┼─ commands, judging ─────┘
//!    └─ published set ───▶ (swapped)
//! ```
//!
//! The only crate that names all others, spawns the tasks, and reads the clock. It starts what is
//! written before what is read, stops in reverse, and ends where one of its tasks ends early: half a
//! server would go on answering with outdated state.
//!
//! [`Server::start`] is called by `kindsight serve`, the demo, the tests and the benchmarks.
#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod catalog_api;
mod clock;
mod comparison;
mod data_dir;
mod demo;
mod documents;
mod engine;
mod error;
mod interpret_api;
mod loaded;
mod mongodb;
mod open_files;
mod run;
mod server;
mod settings;
mod shadow;
mod sources;
mod stop;
mod store_check;
mod sweeping;
mod tasks;
mod telemetry;

#[cfg(test)]
mod tests;

/// The crates whose types [`Settings`] is made of, and that which answers queries, for those who embed a server
/// or follow one and name this crate alone.
pub use {
    kindsight_catalog as catalog, kindsight_clusters as clusters,
    kindsight_interpreter as interpreter, kindsight_rest as rest, kindsight_status as status,
    kindsight_store as store,
};

pub use clock::now_ms;
pub use comparison::{ComponentComparer, ComponentFile};
pub use data_dir::{DataDir, StoreSettings};
pub use demo::Demo;
pub use documents::{Document, Group, read_documents};
pub use engine::{
    LocalInterpreters, SettingsByName, cache_folder, is_compiler, start_interpreters,
};
pub use error::{ApplicationError, Error, TaskError};
pub use mongodb::{MONGODB_POLL, MongodbSettings, MongodbUri};
pub use run::run;
pub use server::Server;
pub use settings::{ClusterChanges, Settings};
pub use stop::StopSignals;
pub use store_check::{CheckedStore, check_store};
pub use telemetry::{LogFormat, start_local_logging, start_logging};
