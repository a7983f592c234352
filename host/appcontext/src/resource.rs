//! A resource of an app in a cluster: its manifest and status.

use kindsight_model::{ContextId, RsyncStatus};
use kindsight_store::Batch;

use crate::Result;
use crate::handle::{Handle, handle_methods};
use crate::instruction::{ResourceDependency, ResourceOrder};
use crate::keys::{ClusterKeys, ResourceKeys, ResourceName};
use crate::removal::Removal;
use crate::value::{Json, Value, retried};

/// A resource of an app in a cluster. Cheap to clone; it reads and writes the store at each call.
#[derive(Clone)]
pub struct Resource {
    handle: Handle,
    cluster: ClusterKeys,
    keys: ResourceKeys,
    name: ResourceName,
}

impl Resource {
    pub(crate) fn new(
        above: &Handle,
        cluster: &ClusterKeys,
        keys: ResourceKeys,
        name: &ResourceName,
    ) -> Self {
        Self {
            handle: above.below(keys.root()),
            cluster: cluster.clone(),
            keys,
            name: name.clone(),
        }
    }

    /// The name and Kind.
    pub fn name(&self) -> &ResourceName {
        &self.name
    }

    handle_methods!();

    /// The manifest, as YAML. To delete it is to delete the resource but not its status: see
    /// [`Resource::delete`].
    pub fn manifest(&self) -> Value<String> {
        self.handle.value(self.keys.root().to_owned())
    }

    /// The rsync status.
    pub fn status(&self) -> Value<RsyncStatus> {
        self.handle.value(self.keys.status())
    }

    /// In a status context, the context that acted last on it.
    pub fn reference(&self) -> Value<ContextId> {
        self.handle.value(self.keys.reference())
    }

    /// The approval sub-resource, as a JSON string.
    pub fn approval(&self) -> Value<Json> {
        self.handle.value(self.keys.approval())
    }

    /// Removes the resource, and takes it out of the instructions of its cluster, at once; false when
    /// it did not exist.
    ///
    /// # Errors
    /// [`Error::Unreadable`](crate::Error::Unreadable) for an instruction that cannot be understood,
    /// [`Error::Contended`](crate::Error::Contended) where others change the instructions all the time.
    pub fn delete(&self) -> Result<bool> {
        let name = self.name.to_string();
        retried(&self.handle.key, || {
            let store = &*self.handle.store;
            let batch = Batch::new()
                .present(&self.handle.key)
                .delete_prefix(&self.handle.key);
            let mut removal = Removal::new(batch);
            let order = self.cluster.resource_order();
            removal.take_out(
                &order,
                store.entry(&order)?.as_ref(),
                |order: &mut ResourceOrder| Ok(order.remove(&name)),
            )?;
            let dependency = self.cluster.resource_dependency();
            let read = store.entry(&dependency)?;
            removal.take_out(
                &dependency,
                read.as_ref(),
                |dependency: &mut ResourceDependency| dependency.remove(&name),
            )?;
            removal.apply(store, &self.handle.key)
        })
    }
}
