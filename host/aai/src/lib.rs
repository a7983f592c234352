//! Updates of ONAP's inventory A&AI.
//!
//! ```text
//! read model ─changes─▶ plan: items that A&AI should have ─▶ queue ─▶ client: GET, overlay, PUT or DELETE ─▶ A&AI
//!                                                              └─▶ ledger: items that A&AI acknowledged (store)
//! ```
//!
//! An item is a vserver, or the status of a generic-vnf. For each item, the newest content is sent, by one request after
//! another, so an older content never follows a newer one.
//!
//! - Before an item is created, the ledger notes it, so that an item whose answer was lost is known after a restart.
//! - Each update reads the object first. If A&AI already has the content, nothing is written. So a repeated update has
//!   no second effect.
//! - Absence counts only if the cluster reports it: an item remains if its cluster is not heard, or if the report may
//!   lack objects of its Kind.
//! - After the end of the lease, no write is sent: another server may already write a newer content.
//! - A failure of A&AI stops only this crate, which tries again.
#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod client;
mod document;
mod health;
mod item;
mod ledger;
mod limits;
mod plan;
mod queue;
mod settings;
mod update;
mod updater;

#[cfg(test)]
mod tests;

pub use health::{Health, HealthCounts};
pub use limits::{ITEMS_MAX, REQUESTS_PER_SECOND};
pub use settings::{AaiSettings, CloudPlace};
pub use updater::{IsListed, Updater};
