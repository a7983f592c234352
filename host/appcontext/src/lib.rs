//! The `AppContext` library over a store, the records of actions, and a stream of changes.
//!
//! clusters, lifecycle -> **appcontext** -> pipeline
//!
//! The keys under `/context/` have exactly the layout that EMCO orchestrators write, so their
//! contexts are read as they are and ours are read by them. Everything of our own is under
//! `/kindsight/`, with a version in every value. Keys are built and parsed in one module, `keys.rs`.
//!
//! [`AppContexts`] creates, reads and updates contexts; [`Records`] keeps the actions of deployment
//! intent groups and clusters; [`AppContextWatch`] reports which of them changed, by any writer.
//! All calls but the watch block until the store has answered: call them from threads that may
//! block.
//!
//! # Calls of the original
//!
//! Handles are typed, and check that what they are about exists: what is written after it was deleted
//! is [`Error::NotFound`]. A [`Value`] is one key: `get`, `set`, `update` (compare and swap, so that two
//! writers never lose each other's change) and `delete`.
//!
//! | original | here |
//! |---|---|
//! | `InitAppContext`, `CreateCompositeApp` | [`AppContexts::create_composite_app`], or all at once [`AppContexts::create`] |
//! | `InitAppContextWithValue` | [`AppContexts::create_composite_app_as`], [`AppContexts::create_as`] |
//! | `LoadAppContext`, `GetCompositeAppHandle` | [`AppContexts::load`] |
//! | `DeleteCompositeApp` | [`CompositeApp::delete`], [`AppContexts::delete`] |
//! | `AddCompositeAppMeta`, `GetCompositeAppMeta` | [`CompositeApp::meta`] |
//! | `AddApp`, `GetAppHandle`, `DeleteApp` | [`CompositeApp::add_app`], [`CompositeApp::app`], [`App::delete`] |
//! | `AddCluster`, `GetClusterHandle`, `DeleteCluster` | [`App::add_cluster`], [`App::cluster`], [`Cluster::delete`] |
//! | `GetClusterNames` | [`App::clusters`] |
//! | `AddClusterMetaGrp`, `GetClusterMetaHandle`, `DeleteClusterMetaGrpHandle` | [`Cluster::group`] |
//! | `GetClusterGroupMap` | [`App::group_map`] |
//! | `GetClusterStatusHandle` | [`Cluster::bundle`]; [`AppContexts::record_bundle`] to write one |
//! | `AddResource`, `GetResourceHandle` | [`Cluster::add_resource`], [`Cluster::resource`] |
//! | `UpdateResourceValue` | [`Resource::manifest`] |
//! | `GetResourceNames` | [`Cluster::resources`] |
//! | `GetResourceStatusHandle`, `UpdateStatusValue` | [`Resource::status`], [`CompositeApp::status`] |
//! | `AddInstruction`, `GetAppInstruction`, `UpdateInstructionValue`, `DeleteInstruction` | [`CompositeApp::app_order`], [`CompositeApp::app_dependency`] |
//! | `GetAppLevelInstruction` | [`App::dependency`] |
//! | `GetResourceInstruction` | [`Cluster::resource_order`], [`Cluster::resource_dependency`] |
//! | `AddLevelValue`, `GetLevelHandle`, `UpdateValue`, `GetValue` | `level_value` of each handle |
//! | `GetAllHandles` | `all_keys` of each handle |
//! | handle | `key` of each handle and value |
//!
//! # Atomic changes
//!
//! [`AppContexts::create`] writes a context that is larger than one batch of the store in several
//! batches, the root key last, so that no reader sees half of it. If the creator ends early, the remains
//! have no root key, and their mark under `/kindsight/creations/` is not renewed:
//! [`AppContexts::sweep`] removes them. Deleting is one batch on each level. The same batch removes the
//! name from the instructions beside it.
//!
//! # Parts of the reference that are left out
//!
//! - The work queue and intermediate states of rsync (`rsync/…`, `/activecontext/`): ours are in
//!   the records. Such keys of another writer are left alone; `level_value` reads them.
//! - Cached readiness (`resourcesready/`, `resready/`, `ressuccess/`): interpreters judge that from
//!   the bundle. A live object (`definition/`) is written and not read.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod app;
mod bundle;
mod changes;
mod cluster;
mod composite_app;
mod context;
mod creation;
mod deployed;
mod go_json;
mod handle;
mod instruction;
mod keys;
mod members;
mod meta;
mod records;
mod registered;
mod removal;
mod resource;
mod snapshot;
mod status;
mod sweep;
mod value;

use kindsight_model::ContextId;

