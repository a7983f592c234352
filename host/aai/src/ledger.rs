//! The ledger: what A&AI acknowledged, in the store of the server.

use std::sync::Arc;

use kindsight_model::{ClusterName, DigName};
use kindsight_store::{Batch, Result, Store};
use serde::{Deserialize, Serialize};

use crate::item::{Content, ItemKey};

/// The prefix of all keys.
const PREFIX: &str = "/kindsight/aai/items/";

/// One entry of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The application that the item belongs to.
    pub(crate) application: DigName,
    /// The cluster of a vserver; `None` for a VNF.
    pub(crate) cluster: Option<ClusterName>,
    /// The acknowledged content; `None` if the first write was not acknowledged, so A&AI may have the item or not.
    pub(crate) content: Option<Content>,
}

/// An entry as it is stored.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct StoredEntry {
    item: ItemKey,
    application: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cluster: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<Content>,
}

/// The ledger in a store. All functions block.
#[derive(Clone)]
pub(crate) struct Ledger(pub(crate) Arc<dyn Store>);

impl Ledger {
    /// All entries. An entry that cannot be read is logged and left out.
    pub(crate) fn read(&self) -> Result<Vec<(ItemKey, Entry)>> {
        let entries = self.0.range(PREFIX)?.entries.into_iter();
        let read = |entry: kindsight_store::Entry| {
            let read = decoded(&entry.value);
            if read.is_none() {
                tracing::warn!(key = entry.key, "an entry of the A&AI ledger is unreadable");
            }
            read
        };
        Ok(entries.filter_map(read).collect())
    }

    /// Writes an entry durably.
    pub(crate) fn put(&self, key: &ItemKey, entry: &Entry) -> Result<()> {
        let stored = StoredEntry {
            item: key.clone(),
            application: entry.application.to_string(),
            cluster: entry.cluster.as_ref().map(ToString::to_string),
            content: entry.content.clone(),
        };
        // Texts and enums always have a JSON.
        let value = serde_json::to_vec(&stored).unwrap_or_default();
        let batch = Batch::new().put(stored_key(key), value);
        self.0.apply(&batch).map(drop)
    }

    /// Removes an entry durably.
    pub(crate) fn remove(&self, key: &ItemKey) -> Result<()> {
        let batch = Batch::new().delete(stored_key(key));
        self.0.apply(&batch).map(drop)
    }
}

fn stored_key(key: &ItemKey) -> String {
    format!("{PREFIX}{}", key.path())
}

fn decoded(value: &[u8]) -> Option<(ItemKey, Entry)> {
    let stored: StoredEntry = serde_json::from_slice(value).ok()?;
    let mut parts = stored.application.splitn(4, '/');
    let mut part = || parts.next();
    let application = DigName::new(part()?, part()?, part()?, part()?).ok()?;
    let cluster = stored.cluster.map(|name| name.parse().ok());
    let entry = Entry {
        application,
        cluster: match cluster {
            Some(cluster) => Some(cluster?),
            None => None,
        },
        content: stored.content,
    };
    Some((stored.item, entry))
}
