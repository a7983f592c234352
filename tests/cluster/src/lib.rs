//! Real Kubernetes clusters, a real etcd and a MongoDB, for tests.
//!
//! ```no_run
//! use kindsight_cluster::{Binaries, Binary, Cluster, Etcd, Options};
//! use serde_json::json;
//!
//! // Without Go and without assets, one line says why and the test ends here.
//! let Some(binaries) = Binaries::or_skip(Binary::ALL) else {
//!     return;
//! };
//! let etcd = Etcd::start(&binaries);
//! let cluster = Cluster::start(&etcd, &Options::new("edge01"));
//! cluster.apply(&json!({
//!     "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"a": "b"},
//! }));
//! assert!(cluster.get("/api/v1/namespaces/default/configmaps/settings").is_some());
//! ```
//!
//! One [`Etcd`] serves any number of [`Cluster`]s: each API server keeps its objects below a prefix of
//! its own. Controllers, scheduler and fake nodes, whose Pods become Running and Ready, are started as
//! the [`Options`] say. The binaries come from `KUBEBUILDER_ASSETS`, or are built once from the Go
//! modules beside this crate.
//!
//! A MongoDB (`MongoServer`, with the feature `mongodb`) is a `mongod` where there is one, else a server in memory
//! that Java runs.
//!
//! What is dropped is ended, also when a test panics; a watchdog ends what a killed test leaves behind.

mod api_server;
mod authority;
mod binaries;
mod build;
mod client;
mod cluster;
mod etcd;
mod kubeconfig;
#[cfg(feature = "mongodb")]
mod mongodb;
mod options;
mod pods;
mod ports;
mod process;
mod proxy;
mod watchdog;

pub use authority::{Authority, Identity};
pub use binaries::{Binaries, Binary, Unavailable};
pub use client::{Answer, Client, Credentials};
pub use cluster::Cluster;
pub use etcd::{Etcd, EtcdKeys, KeyValue};
pub use kubeconfig::write_kubeconfig;
#[cfg(feature = "mongodb")]
pub use mongodb::{MongoDocuments, MongoPrograms, MongoServer, bson};
pub use options::{Options, User};
pub use pods::{BEHAVIOUR_LABEL, Behaviour};
pub use proxy::Proxy;
