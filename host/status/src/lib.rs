//! How the whole fares: projection, roll-up, queries, response.
//!
//! appcontext, interpreter -> **status** -> rest
//!
//! Pure and synchronous: no IO, no clock, no store. The wiring puts what it knows together with
//! [`project`], shows it on a [`Board`], and every query is answered from there, from one published
//! state. Answers borrow from the views; nothing large is copied before it is written out.
//!
//! ```text
//! Expected + Reported --project--> ClusterView --+
//!                                                +--> ContextView --Board--> Subject --> Answer
//! what was done to it ------------------------------> RecordView  --+
//! ```

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod answer;
mod board;
mod map;
mod projection;
mod query;
mod record;
mod response;
mod rollup;
mod tally;
mod view;

#[cfg(test)]
mod goldens;
#[cfg(test)]
mod samples;

pub use board::{Board, KNOWN_SHOWN_MAX, Shown, Subject};
pub use projection::{ClusterInput, Expected, Reported, project};
pub use query::{
    Instance, Output, Problem, QueryError, QueryType, RESOURCE_NAME_BYTES_MAX, StatusQuery,
    VALUE_SHOWN_CHARS_MAX, cluster_name, dig_name,
};
pub use record::{ActionView, RecordView};
pub use response::{
    Action, Answer, App, Cluster, Condition, Detail, FAULTS_SHOWN_MAX, Instances, Moment,
    Readiness, Reason, Resource, State, Status,
};
pub use rollup::{Fare, Rollup, Wanted};
pub use view::{AppView, ClusterView, ContextView, Report, ResourceView};
