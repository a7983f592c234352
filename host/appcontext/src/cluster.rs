//! An app in one cluster: its resources, their instructions, and what was reported on them.

use kindsight_model::{ClusterName, Connectivity};

use crate::handle::{Handle, handle_methods};
use crate::instruction::{ResourceDependency, ResourceOrder};
use crate::keys::{ClusterKeys, ResourceName};
use crate::resource::Resource;
use crate::value::Value;
use crate::{Result, go_json};

/// An app of a context in one cluster. Cheap to clone; it reads and writes the store at each call.
#[derive(Clone)]
pub struct Cluster {
    handle: Handle,
    keys: ClusterKeys,
    name: ClusterName,
}

impl Cluster {
    pub(crate) fn new(above: &Handle, keys: ClusterKeys, name: &ClusterName) -> Self {
        Self {
            handle: above.below(keys.root()),
            keys,
            name: name.clone(),
        }
    }

    /// The name.
    pub fn name(&self) -> &ClusterName {
        &self.name
    }

    handle_methods!();

    /// The number of the group of clusters, if placement chose one of several.
    pub fn group(&self) -> Value<String> {
        self.handle.value(self.keys.group())
    }

    /// The `status` of the ResourceBundleState, as JSON text; as it is stored, see
    /// [`AppContexts::record_bundle`](crate::AppContexts::record_bundle).
    pub fn bundle(&self) -> Value<String> {
        self.handle.value(self.keys.bundle())
    }

    /// The outcome of the last attempt to reach the cluster.
    pub fn connectivity(&self) -> Value<Connectivity> {
        self.handle.value(self.keys.connectivity())
    }

    /// The order of its resources, for applying them.
    pub fn resource_order(&self) -> Value<ResourceOrder> {
        self.handle.value(self.keys.resource_order())
    }

    /// The dependencies of its resources.
    pub fn resource_dependency(&self) -> Value<ResourceDependency> {
        self.handle.value(self.keys.resource_dependency())
    }

    /// The names of its resources, in order of their keys. A key that names none is left out.
    pub fn resources(&self) -> Result<Vec<ResourceName>> {
        let names = self.handle.names("resource")?;
        Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
    }

    /// Adds a resource. No error where it is there with the same manifest. It is in no instruction
    /// yet.
    ///
    /// # Errors
    /// [`Error::Exists`](crate::Error::Exists) where it has another manifest,
    /// [`Error::NotFound`](crate::Error::NotFound) when the app does not go to the cluster.
    pub fn add_resource(&self, name: &ResourceName, manifest: &str) -> Result<Resource> {
        let keys = self.keys.resource(name);
        self.handle.add(keys.root(), &go_json::encode(manifest)?)?;
        Ok(Resource::new(&self.handle, &self.keys, keys, name))
    }

    /// A resource that is sent there.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) when it is not.
    pub fn resource(&self, name: &ResourceName) -> Result<Resource> {
        let keys = self.keys.resource(name);
        self.handle.below(keys.root()).existing()?;
        Ok(Resource::new(&self.handle, &self.keys, keys, name))
    }

    /// Takes the app out of the cluster, with its resources and their instructions, at once; false when
    /// it was not there.
    pub fn delete(&self) -> Result<bool> {
        self.handle.delete()
    }
}