pub use app::App;
pub use bundle::BUNDLE_STORED_BYTES_MAX;
pub use changes::{AppContextChanges, AppContextWatch};
pub use cluster::Cluster;
pub use composite_app::CompositeApp;
pub use context::{AppContexts, ContextList, Recorded, StatusChange};
pub use creation::{NewApp, NewCluster, NewContext, NewInstance, NewResource};
pub use deployed::{DEPLOYED_CHANGES_MAX, Deployed, Place, WHY_CHARS_MAX};
pub use instruction::{
    AppDependency, AppOrder, AppsDependency, DependsOn, GO, Instruction, ResourceDependency,
    ResourceOrder, ResourceWait,
};
pub use keys::{RESOURCE_NAME_BYTES_MAX, ResourceName};
pub use members::Members;
pub use meta::ContextMeta;
pub use records::{
    Action, AskedWork, INTENT_VERSION, Intent, IntentApp, IntentCondition, IntentDependency,
    Listed, NETWORK_INTENTS, RECORD_VERSION, Record, Records, ResourceDependsOn,
};
pub use registered::{
    KubeconfigPlace, REGISTRATION_VERSION, RegisteredClusters, Registration, RegistrationList,
};
pub use resource::Resource;
pub use snapshot::{
    AppSnapshot, ClusterSnapshot, ContextImages, ContextSnapshot, ContextUpdate, REFERENCES_MAX,
    ResourceSnapshot, StoredBundle,
};
pub use sweep::Creations;
pub use value::{Json, Stored, UPDATE_ATTEMPTS_MAX, Value};

/// Errors of contexts and records, divided by the reaction of the caller.
///
/// An error of a write means that the write was not acknowledged. A write is always applied completely or
/// not at all.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name cannot be part of a key: refuse the request that it came from.
    #[error("`{name}` is not {expected}")]
    Name {
        /// The name as given.
        name: String,
        /// The kind of name that is expected, with its rules.
        expected: &'static str,
    },
    /// The record was written by another release, most likely a newer one: use that release.
    #[error("`{key}` has version {found}, this release knows {known}")]
    UnknownVersion {
        /// The key of the record.
        key: String,
        /// The version it carries.
        found: u64,
        /// The version that is understood.
        known: u64,
    },
    /// The record is damaged: it cannot be used.
    #[error("`{key}` cannot be read: {why}")]
    Unreadable {
        /// The key of the record.
        key: String,
        /// The reason, as a fragment of a sentence.
        why: String,
    },
    /// The context, app, cluster or resource does not exist, or was deleted: nothing was written.
    #[error("`{key}` does not exist")]
    NotFound {
        /// Its key.
        key: String,
    },
    /// It exists with another value: nothing was written. Update it, or delete it first.
    #[error("`{key}` exists already, with another value")]
    Exists {
        /// Its key.
        key: String,
    },
    /// Other writers were faster each time: nothing was written. Try again.
    #[error("`{key}` was changed by others in all of {attempts} attempts")]
    Contended {
        /// The key.
        key: String,
        /// The attempts that were made.
        attempts: usize,
    },
    /// A creation took so long between two writes that it was swept: nothing is left of it. Create
    /// the context again.
    #[error("the creation of the context {id} was given up, because it took too long")]
    Swept {
        /// The id that it would have had.
        id: ContextId,
    },
    /// The text is not JSON.
    #[error("not JSON")]
    NotJson(#[source] serde_json::Error),
    /// JSON cannot express a value, which no type of this crate leads to: report a bug.
    #[error("failed to write a value as JSON")]
    Encode(#[source] serde_json::Error),
    /// The store refused or failed: do what its error asks for.
    #[error(transparent)]
    Store(#[from] kindsight_store::Error),
}

impl Error {
    /// Returns whether another writer was faster: read again, and decide again. Nothing was written.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Store(kindsight_store::Error::Conflict { .. }))
    }

    /// Returns whether the store does not answer: try again later.
    pub fn is_unavailable(&self) -> bool {
        use kindsight_store::Error::{OutcomeUnknown, Unavailable};
        matches!(
            self,
            Self::Store(Unavailable { .. } | OutcomeUnknown { .. })
        )
    }

    /// Returns whether a value or a batch is over a limit of the store: refuse the request that it came from. Nothing
    /// was written.
    pub fn is_too_large(&self) -> bool {
        use kindsight_store::Error::{BatchTooLarge, TooLarge};
        matches!(self, Self::Store(TooLarge { .. } | BatchTooLarge { .. }))
    }
}

/// The result of every call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A stored value that could not be understood. Its neighbours are not affected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The key of the value.
    pub key: String,
    /// The reason, as a fragment of a sentence.
    pub why: String,
}
