//! Tools for authors of interpreters, behind the commands `kindsight plugin …`.
//!
//! ```text
//! template ─▶ Project ─▶ toolchain ─▶ core module ─▶ component ─▶ Examination ─▶ TestReport, findings, Figures
//!                                                                  clusters ──▶ recorded fixtures
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

mod bench;
mod cases;
mod component;
mod coverage;
mod data;
mod junit;
mod language;
mod lint;
mod packed;
mod project;
mod record;
mod sources;
mod test_report;
mod toolchain;

pub use bench::{Figures, measured};
pub use cases::{CaseError, CaseFile, YamlReader};
pub use component::{ComponentError, component_of};
pub use coverage::{Coverage, Covered};
pub use junit::junit;
pub use language::Language;
pub use lint::{Finding, Rule, findings};
pub use project::{KindName, NewProject, Project, ProjectError};
pub use record::{RecordError, Recorded, Recorder};
pub use sources::SourceState;
pub use test_report::{TestReport, Tested};
pub use toolchain::BuildError;
