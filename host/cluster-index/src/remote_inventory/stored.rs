//! The stored form of an inventory. It is a part of the last-known state, so that a restart does not lose the
//! inventories of clusters that are read later, or that cannot be reached.

use std::sync::Arc;

use kindsight_model::{DigName, Gvk, NameError};
use serde::{Deserialize, Serialize};

use super::{Destination, RemoteInventory};
use crate::inventory::{Inventory, ListedResource};
use crate::membership::{Claim, Evidence};

/// An inventory as JSON.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct StoredInventory {
    application: String,
    kind: Arc<str>,
    text: Arc<str>,
    destination: Destination,
    listed: Vec<StoredResource>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_cut: bool,
}

#[derive(Serialize, Deserialize)]
struct StoredResource {
    #[serde(rename = "GVK")]
    gvk: Gvk,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    namespace: Arc<str>,
    name: Arc<str>,
}

impl From<RemoteInventory> for StoredInventory {
    fn from(remote: RemoteInventory) -> Self {
        let Inventory {
            kind,
            claim,
            text,
            destination,
            listed,
            is_cut,
        } = remote.inventory;
        let listed = listed.iter().cloned().map(|resource| StoredResource {
            gvk: resource.gvk,
            namespace: resource.namespace,
            name: resource.name,
        });
        Self {
            application: claim.application.to_string(),
            kind,
            text,
            destination,
            listed: listed.collect(),
            is_cut,
        }
    }
}

impl TryFrom<StoredInventory> for RemoteInventory {
    type Error = NameError;

    fn try_from(stored: StoredInventory) -> Result<Self, NameError> {
        let application: DigName = stored.application.parse()?;
        let listed = stored.listed.into_iter().map(|resource| ListedResource {
            gvk: resource.gvk,
            namespace: resource.namespace,
            name: resource.name,
        });
        Ok(Self {
            inventory: Inventory {
                kind: stored.kind,
                claim: Claim {
                    application,
                    is_of_any_namespace: false,
                    evidence: Evidence::Received(Arc::clone(&stored.text)),
                },
                text: stored.text,
                destination: stored.destination,
                listed: listed.collect(),
                is_cut: stored.is_cut,
            },
        })
    }
}
