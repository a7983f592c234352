//! Real Kubernetes clusters, a real etcd, a MongoDB, an OIDC issuer, a browser, and the image of kindsight, for tests.
//!
//! ```no_run
//! use kindsight_cluster::{Binaries, Binary, Cluster, Etcd, Options};
//! use serde_json::json;
//!
//! // Without Go and without assets, one line with the reason is printed, and the test ends.
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
//! One [`Etcd`] serves any number of [`Cluster`]s: each API server stores its objects below its own
//! prefix. The [`Options`] determine which controllers, scheduler and fake nodes are started. Pods
//! of fake nodes become Running and Ready. The binaries are taken from `KUBEBUILDER_ASSETS`, or are
//! built once from the Go modules beside this crate.
//!
//! A MongoDB (`MongoServer`, with the feature `mongodb`) is a `mongod` if one is available, or else
//! an in-memory server that Java runs. An [`Issuer`] is a script that Node runs. An [`OciRegistry`] is the registry of Debian, and an [`Alertmanager`] is Debian's. A [`ChromeDriver`]
//! controls Chromium through `WebDriver`. A [`Container`] runs an unpacked [`Image`].
//!
//! Every process is stopped when its owner is dropped, even if a test panics. A watchdog stops the
//! processes of a test that was killed.

mod alertmanager;
mod api_server;
mod authority;
mod axe;
mod binaries;
mod build;
mod chromium;
mod client;
mod cluster;
mod container;
mod etcd;
mod image;
mod inventory;
mod issuer;
mod kubeconfig;
#[cfg(feature = "mongodb")]
mod mongodb;
mod npm;
mod options;
mod pods;
mod ports;
mod process;
mod proxy;
mod registry;
mod watch_proxy;
mod watchdog;

pub use alertmanager::Alertmanager;
pub use authority::{Authority, Identity};
pub use axe::axe_or_skip;
pub use binaries::{Binaries, Binary, Unavailable};
pub use chromium::{ChromeDriver, ChromiumPrograms};
pub use client::{Answer, Client, Credentials};
pub use cluster::Cluster;
pub use container::{Container, Mount, Sockets};
pub use etcd::{Etcd, EtcdKeys, KeyValue};
pub use image::Image;
pub use inventory::{Inventory, InventoryFault, InventoryWrite};
pub use issuer::{Issuer, IssuerPrograms};
pub use kubeconfig::write_kubeconfig;
#[cfg(feature = "mongodb")]
pub use mongodb::{MongoDocuments, MongoPrograms, MongoServer, bson};
pub use options::{Options, User};
pub use pods::{BEHAVIOUR_LABEL, Behaviour};
pub use ports::loopback_address;
pub use proxy::Proxy;
pub use registry::{OciRegistry, RegistryAccess};
pub use watch_proxy::WatchProxy;
