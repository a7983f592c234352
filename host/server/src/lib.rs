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
//! server would go on answering with what is no longer true.
//!
//! [`Server::start`] is what `kindsight serve`, the demo, the tests and the benchmarks call.
#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod application;
mod catalog_api;
mod clock;
mod data_dir;
mod engine;
mod error;
mod interpret_api;
mod loaded;
mod server;
mod settings;
mod shadow;
mod tasks;

#[cfg(test)]
mod tests;

pub use application::{Application, ApplicationError};
pub use clock::now_ms;
pub use data_dir::DataDir;
pub use engine::{cache_folder, is_compiler, start_interpreters};
pub use error::{Error, TaskError};
pub use server::{Server, runtime};
pub use settings::Settings;
pub use shadow::shadow_report;
