//! Application status: projection, roll-up, queries, answers.
//!
//! appcontext, interpreter -> **status** -> rest
//!
//! Pure and synchronous: no IO, no clock, no store. The pipeline joins expected and reported resources
//! with [`project`] and publishes the views to a [`ReadModel`]; each query is answered from one of its
//! snapshots. Answers borrow from the views; nothing large is copied before it is serialized.
//!
//! ```text
//! Expected + Reported --project--> ClusterView --+
//!                                                +--> ContextView --ReadModel--> Subject --> StatusAnswer
//! lifecycle actions --------------------------------> RecordView  --+
//! ```

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod answer;
mod applications;
mod change;
mod clusters;
mod connection;
mod emco;
mod history;
mod map;
mod moment;
mod problem;
mod projection;
mod query;
mod read_model;
mod record;
mod resource_view;
mod rollup;
mod store;
mod tally;
mod transition;
mod view;

#[cfg(test)]
mod goldens;
#[cfg(test)]
mod samples;

pub use answer::{FAULTS_SHOWN_MAX, ListedNames, NAMES_WRONG_MAX, Resources};
pub use applications::{APPLICATIONS_SHOWN_MAX, ApplicationQuery, Applications};
pub use change::{apply, change};
pub use clusters::Clusters;
pub use connection::{ConnectionView, FactsView};
pub use emco::{EmcoError, EmcoQuery, EmcoResources, EmcoSubject};
pub use history::{
    ApplicationHistory, ApplicationKey, HISTORY_LIMIT, HISTORY_LIMIT_MAX, HistoryAnswer,
    HistoryQuery, Recorded, TRANSITIONS_BYTES_MAX, TRANSITIONS_OF_APPLICATION_MAX,
    TRANSITIONS_OF_RESOURCE_MAX,
};
pub use kindsight_api::clusters::{Connection as ConnectionState, ReportMode};
pub use kindsight_api::history::TransitionCause;
pub use problem::{
    KNOWN_COUNTED_MAX, KNOWN_SHOWN_MAX, QueryError, VALUE_SHOWN_CHARS_MAX, clipped, one_of,
};
pub use projection::{ClusterInput, Expected, LastKnown, Reported, Unseen, project};
pub use query::{
    Instance, RESOURCE_NAME_BYTES_MAX, StatusQuery, cluster_name, dig_name, logical_cloud_name,
};
pub use read_model::{
    Changed, ChangedSubject, Lagged, ReadModel, SUBSCRIPTION_CHANGES_MAX, Snapshot, Subject,
    Subscription,
};
pub use record::{ActionView, RecordView};
pub use resource_view::{Report, ResourceView, Role, Staleness};
pub use rollup::{Desired, Rollup, RollupResult};
pub use store::StoreAway;
pub use transition::{
    Before, PhaseState, ResourceId, TRANSITION_MESSAGE_BYTES_MAX, Transition, awaits_reports,
    object_mark, sorted_anew, transitions,
};
pub use view::{AppView, ClusterView, ContextView};
