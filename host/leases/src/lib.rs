//! Clusters that several hosts share: each cluster has one owner, which watches it.
//!
//! ```text
//! keys of leases ─▶ Table ─▶ Plan ─▶ leases that this host asks for or ends
//!                     └─▶ owners ─▶ readers
//! ```
//!
//! Each host has a key with a lease, and each owned cluster has one ([`Table`]). [`assign`] gives the
//! owner of each cluster from the live hosts. Every host computes the same result, so no host is in
//! charge. [`Plan`] compares the result with the current owners. [`Ownership`] has the clusters that
//! this host owns now.
//!
//! The crate reads no clock and calls no store: the server passes entries, changes and times.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod assignment;
mod host;
mod ownership;
mod plan;
mod table;
mod vacancies;
mod values;

pub use assignment::{LOAD_MAX_PERCENT, assign};
pub use host::{HostId, HostUrl, HostUrlError, WEIGHT_MAX, Weight};
pub use ownership::{Ownership, OwnershipClock};
pub use plan::{GIVE_UP_MAX, Plan, Situation, TAKE_MAX};
pub use table::{Host, Owner, Table};
pub use vacancies::{VACANT_MAX, Vacancies};
pub use values::{Digest, HostValue, Identity};
