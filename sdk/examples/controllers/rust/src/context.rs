//! An `AppContext`, as EMCO and kindsight store it.
//!
//! ```text
//! /context/<id>/app/<app>/cluster/<provider>+<name>/!@#metaGrp/                  the number of the group of clusters
//! /context/<id>/app/<app>/cluster/<provider>+<name>/resource/<name>+<Kind>/      the manifest: YAML in a JSON string
//! ```

use std::collections::BTreeMap;

use etcd_client::{Client, Compare, CompareOp, DeleteOptions, GetOptions, Txn, TxnOp};
use serde_json::{Value, json};

use crate::AnyError;

/// The last part of the key with the group of a cluster.
const GROUP: &str = "!@#metaGrp/";

/// The keys of a context.
pub(crate) struct Context {
    prefix: String,
    values: BTreeMap<String, Vec<u8>>,
}

/// A change of the keys of a context.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Set the value of a key.
    Put(String, String),
    /// Delete all keys with this prefix.
    DeletePrefix(String),
}

impl Context {
    pub(crate) async fn read(etcd: &mut Client, id: &str) -> Result<Self, AnyError> {
        let prefix = format!("/context/{id}/");
        let options = GetOptions::new().with_prefix();
        let answer = etcd.get(prefix.clone(), Some(options)).await?;
        let mut values = BTreeMap::new();
        for pair in answer.kvs() {
            values.insert(pair.key_str()?.to_owned(), pair.value().to_vec());
        }
        if values.is_empty() {
            return Err(format!("there is no AppContext {id}").into());
        }
        Ok(Self { prefix, values })
    }

    /// Removes all clusters but one of each group of clusters of each app.
    pub(crate) fn choose(&self, preferred: &str) -> Vec<Change> {
        // The clusters by app and number of the group.
        let mut groups: BTreeMap<(&str, &[u8]), Vec<&str>> = BTreeMap::new();
        for (key, number) in &self.values {
            let place = key.strip_suffix(GROUP).and_then(|key| self.place(key));
            if let Some((app, cluster, "")) = place {
                groups.entry((app, number)).or_default().push(cluster);
            }
        }
        let mut changes = Vec::new();
        for ((app, _), clusters) in groups {
            let chosen = clusters.iter().find(|cluster| **cluster == preferred);
            let chosen = chosen.or(clusters.first()).copied();
            let others = clusters
                .into_iter()
                .filter(|cluster| Some(*cluster) != chosen);
            let delete = |cluster| format!("{}app/{app}/cluster/{cluster}/", self.prefix);
            changes.extend(others.map(delete).map(Change::DeletePrefix));
        }
        changes
    }

    /// Adds an annotation to each manifest.
    pub(crate) fn annotate(&self, name: &str, value: &str) -> Result<Vec<Change>, AnyError> {
        let mut changes = Vec::new();
        for (key, stored) in &self.values {
            let Some((_, _, below)) = self.place(key) else {
                continue;
            };
            let resource = below.strip_prefix("resource/");
            let resource = resource.and_then(|resource| resource.strip_suffix('/'));
            // Keys below a resource have another part.
            let Some(resource) = resource.filter(|resource| !resource.contains('/')) else {
                continue;
            };
            let yaml: String = serde_json::from_slice(stored)?;
            let mut manifest: Value = serde_saphyr::from_str(&yaml)
                .map_err(|error| format!("the manifest of {resource} is not YAML: {error}"))?;
            manifest["metadata"]["annotations"][name] = json!(value);
            // JSON is YAML.
            let manifest = serde_json::to_string(&manifest.to_string())?;
            changes.push(Change::Put(key.clone(), manifest));
        }
        Ok(changes)
    }

    /// The app, the cluster, and the rest of a key.
    fn place<'a>(&self, key: &'a str) -> Option<(&'a str, &'a str, &'a str)> {
        let below = key.strip_prefix(&*self.prefix)?.strip_prefix("app/")?;
        let (app, below) = below.split_once("/cluster/")?;
        let (cluster, below) = below.split_once('/')?;
        Some((app, cluster, below))
    }

    /// Stores all changes, or none if a value changed since it was read. etcd accepts 128 changes at a time.
    pub(crate) async fn apply(
        &self,
        etcd: &mut Client,
        changes: Vec<Change>,
    ) -> Result<(), AnyError> {
        let mut conditions = Vec::new();
        let mut operations = Vec::new();
        for change in changes {
            match change {
                Change::Put(key, value) => {
                    let before = self.values.get(&key).cloned().unwrap_or_default();
                    conditions.push(Compare::value(key.clone(), CompareOp::Equal, before));
                    operations.push(TxnOp::put(key, value, None));
                }
                Change::DeletePrefix(prefix) => {
                    let options = DeleteOptions::new().with_prefix();
                    operations.push(TxnOp::delete(prefix, Some(options)));
                }
            }
        }
        let transaction = Txn::new().when(conditions).and_then(operations);
        if etcd.txn(transaction).await?.succeeded() {
            Ok(())
        } else {
            Err("the AppContext was changed by another writer".into())
        }
    }
}
