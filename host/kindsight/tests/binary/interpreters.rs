//! Interpreters that come and go while the host serves: the real binary, store and HTTP.
//!
//! The stage is an application of cranes, an invented Kind, on one cluster. `tests/guests/crane` is
//! its interpreter as an author would write it; later versions of it are the guest of
//! `tests/guests/hostile`, which says of itself what a test wants.

mod bomb;
mod cache;
mod command;
mod draining;
mod folder;
mod killed;
mod stage;
mod swaps;
