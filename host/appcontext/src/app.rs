//! An app of a context: its clusters, and what it waits for.

use std::collections::BTreeMap;

use kindsight_model::ClusterName;
use kindsight_store::Entry;

use crate::cluster::Cluster;
use crate::handle::{Handle, handle_methods};
use crate::instruction::{AppDependency, AppOrder, AppsDependency};
use crate::keys::{self, AppKeys, ClusterKey, ContextKey, ContextKeys};
use crate::removal::Removal;
use crate::value::sealed::Sealed;
use crate::value::{Value, retried};
use crate::{Result, go_json};

/// An app of a context. Cheap to clone; it reads and writes the store at each call.
#[derive(Clone)]
pub struct App {
    handle: Handle,
    context: ContextKeys,
    keys: AppKeys,
    name: String,
}

impl App {
    pub(crate) fn new(above: &Handle, context: ContextKeys, keys: AppKeys, name: &str) -> Self {
        Self {
            handle: above.below(keys.root()),
            context,
            keys,
            name: name.to_owned(),
        }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    handle_methods!();

    /// The apps that it waits for.
    pub fn dependency(&self) -> Value<AppDependency> {
        self.handle.value(self.keys.dependency())
    }

    /// The names of its clusters, in order of their keys. A key that names none is left out.
    pub fn clusters(&self) -> Result<Vec<ClusterName>> {
        let names = self.handle.names("cluster")?;
        Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
    }

    /// Adds a cluster that it goes to. No error where it is there already.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) when the app does not exist.
    pub fn add_cluster(&self, name: &ClusterName) -> Result<Cluster> {
        let keys = self.keys.cluster(name);
        let value = go_json::encode(&name.to_string())?;
        self.handle.add(keys.root(), &value)?;
        Ok(Cluster::new(&self.handle, keys, name))
    }

    /// A cluster that it goes to.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) when it does not go there.
    pub fn cluster(&self, name: &ClusterName) -> Result<Cluster> {
        let keys = self.keys.cluster(name);
        self.handle.below(keys.root()).existing()?;
        Ok(Cluster::new(&self.handle, keys, name))
    }

    /// The clusters by the number of their group, in order of their keys; those without one are left
    /// out. One range.
    pub fn group_map(&self) -> Result<BTreeMap<String, Vec<ClusterName>>> {
        let range = self.handle.store.range(&self.handle.key)?;
        let mut groups: BTreeMap<String, Vec<ClusterName>> = BTreeMap::new();
        for entry in &range.entries {
            let key = keys::context_key(self.context.root(), &entry.key);
            let ContextKey::InCluster(_, cluster, ClusterKey::Group) = key else {
                continue;
            };
            let group = serde_json::from_slice::<String>(&entry.value);
            if let (Ok(group), Ok(cluster)) = (group, cluster.parse()) {
                groups.entry(group).or_default().push(cluster);
            }
        }
        Ok(groups)
    }

    /// Removes the app with everything in it, and takes it out of the instructions of its context, at
    /// once; false when it did not exist.
    ///
    /// # Errors
    /// [`Error::Unreadable`](crate::Error::Unreadable) for an instruction that cannot be understood,
    /// [`Error::Contended`](crate::Error::Contended) where others change the instructions all the time.
    pub fn delete(&self) -> Result<bool> {
        retried(&self.handle.key, || {
            let above = self.context.apps();
            let range = self.handle.store.range(&above)?;
            let mut removal = Removal::new(self.handle.deletion());
            let find = |key: &str| range.entries.iter().find(|entry| entry.key == key);
            let order = self.context.app_order();
            removal.take_out(&order, find(&order), |order: &mut AppOrder| {
                Ok(order.remove(&self.name))
            })?;
            let all = self.context.app_dependency();
            removal.take_out(&all, find(&all), |dependency: &mut AppsDependency| {
                Ok(dependency.remove(&self.name))
            })?;
            for entry in range
                .entries
                .iter()
                .filter(|entry| self.is_waited_for(entry))
            {
                removal.take_out(&entry.key, Some(entry), |dependency: &mut AppDependency| {
                    Ok(dependency.remove(&self.name))
                })?;
            }
            removal.apply(&*self.handle.store, &self.handle.key)
        })
    }

    /// Returns whether it is the dependency of another app, which names this one.
    fn is_waited_for(&self, entry: &Entry) -> bool {
        let key = keys::context_key(self.context.root(), &entry.key);
        if !matches!(key, ContextKey::AppDependency(app) if app != self.name) {
            return false;
        }
        let dependency = <AppDependency as Sealed>::decode(&entry.value);
        dependency
            .is_ok_and(|dependency| dependency.apps.iter().any(|other| other.app == self.name))
    }
}
