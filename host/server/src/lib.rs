//! The server: every part of the host, started from one value of settings.
//!
//! ```text
//! clusters ─▶ events ─▶ pipeline ─▶ read model ─▶ rest
//! store ────▶            │                         │
//! catalog ◀──────────────┼─ commands, judging ─────┘
//!    └─ published set ───▶ (swapped)
//! ```
//!
//! Only this crate depends on all others, spawns the tasks, and reads the clock. It starts tasks that write before
//! tasks that read, and stops them in reverse order. If one task ends early, the server ends, because a partial server
//! would answer with outdated state.
//!
//! [`Server::start`] is called by `kindsight serve`, the demo, the tests and the benchmarks.
#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod argo_cm;
mod backup;
mod catalog_api;
mod clock;
mod cluster_changes;
mod comparison;
mod confirm_api;
mod data_dir;
mod demo;
mod documents;
mod engine;
mod error;
#[cfg(test)]
mod fake_api_server;
mod health_scopes;
mod inspection;
mod interpret_api;
mod interpreter_sources;
mod inventory;
mod k8splugin_api;
mod known_objects;
mod lifecycle;
mod listeners;
mod loaded;
mod metrics;
mod missing_rules;
mod mongodb;
mod notifications;
mod open_files;
mod other_systems;
mod push_api;
mod readiness;
mod registry;
mod replica;
mod rsync;
mod run;
mod server;
mod settings;
mod shadow;
mod sharing;
mod source_threads;
mod sources;
mod status_notify;
mod stop;
mod store_check;
mod sweeping;
mod tasks;
mod telemetry;
mod tls;
mod token_review;
mod wait_api;

#[cfg(test)]
mod tests;

/// The crates with the types of [`Settings`], and the crate that answers queries. With these exports, a program that
/// embeds or follows a server needs only this crate.
pub use {
    kindsight_aai as aai, kindsight_access as access, kindsight_catalog as catalog,
    kindsight_clusters as clusters, kindsight_grpc as grpc, kindsight_interpreter as interpreter,
    kindsight_k8splugin as k8splugin, kindsight_leases as leases, kindsight_notify as notify,
    kindsight_outgoing as outgoing, kindsight_registry as oci, kindsight_rest as rest,
    kindsight_status as status, kindsight_store as store,
};

pub use argo_cm::{ArgoCm, ArgoCmError};
pub use backup::{BackupContent, BackupError, StoppedServer, back_up, restore};
pub use clock::now_ms;
pub use comparison::{ComponentComparer, ComponentFile};
pub use data_dir::{DataDir, StoreSettings};
pub use demo::{Demo, Monitors};
pub use documents::{Document, Group, read_documents};
pub use engine::{
    LocalInterpreters, OnLoaded, SettingsByName, cache_folder, is_compiler, start as start_engine,
    start_interpreters,
};
pub use error::{ApplicationError, Error, TaskError};
pub use health_scopes::{InstallDefinitionError, InstalledDefinition, install_health_scopes};
pub use inspection::inspect_component;
pub use kindsight_model::PARSED_BYTES_MAX;
pub use kindsight_pipeline::Timeouts;
pub use lifecycle::{DeployError, Deployer};
pub use missing_rules::RuleGaps;
pub use mongodb::{MONGODB_POLL, MongodbSettings, MongodbUri};
pub use registry::RegistrySettings;
pub use replica::ReplicaSettings;
pub use run::run;
pub use server::Server;
pub use settings::{ClusterChanges, Insecure, MetricsSettings, Settings};
pub use sharing::{PeerSettings, SharingSettings};
pub use stop::StopSignals;
pub use store_check::{CheckedStore, check_store};
pub use telemetry::{LogFormat, start_local_logging, start_logging};
pub use token_review::{ReviewClusterError, TokenReviews};
