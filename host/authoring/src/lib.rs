//! Tools for authors of interpreters, behind the commands `kindsight plugin …`.
//!
//! ```text
//! template ─▶ Project ─▶ toolchain ─▶ core module ─▶ component ─▶ examination: fixtures, cases, lints, figures
//! ```
//!
//! The crate contains everything that a project needs from kindsight: the SDK in Rust, the contract, the templates and
//! an adapter in place of WASI. The compilers are the author's. The command line is the only caller, and prints.
#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod component;
mod packed;

pub use component::{ComponentError, component_of};
