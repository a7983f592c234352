//! Application status: projection, roll-up, queries, answers.
//!
//! appcontext, interpreter -> **status** -> rest
//!
//! Pure and synchronous: no IO, no clock, no store, no lock. The pipeline joins expected and reported resources
//! with [`project`] and publishes the views to the read model, which keeps the current [`Snapshot`]. Each query
//! is answered from one snapshot. Answers borrow from the views; nothing large is copied before it is serialized.
//!
//! ```text
//! Expected + Reported --project--> ClusterView --+
//!                                                +--> ContextView --Snapshot--> Subject --> StatusAnswer
//! lifecycle actions --------------------------------> RecordView ---+
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
mod cluster_rollup;
mod clusters;
mod connection;
mod emco;
mod history;
mod map;
mod moment;
mod onap_state;
mod phase_counts;
mod problem;
mod projection;
mod query;
mod record;
mod resource_view;
mod rollup;
mod snapshot;
mod store;
mod subject;
mod table;
mod tally;
mod transition;
mod view;

#[cfg(test)]
mod goldens;
#[cfg(test)]
mod samples;

pub use answer::{FAULTS_SHOWN_MAX, ListedNames, NAMES_WRONG_MAX, Resources};
pub use applications::{
    APPLICATIONS_SHOWN_MAX, ApplicationLookup, ApplicationPhases, ApplicationQuery, Applications,
};
pub use change::{apply, change};
pub use cluster_rollup::ClusterRollup;
pub use clusters::Clusters;
pub use connection::{ClusterOwner, ConnectionView};
pub use emco::{EmcoError, EmcoQuery, EmcoResources, EmcoSubject, emco_ready_status};
pub use history::{
    ApplicationHistory, ApplicationKey, HISTORY_LIMIT, HISTORY_LIMIT_MAX, Histories, HistoryAnswer,
    HistoryChange, HistoryPosition, HistoryQuery, Recorded, SelectedTransitions,
    TRANSITIONS_BYTES_MAX, TRANSITIONS_OF_APPLICATION_MAX, TRANSITIONS_OF_RESOURCE_MAX,
};
pub use kindsight_api::clusters::Connection as ConnectionState;
pub use kindsight_api::history::TransitionCause;
pub use onap_state::onap_state;
pub use phase_counts::PhaseCounts;
pub use problem::{
    KNOWN_COUNTED_MAX, KNOWN_SHOWN_MAX, QueryError, VALUE_SHOWN_CHARS_MAX, clipped, one_of,
};
pub use projection::{
    ClusterInput, Expected, LastKnown, Reported, Unseen, Why, match_objects, project,
};
pub use query::{
    Instance, RESOURCE_NAME_BYTES_MAX, StatusQuery, cluster_name, dig_name, logical_cloud_name,
};
pub use record::{ActionView, RecordView};
pub use resource_view::{Report, ResourceView, Role, Staleness};
pub use rollup::{Desired, Rollup, RollupResult};
pub use snapshot::{ChangedSubject, Missing, Snapshot, VisibleSnapshot};
pub use store::StoreAway;
pub use subject::{Subject, SubjectVersion};
pub use table::ResourceTable;
pub use transition::{
    Before, PhaseState, ResourceId, TRANSITION_MESSAGE_BYTES_MAX, Transition, awaits_reports,
    mark_left, object_mark, transitions,
};
pub use view::{AppView, ClusterView, ContextView};
