//! Interpreters loaded, swapped and removed while the server runs: the real binary, store and HTTP.
//!
//! The fixture is an application of cranes, an invented Kind, on one cluster. `tests/guests/crane` is
//! its interpreter as an author would write it; later versions of it are the guest of
//! `tests/guests/hostile`, whose description is configured by a test.

mod bomb;
mod cache;
mod command;
mod compared;
mod draining;
mod folder;
mod killed;
mod shadow;
pub(crate) mod stage;
mod swaps;
