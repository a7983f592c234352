//! The index of one cluster: objects, owners, application membership, relations and coverage.
//!
//! ```text
//! connection ─init, init_apply, init_done, apply, delete─▶ ClusterIndex ─Report─▶ pipeline
//! ```
//!
//! [`ClusterIndex`] is pure and synchronous. It outlives the connections and sessions of its cluster. Its only user
//! is the crate `kindsight-clusters`, which discovers Kinds, decodes lists and watch events, and sends the decoded
//! objects to the index. The two crates cannot access the internals of each other.
//!
//! # Relation to kube-runtime
//!
//! The methods of the index are named after the events of kube-runtime's `watcher`. The connection half retries as
//! kube-runtime does, with exponential backoff and jitter by the library `backon`. Its times are shorter, because an
//! answer is stale while a Kind is not watched. The `watcher` itself is unsuitable. It decodes typed objects only,
//! but interpreters exist for Kinds that are unknown at compile time. It has no byte limits, so one hostile list
//! could exhaust the memory. It cannot start from a resource version, so each new session would list every object
//! again. If it streams its first list, it has no fallback for servers without streamed lists.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod configured;
mod decoded;
mod index;
mod inventory;
mod kind;
mod labels;
mod membership;
mod pointed_texts;
mod related_rules;
mod remote_inventory;
mod uid;

pub use configured::{ConfiguredApp, ConfiguredApplication};
pub use decoded::{Body, Decoded};
pub use index::{
    ClusterIndex, ConsistentList, Difference, GroupReport, ListedPage, Needed, ObjectName, ScopeId,
};
pub use kind::ApiKind;
pub use labels::Labels;
pub use membership::{ApplicationRule, MembershipRules};
pub use related_rules::{RelatedKinds, RelatedRules};
pub use remote_inventory::{
    Destination, KubeconfigObject, OutgoingInventories, RemoteInventory, UncomparedInventories,
};
