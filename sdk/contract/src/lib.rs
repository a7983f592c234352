//! The contract between host and interpreters as data: descriptions, fixtures, patterns, limits.
//!
//! Shared by the host and the SDK, so that both read and check the same way: an interpreter that passes
//! its tests natively is accepted by the host. Nothing here knows Wasm, reads a clock or does IO; every
//! reader is total, bounded by [`limits`], and names what is wrong by its place.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

pub mod description;
pub mod fixture;
pub mod json;
pub mod limits;
pub mod pattern;
pub mod phase;
pub mod pointer;
mod reading;
pub mod relation;
pub mod time;
mod words;

pub use description::{Description, HandledKind, Reason, State};
pub use fixture::{Coverage, Expectation, ExpectedFailure, Fixture};
pub use pattern::{KindPattern, Specificity};
pub use phase::Phase;
pub use reading::cut;
pub use relation::{RelatedRule, Relation};
