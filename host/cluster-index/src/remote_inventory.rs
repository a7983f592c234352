//! Inventories that list resources of another cluster than their own.

mod stored;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use kindsight_model::{ClusterName, DigName};
use serde::{Deserialize, Serialize};

use crate::inventory::Inventory;
use crate::membership::Evidence;

/// The cluster with the resources of an inventory, as its tool names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Destination {
    /// The cluster of the inventory.
    Own,
    /// The address of the API server.
    Server(Arc<str>),
    /// A name in the configuration of the tool.
    Name(Arc<str>),
    /// A kubeconfig in this object, which kindsight does not read.
    KubeconfigIn(KubeconfigObject),
    /// A kubeconfig in an object without a valid name.
    Kubeconfig,
}

/// An object with a kubeconfig, in the cluster of the inventory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KubeconfigObject {
    /// `Secret` or `ConfigMap`.
    pub kind: Arc<str>,
    /// Its namespace.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
}

impl fmt::Display for KubeconfigObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{}", self.kind, self.namespace, self.name)
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own => f.write_str("the cluster of the inventory"),
            Self::Server(address) => write!(f, "the address {address}"),
            Self::Name(name) => write!(f, "the name {name}"),
            Self::KubeconfigIn(object) => write!(f, "the kubeconfig in {object}"),
            Self::Kubeconfig => f.write_str("a kubeconfig that kindsight does not read"),
        }
    }
}

/// An inventory in one cluster that lists resources of another cluster. The source of the first cluster passes it on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "stored::StoredInventory", try_from = "stored::StoredInventory")]
pub struct RemoteInventory {
    pub(crate) inventory: Inventory,
}

/// The inventories of one cluster that list resources of other clusters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutgoingInventories {
    /// The inventories that the cluster has.
    pub inventories: Arc<[RemoteInventory]>,
    /// The Kinds whose objects have inventories, and whose objects cannot be read now.
    pub unread: BTreeSet<Arc<str>>,
}

/// The reasons why inventories are not compared with the cluster that they list resources of, as text for readers, by
/// the application of the inventory.
pub type UncomparedInventories = HashMap<DigName, Vec<Arc<str>>>;

impl RemoteInventory {
    /// The cluster with the resources.
    pub fn destination(&self) -> &Destination {
        &self.inventory.destination
    }

    /// The application of the inventory.
    pub fn application(&self) -> &DigName {
        &self.inventory.claim.application
    }

    /// Kind of the object with the inventory.
    pub fn kind(&self) -> &Arc<str> {
        &self.inventory.kind
    }

    /// The object with the inventory, as text for readers, such as `Application argocd/shop`. No other object of its
    /// cluster has the same text.
    pub fn object(&self) -> &Arc<str> {
        &self.inventory.text
    }

    /// The object with the inventory, as text for readers. `cluster` has the object.
    pub fn text(&self, cluster: &ClusterName) -> String {
        format!("{} in cluster {cluster}", self.inventory.text)
    }

    /// The inventory for the index of the cluster with the resources. `cluster` has the object with the inventory.
    pub(crate) fn received_from(&self, cluster: &ClusterName) -> Inventory {
        let text: Arc<str> = self.text(cluster).into();
        let mut inventory = self.inventory.clone();
        inventory.claim.evidence = Evidence::Received(Arc::clone(&text));
        inventory.destination = Destination::Own;
        inventory.text = text;
        inventory
    }
}
