//! Reports that an agent pushes to the server.
//!
//! ```text
//! ClusterEvent ─▶ Ledger ─lines─▶ Spool ─gzip─▶ HTTPS ─▶ Intake ─ClusterEvent─▶ PushedCluster
//!        Needs ◀───────────────────── AgentNeeds ◀────── PushedNeeds ◀──────────────┘
//! ```
//!
//! The boundary between `kindsight-clusters` and the pipeline is the boundary on the wire: events go up, needs go down.
//! [`Pusher`] is the half of the agent, [`Intakes`] is the half of the server. [`wire`] has the lines of a body.
//!
//! # Numbers
//!
//! An agent begins an *epoch* with a complete report, and numbers the bodies of the epoch from 0. The server takes the
//! bodies in this order. It names the number that it expects in each answer, and refuses any other number. After a
//! lost answer, the agent continues with the expected number. A server that restarted knows no epoch, so the agent
//! begins another one. At the end of a complete report, the server withdraws the subjects that the report lacks.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod agent;
mod intake;
pub mod wire;

#[cfg(test)]
mod tests;

pub use agent::{Credentials, PushOptions, PushSetupError, Pusher, SPOOL_BYTES_MAX};
pub use intake::{
    BODY_BYTES_MAX, BODY_OBJECTS_MAX, BODY_REPEATS_MAX, BODY_SIGNALS_MAX, BODY_UNREADABLE_MAX,
    CLUSTER_BYTES_MAX, CLUSTER_OBJECTS_MAX, COVERAGE_BYTES_MAX, COVERAGE_ROWS_MAX, Intakes,
    PUSH_DECODED_BYTES_MAX,
};
